"""Placement answers, with nothing in it."""

from __future__ import annotations

from typing import Any

from openstack_emulator.testing import ServedCloud


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


def test_a_query_has_no_other_parameters_than_those_of_the_microversion(served: ServedCloud) -> None:
    def listed(query: str, version: str) -> Any:
        headers = {"OpenStack-API-Version": f"placement {version}"}
        return served.call("GET", f"/placement/{query}", token=served.token(), headers=headers)

    for query, version in (
        ("resource_providers?name=a&uuid=b", "1.0"),
        ("resource_providers?in_tree=b&required=HW_CPU_X86_VMX", "1.39"),
        ("traits?name=startswith:HW", "1.6"),
        ("resource_classes?colour=red", "1.39"),
    ):
        assert listed(query, version).status == 200, query
    refused = listed("resource_providers?colour=red&name=a&in_tree=b", "1.4")
    assert refused.status == 400
    detail = refused.json["errors"][0]["detail"]
    assert "Additional properties are not allowed ('colour', 'in_tree' were unexpected)" in detail
    assert listed("traits?limit=1", "1.39").status == 400
