"""The hosts with room for a server, as Placement tells them."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud

HOSTS = 4
MEMORY = 4 * 1024 * 1024


def ask(served: ServedCloud, query: str, user: str = "admin", version: str = "1.29") -> Answer:
    headers = {"OpenStack-API-Version": f"placement {version}"}
    path = f"/placement/allocation_candidates{query}"
    return served.call("GET", path, None, served.token(user, user), headers)


def test_every_host_with_capacity_is_a_candidate(served: ServedCloud) -> None:
    found = ask(served, "?resources=VCPU:1,MEMORY_MB:512").json
    assert len(found["allocation_requests"]) == HOSTS
    for request in found["allocation_requests"]:
        ((provider, part),) = request["allocations"].items()
        assert part == {"resources": {"VCPU": 1, "MEMORY_MB": 512}}
        memory = found["provider_summaries"][provider]["resources"]["MEMORY_MB"]
        assert memory["capacity"] == MEMORY and 0 < memory["used"] < MEMORY


def test_candidates_are_limited(served: ServedCloud) -> None:
    found = ask(served, "?resources=VCPU:1&limit=2").json
    assert len(found["allocation_requests"]) == len(found["provider_summaries"]) == 2


@pytest.mark.parametrize(
    ("query", "candidates"),
    [
        (f"?resources=MEMORY_MB:{MEMORY}", 0),
        ("?resources=CUSTOM_BAREMETAL:1", 0),
        ("?resources=VCPU:1&required=HW_CPU_X86_AVX2", 0),
        ("?resources=VCPU:1&required=!HW_CPU_X86_AVX2", HOSTS),
    ],
)
def test_hosts_without_capacity_or_traits_are_no_candidates(served: ServedCloud, query: str, candidates: int) -> None:
    assert len(ask(served, query).json["allocation_requests"]) == candidates


def test_hosts_outside_the_aggregates_are_no_candidates(served: ServedCloud) -> None:
    admin = served.token("admin", "admin")
    headers = {"OpenStack-API-Version": "compute 2.96"}
    aggregates = [
        served.call("POST", "/compute/v2.1/os-aggregates", {"aggregate": {"name": name}}, admin, headers).json[
            "aggregate"
        ]
        for name in ("one", "two")
    ]
    hosts = served.call("GET", "/compute/v2.1/os-hypervisors", None, admin, headers).json["hypervisors"]
    path = f"/compute/v2.1/os-aggregates/{aggregates[0]['id']}/action"
    served.call("POST", path, {"add_host": {"host": hosts[0]["hypervisor_hostname"]}}, admin, headers)
    one, two = (each["uuid"] for each in aggregates)
    for member_of, candidates in ((one, 1), (f"in:{one},{two}", 1), (two, 0)):
        found = ask(served, f"?resources=VCPU:1&member_of={member_of}")
        assert len(found.json["allocation_requests"]) == candidates


def test_servers_and_disabled_hosts_reduce_capacity(served: ServedCloud) -> None:
    admin = served.token("admin", "admin")
    services = served.call("GET", "/compute/v2.1/os-services?binary=nova-compute", None, admin).json["services"]
    body: Any = {"host": services[0]["host"], "binary": "nova-compute"}
    assert served.call("PUT", "/compute/v2.1/os-services/disable", body, admin).status == 200
    assert len(ask(served, "?resources=VCPU:1").json["allocation_requests"]) == HOSTS - 1


@pytest.mark.parametrize(
    ("query", "version", "status"),
    [
        ("", "1.29", 400),
        ("?resources=VCPU", "1.29", 400),
        ("?resources=VCPU:0", "1.29", 400),
        ("?resources=VCPU:1&limit=0", "1.29", 400),
        ("?resources=VCPU:1&colour=red", "1.29", 400),
        ("?resources=VCPU:1&required=A", "1.16", 400),
        ("?resources=VCPU:1&limit=1", "1.15", 400),
        ("?resources=VCPU:1&member_of=a", "1.29", 400),
        ("?resources=VCPU:1", "1.9", 404),
    ],
)
def test_invalid_candidate_queries_are_refused(served: ServedCloud, query: str, version: str, status: int) -> None:
    assert ask(served, query, version=version).status == status


def test_candidates_require_administrator_or_service(served: ServedCloud) -> None:
    assert ask(served, "?resources=VCPU:1", user="demo").status == 403
