"""Placement answers, with nothing in it."""

from __future__ import annotations

from stoker.emulator.testing import ServedCloud


def test_versions_and_empty_lists(served: ServedCloud) -> None:
    version = served.call("GET", "/placement").json["versions"][0]
    assert (version["id"], version["min_version"], version["max_version"]) == ("v1.0", "1.0", "1.39")
    for name in ("resource_providers", "resource_classes", "traits"):
        assert served.call("GET", f"/placement/{name}", token=served.token()).json == {name: []}
    assert served.call("GET", "/placement/traits").status == 401


def test_microversions(served: ServedCloud) -> None:
    asked = {"OpenStack-API-Version": "placement 1.30"}
    answer = served.call("GET", "/placement/traits", token=served.token(), headers=asked)
    assert answer.headers["openstack-api-version"] == "placement 1.30"
    asked = {"OpenStack-API-Version": "placement 9.99"}
    assert served.call("GET", "/placement/traits", token=served.token(), headers=asked).status == 406
