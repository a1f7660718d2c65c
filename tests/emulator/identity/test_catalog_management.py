"""Regions, services, endpoints, policies and limits."""

from __future__ import annotations

from typing import Any

import pytest


def test_created_services_appear_in_the_catalog(identity: Any) -> None:
    service = identity.make("services", name="thing", type="things", cost=1)
    body = {"service_id": service["id"], "interface": "public", "region": "R2"}
    endpoint = identity.make("endpoints", **body, url="http://thing.example.org/%(project_id)s")
    assert (endpoint["region"], endpoint["region_id"], endpoint["enabled"]) == ("R2", "R2", True)
    assert identity.ok("GET", "/regions/R2")["region"]["parent_region_id"] is None
    project = identity.find("projects", "admin")
    [entry] = [each for each in identity.ok("GET", "/auth/catalog")["catalog"] if each["type"] == "things"]
    assert entry["endpoints"][0]["url"] == f"http://thing.example.org/{project}"
    identity.ok("PATCH", f"/endpoints/{endpoint['id']}", {"endpoint": {"enabled": False}})
    [entry] = [each for each in identity.ok("GET", "/auth/catalog")["catalog"] if each["type"] == "things"]
    assert entry["endpoints"] == []
    assert len(identity.ok("GET", f"/endpoints?service_id={service['id']}&interface=public")["endpoints"]) == 1
    assert identity.ok("GET", f"/endpoints?service_id={service['id']}&interface=admin")["endpoints"] == []
    identity.ok("DELETE", f"/services/{service['id']}")
    assert identity.call("GET", f"/endpoints/{endpoint['id']}").status == 404


@pytest.mark.parametrize(
    ("plural", "fields", "status"),
    [
        ("services", {"name": "x"}, 400),
        ("services", {"type": ""}, 400),
        ("services", {"type": "x", "enabled": "yes"}, 400),
        ("endpoints", {"interface": "secret"}, 400),
        ("endpoints", {"service_id": "unknown"}, 400),
        ("endpoints", {"url": "nowhere"}, 400),
        ("endpoints", {"enabled": "False"}, 400),
        ("endpoints", {"region_id": "unknown"}, 400),
        ("regions", {"id": "RegionOne"}, 409),
        ("regions", {"parent_region_id": "unknown"}, 404),
        ("policies", {"blob": "x"}, 400),
    ],
)
def test_refused(identity: Any, plural: str, fields: dict[str, Any], status: int) -> None:
    base: dict[str, Any] = {}
    if plural == "endpoints":
        found = identity.ok("GET", "/services?type=identity")["services"][0]["id"]
        base = {"service_id": found, "interface": "public", "url": "http://x.example.org"}
    singular = {"policies": "policy"}.get(plural, plural.removesuffix("s"))
    answer = identity.call("POST", f"/{plural}", {singular: {**base, **fields}})
    assert answer.status == status, answer.content


def test_regions(identity: Any) -> None:
    made = identity.call("PUT", "/regions/north", {"region": {"description": "cold"}})
    assert made.status == 201
    below = identity.make("regions", id="norther", parent_region_id="north")
    assert below["parent_region_id"] == "north"
    assert identity.call("PUT", "/regions/a", {"region": {"id": "b"}}).status == 400
    assert identity.call("DELETE", "/regions/RegionOne").status == 403
    loop = {"region": {"parent_region_id": "norther"}}
    assert identity.call("PATCH", "/regions/north", loop).status == 400
    assert identity.call("DELETE", "/regions/north").status == 204
    assert identity.call("GET", "/regions/norther").status == 404


def test_policies(identity: Any) -> None:
    policy = identity.make("policies", blob="{}", type="application/json")
    changed = identity.ok("PATCH", f"/policies/{policy['id']}", {"policy": {"blob": "[]"}})["policy"]
    assert (changed["blob"], changed["type"]) == ("[]", "application/json")
    assert identity.call("DELETE", f"/policies/{policy['id']}").status == 204


def test_a_token_of_a_domain_does_not_change_the_whole_cloud(identity: Any) -> None:
    scope = {"domain": {"id": "default"}}
    admin = {"id": identity.find("users", "admin"), "password": "secret"}
    token = identity.log_in({"password": {"user": admin}}, scope).headers["x-subject-token"]
    assert identity.call("POST", "/regions", {"region": {"id": "x"}}, token).status == 403
    assert identity.call("GET", "/users", token=token).status == 200


def test_limits_require_a_registered_limit(identity: Any) -> None:
    service, project = identity.find("services", "keystone"), identity.find("projects", "demo")
    what = {"service_id": service, "resource_name": "apples"}
    limit = {"limits": [{**what, "project_id": project, "resource_limit": 3}]}
    assert identity.call("POST", "/limits", limit).status == 403
    registered = {"registered_limits": [{**what, "default_limit": 9}]}
    [made] = identity.ok("POST", "/registered_limits", registered)["registered_limits"]
    assert identity.call("POST", "/registered_limits", registered).status == 409
    [one] = identity.ok("POST", "/limits", limit)["limits"]
    assert identity.call("POST", "/limits", limit).status == 409
    assert identity.call("DELETE", f"/registered_limits/{made['id']}").status == 403
    demo = identity.served.token("demo", "demo")
    assert [each["id"] for each in identity.ok("GET", "/limits", token=demo)["limits"]] == [one["id"]]
    changed = identity.ok("PATCH", f"/limits/{one['id']}", {"limit": {"resource_limit": 4}})["limit"]
    assert changed["resource_limit"] == 4
    assert identity.ok("GET", "/limits/model")["model"]["name"] == "flat"
    nobody = {"limits": [{**what, "resource_limit": 3}]}
    assert identity.call("POST", "/limits", nobody).status == 400
    identity.ok("DELETE", f"/limits/{one['id']}")
    identity.ok("DELETE", f"/registered_limits/{made['id']}")


def urls(identity: Any) -> set[str]:
    return {each["url"] for entry in identity.ok("GET", "/auth/catalog")["catalog"] for each in entry["endpoints"]}


def test_endpoint_filter_limits_the_catalog(identity: Any) -> None:
    project = identity.find("projects", "admin")
    everything = urls(identity)
    [compute] = identity.ok("GET", "/services?type=compute")["services"]
    filters = {"service_id": compute["id"], "interface": "public"}
    made = {"endpoint_group": {"name": "public-compute", "filters": filters}}
    group = identity.ok("POST", "/OS-EP-FILTER/endpoint_groups", made)["endpoint_group"]
    assert group["links"]["self"].endswith(f"/v3/OS-EP-FILTER/endpoint_groups/{group['id']}")
    place = f"/OS-EP-FILTER/endpoint_groups/{group['id']}"
    [member] = identity.ok("GET", f"{place}/endpoints")["endpoints"]
    assert identity.call("GET", f"{place}/projects/{project}").status == 404
    identity.ok("PUT", f"{place}/projects/{project}")
    assert urls(identity) == {member["url"]}
    [entry] = identity.ok("GET", "/services?type=identity")["services"]
    [keystone] = identity.ok("GET", f"/endpoints?service_id={entry['id']}&interface=public")["endpoints"]
    single = f"/OS-EP-FILTER/projects/{project}/endpoints"
    identity.ok("PUT", f"{single}/{keystone['id']}")
    assert identity.call("HEAD", f"{single}/{keystone['id']}").status == 204
    assert urls(identity) == {member["url"], keystone["url"]}
    assert {each["id"] for each in identity.ok("GET", single)["endpoints"]} == {member["id"], keystone["id"]}
    identity.ok("DELETE", f"{single}/{keystone['id']}")
    [chosen] = identity.ok("GET", f"{place}/projects")["projects"]
    assert chosen["id"] == project
    identity.ok("DELETE", place)
    assert urls(identity) == everything
    refused = {"endpoint_group": {"name": "x", "filters": {"color": "red"}}}
    assert identity.call("POST", "/OS-EP-FILTER/endpoint_groups", refused).status == 400


def test_the_secret_of_a_consumer_is_shown_once(identity: Any) -> None:
    made = identity.ok("POST", "/OS-OAUTH1/consumers", {"consumer": {"description": "a portal"}})["consumer"]
    assert made.pop("secret")
    path = f"/OS-OAUTH1/consumers/{made['id']}"
    assert identity.ok("GET", path)["consumer"] == made
    assert identity.call("PATCH", path, {"consumer": {"secret": "mine"}}).status == 400
    identity.ok("PATCH", path, {"consumer": {"description": "another"}})
    [listed] = identity.ok("GET", "/OS-OAUTH1/consumers")["consumers"]
    assert listed["description"] == "another"
    identity.ok("DELETE", path)
    assert identity.call("GET", path).status == 404
