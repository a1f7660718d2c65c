"""Calls of services: URLs, headers, retries, and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stoker.base.errors import CloudError, from_dict
from stoker.cloud.errors import Ambiguous, NotNamed, refusal
from stoker.cloud.login import known_access
from stoker.cloud.session import Cloud
from stoker.cloud.settings import ClientSettings
from stoker_foundation.clock import ManualClock
from tests.cloud.scripted_service import Script

Opener = Callable[..., Awaitable[Cloud]]


async def retried(clock: ManualClock, work: Awaitable[Any]) -> Any:
    """Advance the clock through the pauses between attempts."""
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.sleep(0.005)
        clock.advance(1)
    return await task


async def test_a_path_with_a_version_is_below_the_root_and_one_without_below_the_version(
    cloud: Cloud, script: Script
) -> None:
    script.on("GET /network/v2.0/networks", {"networks": []})
    script.on("GET /network/v2.0/ports", {"ports": []})
    script.on("GET /volume/v3/", {"versions": []})
    script.on("GET /volume/", {"versions": []})
    script.on("GET /volume/v3/p1/volumes", {"volumes": []})
    await cloud.get("neutron", "/v2.0/networks")
    await cloud.get("neutron", "/ports")
    await cloud.get("cinder", "/volumes")
    assert script.calls()[:2] == ["GET /network/v2.0/networks", "GET /network/v2.0/ports"]
    assert script.calls()[-1] == "GET /volume/v3/p1/volumes"
    assert cloud.endpoint("neutron") == f"{script.url}/network/v2.0"
    assert cloud.endpoint("cinder") == f"{script.url}/volume/v3/p1"


async def test_the_token_and_parameters_are_sent(cloud: Cloud, script: Script) -> None:
    script.on("GET /network/v2.0/networks", {"networks": []})
    await cloud.get("neutron", "/networks", params={"name": "a b", "fields": ["id", "name"], "shared": True, "x": None})
    assert script.seen[0].headers["X-Auth-Token"] == "t1"
    assert script.seen[0].query == [("name", "a b"), ("fields", "id"), ("fields", "name"), ("shared", "True")]


async def test_interface_and_region_choose_the_endpoint(open_cloud: Opener, script: Script) -> None:
    internal = await open_cloud(clients={"neutron": ClientSettings(endpoint_type="internalURL")})
    assert internal.endpoint("neutron") == f"{script.url}/internal-network/v2.0"
    second = await open_cloud(region="RegionTwo")
    assert second.endpoint("neutron") == f"{script.url}/network-two/v2.0"
    assert not second.has_service("nova")
    shared = await open_cloud(
        region="RegionTwo", region_name_for_shared_services="RegionOne", shared_services_types=("image", "volumev3")
    )
    assert shared.has_service("glance")
    assert shared.has_service("cinder")
    assert not shared.has_service("nova")


async def test_a_missing_service_is_reported(cloud: Cloud) -> None:
    assert not cloud.has_service("heat-cfn")
    with pytest.raises(CloudError, match="no endpoint of heat-cfn") as caught:
        await cloud.get("heat-cfn", "/v1/stacks")
    assert caught.value.status == 404


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (404, {"itemNotFound": {"code": 404, "message": "Instance x could not be found."}}, "Instance x could not be"),
        (409, {"NeutronError": {"type": "IpInUse", "message": "Address taken", "detail": ""}}, "Address taken"),
        (401, {"error": {"code": 401, "title": "Unauthorized", "message": "Log in."}}, "Log in."),
        (400, {"explanation": "bad", "error": {"message": "No such thing", "type": "X"}}, "No such thing"),
        (
            403,
            "<html><head><title>403 Forbidden</title></head><body><h1>403</h1>Not &amp; now</body></html>",
            "403 Not & now",
        ),
        (400, {"faultcode": "Client", "faultstring": "Provider lacks it", "debuginfo": None}, "Provider lacks it"),
        (400, {"error_message": '{"faultstring": "Node is busy", "debuginfo": null}'}, "Node is busy"),
        (
            400,
            {"errors": [{"status": 400, "title": "Bad", "detail": "Cluster template missing"}]},
            "Cluster template missing",
        ),
        (400, {"code": 400, "title": "Bad Request", "description": "Secret too long"}, "Secret too long"),
        (400, {"NeutronError": "plain"}, "plain"),
        (500, "", "gave no reason"),
    ],
)
async def test_errors_keep_the_service_message(
    cloud: Cloud, script: Script, status: int, body: Any, words: str
) -> None:
    kind = {"Content-Type": "text/html"} if isinstance(body, str) else {}
    script.on("GET /network/v2.0/networks", (status, body, {**kind, "x-openstack-request-id": "req-1"}))
    if status == 401:
        script.on("GET /identity/v3/auth/tokens", (403, {"error": {"message": "a trust may not ask"}}))
        words = "although Keystone accepts it"  # a caller's token cannot be renewed
    with pytest.raises(CloudError) as caught:
        await cloud.get("neutron", "/networks")
    assert words in caught.value.reason
    assert caught.value.status == status
    if status != 401:
        assert caught.value.request_id == "req-1"
        assert from_dict(caught.value.to_dict()).message == caught.value.message


@pytest.mark.parametrize(
    ("status", "headers", "transient", "retry_after"),
    [
        (429, {"Retry-After": "7"}, True, 7.0),
        (429, {"Retry-After": "Tue, 14 Nov 2023 22:13:50 GMT"}, True, 30.0),
        (413, {"Retry-After": "3"}, True, 3.0),
        (413, {}, False, None),
        (502, {}, True, None),
        (503, {}, True, None),
        (504, {}, True, None),
        (500, {}, False, None),
        (409, {}, False, None),
    ],
)
async def test_only_some_errors_are_transient(
    cloud: Cloud, script: Script, status: int, headers: dict[str, str], transient: bool, retry_after: float | None
) -> None:
    script.on("GET /network/v2.0/networks", (status, {"message": "no"}, headers))
    with pytest.raises(CloudError) as caught:
        await cloud.get("neutron", "/networks")
    assert (caught.value.transient, caught.value.retry_after) == (transient, retry_after)
    assert len(script.seen) == 1


OVER_LIMIT = {"overLimit": {"code": 413, "message": "VolumeLimitExceeded: Maximum number of volumes allowed (10)"}}


def unavailable(what: str) -> dict[str, Any]:
    return {"conflictingRequest": {"code": 409, "message": f"{what} is unavailable at this time."}}


def neutron(kind: str) -> dict[str, Any]:
    return {"NeutronError": {"type": kind, "message": "no", "detail": ""}}


@pytest.mark.parametrize(
    ("call", "status", "body", "headers", "meaning"),
    [
        ("POST cinder /volumes", 413, OVER_LIMIT, {"Retry-After": "0"}, "lasting"),
        ("POST cinder /volumes", 413, {"overLimit": {"message": "rate-limited"}}, {"Retry-After": "9"}, "transient"),
        ("POST cinder /types", 409, {"conflictingRequest": {"message": "taken"}}, {}, "conflict lasting"),
        ("DELETE cinder /types", 409, {"conflictingRequest": {"message": "in use"}}, {}, "conflict"),
        ("POST nova /servers", 403, {"forbidden": {"message": "Quota exceeded for cores"}}, {}, ""),
        ("POST nova /servers", 413, {"overLimit": {"message": "Quota exceeded"}}, {"Retry-After": "0"}, "lasting"),
        ("POST nova /servers", 409, {"conflictingRequest": {"message": "Port is in use"}}, {}, "conflict lasting"),
        ("POST nova /servers", 409, unavailable("Service"), {}, "conflict transient"),
        ("DELETE nova /servers", 409, unavailable("Compute service of host1"), {}, "conflict transient"),
        ("PUT nova /servers", 400, unavailable("Compute service of host1"), {}, "transient"),
        ("POST cinder /volumes", 400, {"badRequest": {"message": "Invalid size."}}, {}, ""),
        ("POST nova /os-keypairs", 409, {"conflictingRequest": {"message": "taken"}}, {}, "conflict lasting"),
        ("POST neutron /networks", 409, neutron("OverQuota"), {}, "lasting"),
        ("POST neutron /networks", 409, neutron("RetryRequest"), {}, "conflict transient"),
        ("POST neutron /networks", 409, neutron("IpAddressGenerationFailure"), {}, "conflict"),
        ("POST neutron /networks", 409, neutron("SecurityGroupRuleExists"), {}, "conflict lasting"),
        ("POST neutron /ports", 409, neutron("IpAddressAlreadyAllocated"), {}, "conflict lasting"),
        ("DELETE neutron /networks", 409, neutron("NetworkInUse"), {}, "conflict"),
        (
            "POST keystone /users",
            409,
            {"error": {"code": 409, "title": "Conflict", "message": "taken"}},
            {},
            "conflict lasting",
        ),
        ("POST keystone /users", 403, {"error": {"code": 403, "title": "Forbidden", "message": "limit"}}, {}, ""),
        ("POST glance /images", 413, "<html>too large</html>", {}, "lasting"),
        ("POST glance /images", 409, "<html>exists</html>", {}, "conflict lasting"),
        ("DELETE glance /images", 409, "<html>in use</html>", {}, "conflict"),
        ("PUT swift /box/thing", 413, "Upload exceeds quota.", {}, "lasting"),
        ("PUT swift /box/thing", 498, "Slow down", {}, "transient"),
        ("GET trove /instances", 413, {"overLimit": {"message": "rate-limited"}}, {}, "transient"),
        ("POST trove /instances", 413, {"overLimit": {"message": "Quota exceeded"}}, {}, "lasting"),
    ],
)
def test_which_refusals_are_retried(call: str, status: int, body: Any, headers: dict[str, str], meaning: str) -> None:
    method, service, path = call.split()
    error = refusal(service, status, headers, body, 0.0, method=method, path=path)
    for copy in (error, from_dict(error.to_dict())):
        assert isinstance(copy, CloudError)
        properties = [word for word in ("conflict", "lasting", "transient") if getattr(copy, word)]
        assert " ".join(properties) == meaning


async def test_neutron_quota_error_is_not_retried_as_conflict(cloud: Cloud, script: Script) -> None:
    over = {"NeutronError": {"type": "OverQuota", "message": "Quota exceeded", "detail": ""}}
    script.on(
        "POST /network/v2.0/networks", (409, over), (409, {"NeutronError": {"type": "InUse", "message": "in use"}})
    )
    with pytest.raises(CloudError) as quota:
        await cloud.post("neutron", "/networks", {"network": {}})
    with pytest.raises(CloudError) as busy:
        await cloud.post("neutron", "/networks", {"network": {}})
    assert not quota.value.conflict
    assert busy.value.conflict
    restored = from_dict(quota.value.to_dict())
    assert isinstance(restored, CloudError)
    assert not restored.conflict


async def test_an_expected_status_is_returned(cloud: Cloud, script: Script) -> None:
    script.on(
        "GET /network/v2.0/networks/x",
        (404, {"NeutronError": {"type": "NetworkNotFound", "message": "Network x could not be found."}}),
    )
    assert (await cloud.request("GET", "neutron", "/networks/x", ok=(404,))).status == 404


async def test_a_redirect_is_not_followed(cloud: Cloud, script: Script) -> None:
    script.on("GET /network/v2.0/networks", (302, "", {"Location": f"{script.url}/elsewhere"}))
    with pytest.raises(CloudError) as caught:
        await cloud.get("neutron", "/networks")
    assert caught.value.status == 302
    assert script.calls() == ["GET /network/v2.0/networks"]


async def test_a_broken_connection_is_retried_for_idempotent_requests(
    cloud: Cloud, script: Script, clock: ManualClock
) -> None:
    script.on("PUT /network/v2.0/networks/x", "hang up", "hang up", {"network": {"id": "x"}})
    assert await retried(clock, cloud.put("neutron", "/networks/x", {})) == {"network": {"id": "x"}}
    script.on("POST /network/v2.0/networks", "hang up", {"network": {"id": "twice"}})
    with pytest.raises(CloudError) as caught:
        await retried(clock, cloud.post("neutron", "/networks", {}))
    assert caught.value.transient
    assert caught.value.status == 0
    assert script.calls().count("POST /network/v2.0/networks") == 1


async def test_a_refused_connection_is_retried_up_to_the_limit(
    open_cloud: Opener, clock: ManualClock, unused_tcp_port: int
) -> None:
    nowhere = ClientSettings(url=f"http://127.0.0.1:{unused_tcp_port}/v1/%(tenant_id)s")
    cloud = await open_cloud(clients={"heat": nowhere}, client_retry_limit=3)
    before = clock.now()
    with pytest.raises(CloudError, match="no response from heat to POST") as caught:
        await retried(clock, cloud.post("heat", "/stacks", {}))
    assert caught.value.transient
    assert clock.now() - before >= 0.5 + 1 + 2


async def test_no_more_calls_are_in_flight_than_allowed(open_cloud: Opener, script: Script) -> None:
    for number, limits in enumerate(({"max_concurrent_calls": 6}, {"max_concurrent_calls_per_service": 3}), start=1):
        cloud = await open_cloud(**limits)
        script.on("GET /network/v2.0/networks", {"networks": []})
        script.pause = 0.01
        await asyncio.gather(*(cloud.get("neutron", "/networks") for _ in range(12)))
        assert script.most_at_once == 3
        assert len(script.seen) == 12 * number


async def test_retry_after_delays_all_calls_of_the_service(
    open_cloud: Opener, script: Script, clock: ManualClock
) -> None:
    cloud = await open_cloud()
    busy = (429, "busy", {"Retry-After": "30"})
    script.on("GET /network/v2.0/networks", busy, {"networks": []})
    with pytest.raises(CloudError, match="busy"):
        await cloud.get("neutron", "/networks")
    second = asyncio.ensure_future(cloud.get("neutron", "/networks"))
    script.on("GET /image/v2/images", {"images": []})
    await cloud.get("glance", "/v2/images")
    assert script.calls() == ["GET /network/v2.0/networks", "GET /image/v2/images"]
    clock.advance(30.0)
    assert await second == {"networks": []}


PAGES: dict[str, tuple[str, str, str, Callable[[str, str], dict[str, Any]]]] = {
    "neutron": (
        "neutron",
        "/v2.0/networks",
        "networks",
        lambda url, query: {"networks_links": [{"rel": "next", "href": f"{url}/network/v2.0/networks?{query}"}]},
    ),
    "glance": ("glance", "/v2/images", "images", lambda url, query: {"next": f"/v2/images?{query}"}),
    "barbican": (
        "barbican",
        "/v1/secrets",
        "secrets",
        lambda url, query: {"next": f"http://inside:9311/v1/secrets?{query}"},
    ),
    "designate": ("designate", "/v2/zones", "zones", lambda url, query: {"links": {"next": f"{url}/v2/zones?{query}"}}),
}


@pytest.mark.parametrize("style", PAGES)
async def test_lists_are_read_to_the_end(cloud: Cloud, script: Script, style: str) -> None:
    service, path, key, link = PAGES[style]
    mount = {"neutron": "/network", "glance": "/image", "barbican": "/key-manager", "designate": "/dns"}[style]
    script.on(
        f"GET {mount}{path}",
        {key: [{"id": 1}, {"id": 2}], **link(script.url, "marker=2&limit=2")},
        {key: [{"id": 3}], **link(script.url, "marker=3&limit=2")},
        {key: [], **link(script.url, "marker=3&limit=2")},
    )
    listed = await cloud.list(service, path, key, {"limit": 2})
    assert [item["id"] for item in listed] == [1, 2, 3]
    assert [dict(request.query) for request in script.seen[:2]] == [{"limit": "2"}, {"marker": "2", "limit": "2"}]


class TestMicroversions:
    @pytest.fixture(autouse=True)
    def nova(self, script: Script) -> None:
        script.on("GET /compute/v2.1/", {"version": {"id": "v2.1", "version": "2.90", "min_version": "2.1"}})
        script.on("GET /compute/v2.1/servers", {"servers": []})

    async def test_the_newest_common_version_is_used(self, cloud: Cloud, script: Script) -> None:
        await cloud.get("nova", "/servers")
        await cloud.get("nova", "/servers")
        assert script.calls() == ["GET /compute/v2.1/", "GET /compute/v2.1/servers", "GET /compute/v2.1/servers"]
        headers = script.seen[-1].headers
        assert headers["OpenStack-API-Version"] == "compute 2.90"
        assert headers["X-OpenStack-Nova-API-Version"] == "2.90"

    async def test_a_service_that_requires_a_newer_version_is_refused(self, cloud: Cloud, script: Script) -> None:
        script.on("GET /compute/v2.1/", {"version": {"id": "v2.1", "version": "2.200", "min_version": "2.1"}})
        assert await cloud.microversion("nova") == "2.96"

    async def test_operator_limits_the_microversion(self, open_cloud: Opener) -> None:
        cloud = await open_cloud(max_microversions={"nova": "2.60"})
        assert await cloud.microversion("nova") == "2.60"
        assert await cloud.supports("nova", "2.60")
        assert not await cloud.supports("nova", "2.67")

    async def test_request_overrides_default_microversion(self, cloud: Cloud, script: Script) -> None:
        await cloud.get("nova", "/servers", microversion="2.53")
        assert script.seen[-1].headers["OpenStack-API-Version"] == "compute 2.53"

    async def test_a_root_document_of_several_versions(self, cloud: Cloud, script: Script) -> None:
        versions = [{"id": "v3.0", "version": "3.70", "min_version": "3.0"}, {"id": "v2.0", "version": ""}]
        script.on("GET /volume/", (300, {"versions": versions}))
        assert await cloud.microversion("cinder") == "3.70"

    async def test_ironic_reports_versions_in_headers(self, cloud: Cloud, script: Script) -> None:
        headers = {
            "X-OpenStack-Ironic-API-Maximum-Version": "1.82",
            "X-OpenStack-Ironic-API-Minimum-Version": "1.1",
        }
        script.on("GET /baremetal/v1/", (200, {"id": "v1"}, headers))
        assert await cloud.microversion("ironic") == "1.82"

    async def test_fixed_and_missing_microversions(self, cloud: Cloud) -> None:
        assert await cloud.microversion("manila") == "2.13"
        assert await cloud.microversion("neutron") is None


class TestFind:
    UUID = "7f0f8f6e-2f5c-4f57-8f6b-0d8ad3a1c111"

    async def test_name_is_resolved_to_id(self, cloud: Cloud, script: Script) -> None:
        script.on("GET /network/v2.0/networks", {"networks": [{"id": "n1", "name": "web"}]})
        assert await cloud.find("neutron.network", "web") == "n1"
        assert ("name", "web") in script.seen[0].query

    async def test_an_id_takes_precedence_over_a_name(self, cloud: Cloud, script: Script) -> None:
        script.on("GET /network/v2.0/networks", {"networks": [{"id": self.UUID, "name": "web"}]})
        assert await cloud.find("neutron.network", self.UUID) == self.UUID
        assert ("id", self.UUID) in script.seen[0].query
        assert len(script.seen) == 1

    async def test_no_match_and_several_matches(self, cloud: Cloud, script: Script) -> None:
        twins = [{"id": "n1", "name": "web"}, {"id": "n2", "name": "web"}]
        script.on("GET /network/v2.0/networks", {"networks": []}, {"networks": twins})
        with pytest.raises(NotNamed) as missing:
            await cloud.find("neutron.network", "web")
        assert (missing.value.status, missing.value.not_found) == (404, False)
        with pytest.raises(Ambiguous, match="n1, n2") as several:
            await cloud.find("neutron.network", "web")
        assert not several.value.conflict
        assert from_dict(several.value.to_dict()).message == several.value.message
        assert from_dict(missing.value.to_dict()).message == missing.value.message

    async def test_results_are_cached_for_a_while(self, cloud: Cloud, script: Script, clock: ManualClock) -> None:
        script.on("GET /network/v2.0/networks", {"networks": [{"id": "n1", "name": "web"}]})
        await asyncio.gather(*(cloud.find("neutron.network", "web") for _ in range(50)))
        assert len(script.seen) == 1
        clock.advance(61)
        await cloud.find("neutron.network", "web")
        assert len(script.seen) == 2

    async def test_a_failure_is_not_cached(self, cloud: Cloud, script: Script) -> None:
        script.on("GET /network/v2.0/networks", {"networks": []}, {"networks": [{"id": "n1", "name": "web"}]})
        with pytest.raises(NotNamed):
            await cloud.find("neutron.network", "web")
        assert await cloud.find("neutron.network", "web") == "n1"

    async def test_an_empty_value_needs_no_call(self, cloud: Cloud, script: Script) -> None:
        with pytest.raises(NotNamed):
            await cloud.find("nova.server", "")
        assert script.seen == []

    async def test_a_name_in_a_domain(self, cloud: Cloud, script: Script) -> None:
        script.on("GET /identity/v3/domains/Ops", (404, {"error": {"message": "no"}}))
        script.on("GET /identity/v3/domains", {"domains": [{"id": "d1", "name": "Ops"}]})
        script.on("GET /identity/v3/users/ada", (404, {"error": {"message": "no"}}))
        script.on("GET /identity/v3/users", {"users": [{"id": "u9", "name": "ada"}]})
        assert await cloud.find("keystone.user", "ada{Ops}") == "u9"
        assert dict(script.seen[-1].query) == {"domain_id": "d1", "name": "ada"}

    async def test_the_result_for_a_secret_is_its_reference(self, cloud: Cloud, script: Script) -> None:
        reference = "http://inside:9311/v1/secrets/s1"
        script.on("GET /key-manager/v1/secrets/s1", {"secret_ref": reference, "status": "ACTIVE"})
        assert await cloud.find("barbican.secret", reference) == reference

    async def test_names_in_paths_are_quoted(self, cloud: Cloud, script: Script) -> None:
        script.on("GET /load-balancer/v2.0/lbaas/pools/a%2Fb", (404, {}))
        script.on("GET /load-balancer/v2.0/lbaas/pools", {"pools": [{"id": "p1", "name": "a/b"}]})
        assert await cloud.find("octavia.pool", "a/b") == "p1"


async def test_extensions_are_requested_once(cloud: Cloud, script: Script, clock: ManualClock) -> None:
    script.on("GET /network/v2.0/extensions", {"extensions": [{"alias": "qos"}]})
    assert await cloud.has_extension("neutron", "qos")
    assert not await cloud.has_extension("neutron", "taas")
    assert len(script.seen) == 1
    clock.advance(3601)
    await cloud.has_extension("neutron", "qos")
    assert len(script.seen) == 2


def test_two_aliases_without_an_endpoint_in_the_region_are_no_endpoint() -> None:
    endpoint = {"interface": "public", "region_id": "One", "region": "One", "url": "http://volumes/v3", "id": "1"}
    catalog = [{"type": name, "name": name, "endpoints": [endpoint]} for name in ("volumev3", "block-storage")]
    access = known_access("token", catalog, "project", "user", ())
    assert access.urls("block-storage", "public", "Two") == []
    assert access.urls("block-storage", "public", "One") == ["http://volumes/v3"]
    assert access.urls("volumev3", "public", None) == ["http://volumes/v3"]
    assert access.urls("network", "public", "One") == []
