"""Which responses with 404 prove that an object does not exist: those of the real services, and by a second look."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stoker.base.errors import CloudError, NoEndpoint, Unconfirmed, UnrelatedNotFound
from stoker.cloud.absence import Evidence, evidence_of
from stoker.cloud.session import Cloud
from testing.differential import script as scripts
from tests.cloud.scripted_service import Script

RECORDED = Path(__file__).parents[1] / "emulator" / "recorded"
GENERIC: dict[str, Any] = {
    "NeutronError": {"type": "HTTPNotFound", "message": "The resource could not be found.", "detail": ""}
}
NO_PORT = {"NeutronError": {"type": "PortNotFound", "message": "Port p1 could not be found.", "detail": ""}}
NO_NETWORK = {"NeutronError": {"type": "NetworkNotFound", "message": "Network n1 could not be found.", "detail": ""}}
PORT = {"port": {"id": "p1"}}
NO_SHARE = {"itemNotFound": {"code": 404, "message": "The resource could not be found."}}

LEADS_NOWHERE = re.compile(r"(/v2.0)?/nothings?")
"""Paths that no service has."""
DOUBTFUL: dict[str, set[str]] = {
    "blazar": {"versions"},
    "cinder": {"type's access of a public one shown"},
    "glance": {"tag removed twice"},
    "keystone": {"token shown", "EC2 credential, unknown", "EC2 credential deleted twice"},
    "manila": {
        "security service, unknown",
        "share deleted by another",
        "share deleted twice",
        "share is deleted",
        "share of another",
        "share's metadata deleted that is not there",
        "share, unknown",
        "snapshot is deleted",
        "type deleted twice",
    },
    "neutron": {"network shown to a stranger"},
    "nova": {"aggregate, unknown", "server's metadata, one that is not there"},
    "swift": {
        "container deleted twice",
        "container of another, with access",
        "object deleted twice",
        "object, unknown",
    },
    "trove": {"versions of a datastore that is not there"},
}
"""What real services do not name, by service. Those of Glance, Manila and Swift are looked for in lists."""


def recorded() -> Iterator[tuple[str, str, str, Any]]:
    """Yield service, step, path and body of the recorded responses with 404 to requests for one object."""
    for name in scripts.names():
        answers = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
        if name == "gnocchi":  # no resource type sends requests to it
            continue
        for step in scripts.load(name).steps:
            answer = answers.get(step.name, {})
            single = step.method in ("GET", "DELETE") and not step.service and "?" not in step.path
            if answer.get("status") == 404 and single and not LEADS_NOWHERE.fullmatch(step.path.removeprefix("/v1")):
                names = {name: f"0-{name}" for name in re.findall(r"[{<](\w+)[}>]", step.path + json.dumps(answer))}
                names |= ALIASES.get(name, {})
                body = json.dumps(answer.get("body"))
                for variable, value in names.items():
                    body = body.replace(f"<{variable}>", value)
                yield name, step.name, scripts.filled(step.path, names), json.loads(body)


ALIASES = {"magnum": {"template": "0-first"}, "zun": {"container": "0-first"}}
"""Variables that had the value of another one when they were recorded."""


def test_real_404_responses_name_the_missing_object() -> None:
    doubtful: dict[str, set[str]] = {}
    sure = 0
    for service, step, path, body in recorded():
        if evidence_of(service, path, body) is Evidence.NAMED:
            sure += 1
        else:
            doubtful.setdefault(service, set()).add(step)
    assert {name: steps for name, steps in doubtful.items() if steps != DOUBTFUL.get(name)} == {}
    assert doubtful.keys() == DOUBTFUL.keys()
    assert sure > 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v2.0/ports/p1", None),
        ("/v2.0/ports/p1", ""),
        ("/v2.0/ports/p1", {}),
        ("/v2.0/ports/p1", GENERIC),
        ("/v2.0/ports/p1", "<h1>Not Found</h1><p>The requested URL /v2.0/ports/p1 was not found on this server.</p>"),
        ("/v2.0/ports/p1", "Port p1 could not be found."),
        ("/os-keypairs/resource", {"itemNotFound": {"message": "The resource could not be found.", "code": 404}}),
        ("/os-keypairs/found", {"message": "404 Not Found", "code": "404 Not Found", "title": "Not Found"}),
        ("/v2.0/ports/p1", {"detail": "Not Found"}),
        ("/v2.0/ports/p1", {"message": "no route for /v2.0/ports/p1"}),
    ],
)
def test_generic_404_is_no_absence(path: str, body: Any) -> None:
    assert evidence_of("neutron", path, body) is not Evidence.NAMED


def test_only_the_requested_object_is_absent() -> None:
    assert evidence_of("neutron", "/v2.0/ports/p1", NO_PORT) is Evidence.NAMED
    assert evidence_of("neutron", "/v2.0/ports/p1", NO_NETWORK) is Evidence.SPECIFIC
    assert evidence_of("neutron", "/v2.0/ports/p11", NO_PORT) is Evidence.SPECIFIC
    assert evidence_of("neutron", "/v2.0/ports/p1-2", NO_PORT) is Evidence.SPECIFIC
    other = {"itemNotFound": {"code": 404, "message": "Instance 4f1 could not be found."}}
    assert evidence_of("nova", "/servers/4f1/os-interface/7c2", other) is Evidence.NAMED


async def test_generic_404_for_listed_object_is_no_absence(cloud: Cloud, script: Script) -> None:
    script.on("DELETE /network/v2.0/ports/p1", (404, GENERIC))
    script.on("GET /network/v2.0/ports/p1", PORT)
    with pytest.raises(Unconfirmed, match="unknown whether it exists") as caught:
        await cloud.delete("neutron", "/v2.0/ports/p1", ok=(404,))
    assert (caught.value.status, caught.value.not_found, caught.value.transient) == (404, False, True)


async def test_absence_is_confirmed_by_second_check(cloud: Cloud, script: Script) -> None:
    script.on("DELETE /network/v2.0/ports/p1", (404, GENERIC))
    script.on("GET /network/v2.0/ports/p1", (404, NO_PORT))
    with pytest.raises(CloudError) as caught:
        await cloud.delete("neutron", "/v2.0/ports/p1")
    assert caught.value.not_found
    assert (await cloud.request("DELETE", "neutron", "/v2.0/ports/p1", ok=(404,))).status == 404


async def test_empty_neutron_list_is_no_absence(cloud: Cloud, script: Script) -> None:
    """What the policy hides is not listed either."""
    for method in ("DELETE", "GET"):
        script.on(f"{method} /network/v2.0/ports/p1", (404, GENERIC))
    script.on("GET /network/v2.0/ports", {"ports": []})
    with pytest.raises(Unconfirmed):
        await cloud.delete("neutron", "/v2.0/ports/p1")


async def test_absence_of_another_object_is_ignored(cloud: Cloud, script: Script) -> None:
    script.on("DELETE /network/v2.0/ports/p1", (404, NO_NETWORK))
    script.on("GET /network/v2.0/ports/p1", PORT)
    with pytest.raises(Unconfirmed, match="Network n1"):
        await cloud.delete("neutron", "/v2.0/ports/p1")
    script.on("PUT /network/v2.0/ports/p1", (404, NO_NETWORK))
    with pytest.raises(UnrelatedNotFound, match="Network n1") as caught:
        await cloud.put("neutron", "/v2.0/ports/p1", {"port": {"network_id": "n1"}})
    assert not caught.value.not_found
    assert not caught.value.transient


async def test_absence_is_confirmed_by_a_list(cloud: Cloud, script: Script) -> None:
    for method in ("DELETE", "GET"):
        script.on(f"{method} /share/v2/p1/shares/s1", (404, NO_SHARE))
    first = {"shares": [{"id": "s0"}], "shares_links": [{"rel": "next", "href": "http://elsewhere/shares?marker=s0"}]}
    script.on("GET /share/v2/p1/shares", first, {"shares": [{"id": "s1"}]}, first, {"shares": [{"id": "s2"}]})
    with pytest.raises(Unconfirmed):
        await cloud.delete("manila", "/shares/s1")
    assert (await cloud.request("DELETE", "manila", "/shares/s1", ok=(404,))).status == 404
    assert ("marker", "s0") in script.seen[-1].query
    script.on("GET /share/v2/p1/shares", (503, "busy"))
    with pytest.raises(Unconfirmed):
        await cloud.delete("manila", "/shares/s1")


async def test_parts_are_absent_with_their_object(cloud: Cloud, script: Script) -> None:
    for path in ("/shares/s1", "/shares/s1/export_locations"):
        script.on(f"GET /share/v2/p1{path}", (404, NO_SHARE))
    script.on("GET /share/v2/p1/shares", {"shares": []})
    assert (await cloud.request("GET", "manila", "/shares/s1/export_locations", ok=(404,))).status == 404


async def test_absence_of_tag_is_checked_in_its_image(cloud: Cloud, script: Script) -> None:
    generic = {"code": "404 Not Found", "message": "The resource could not be found.<br /><br />", "title": "Not Found"}
    script.on("DELETE /image/v2/images/i1/tags/green", (404, generic))
    script.on("GET /image/v2/images/i1", {"id": "i1", "tags": ["red"]}, {"id": "i1", "tags": ["green"]})
    await cloud.delete("glance", "/v2/images/i1/tags/green", ok=(404,))
    with pytest.raises(Unconfirmed):
        await cloud.delete("glance", "/v2/images/i1/tags/green", ok=(404,))


async def test_absence_in_swift_is_checked_by_head_request(cloud: Cloud, script: Script) -> None:
    page = "<html><h1>Not Found</h1><p>The resource could not be found.</p></html>"
    script.on("DELETE /swift/v1/AUTH_p1/box/thing", (404, page))
    script.on("HEAD /swift/v1/AUTH_p1/box/thing", (404, ""))
    script.on("GET /swift/v1/AUTH_p1/box", [{"name": "things"}])
    await cloud.delete("swift", "/box/thing", ok=(404,))
    assert ("prefix", "thing") in script.seen[-1].query
    script.on("HEAD /swift/v1/AUTH_p1/box/thing", "")
    with pytest.raises(Unconfirmed):
        await cloud.delete("swift", "/box/thing", ok=(404,))
    assert "GET /swift/v1/AUTH_p1/box/thing" not in script.calls()


async def test_absence_of_role_assignment_is_checked_by_list(cloud: Cloud, script: Script) -> None:
    script.on("HEAD /identity/v3/projects/p1/users/u1/roles/r1", (404, ""))
    words = "Could not find role assignment with role: r1, user or group: u1, project, domain, or system: p1."
    script.on("GET /identity/v3/projects/p1/users/u1/roles/r1", (404, {"error": {"message": words, "code": 404}}))
    answer = await cloud.request("HEAD", "keystone", "/projects/p1/users/u1/roles/r1", ok=(404,))
    assert answer.status == 404


async def test_a_collection_that_does_not_exist_fails_at_once_for_creations_only(cloud: Cloud, script: Script) -> None:
    for method in ("POST", "GET"):
        script.on(f"{method} /network/v2.0/taps", (404, GENERIC))
    with pytest.raises(UnrelatedNotFound) as caught:
        await cloud.post("neutron", "/v2.0/taps", {})
    assert not caught.value.transient
    with pytest.raises(Unconfirmed):
        await cloud.list("neutron", "/v2.0/taps", "taps")


async def test_an_action_on_an_object_that_is_shown_is_retried(cloud: Cloud, script: Script) -> None:
    script.on("POST /compute/v2.1/servers/s1/action", (404, NO_SHARE))
    script.on("GET /compute/v2.1/servers/s1", {"server": {"id": "s1"}})
    with pytest.raises(Unconfirmed):
        await cloud.post("nova", "/servers/s1/action", {"forceDelete": None})


async def test_missing_service_is_no_absence(cloud: Cloud) -> None:
    with pytest.raises(NoEndpoint) as caught:
        await cloud.delete("heat-cfn", "/v1/stacks/s1")
    assert (caught.value.status, caught.value.not_found) == (404, False)
