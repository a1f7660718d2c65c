"""A stack's zone and record sets, asked with a real resolver."""

from __future__ import annotations

import copy
from typing import Any

import dns.exception
import dns.resolver
import pytest

from testing.harness import World

NAME = "www.example.test."


def template(kind: str, *records: str, **others: Any) -> dict[str, Any]:
    zone = {"name": "example.test.", "email": "admin@example.test"}
    www = {"zone": {"get_resource": "zone"}, "name": "www", "type": kind, "records": list(records), "ttl": 60}
    address = {"zone": {"get_resource": "zone"}, "name": "web", "type": "A", "records": ["192.0.2.7"]}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "zone": {"type": "OS::Designate::Zone", "properties": zone},
            "web": {"type": "OS::Designate::RecordSet", "properties": address},
            "www": {"type": "OS::Designate::RecordSet", "properties": www},
            **others,
        },
        "outputs": {"serial": {"value": {"get_attr": ["zone", "serial"]}}},
    }


async def test_records_of_a_stack_are_resolved(world: World) -> None:
    resolver = dns.resolver.Resolver(configure=False)
    resolver.nameservers, resolver.port = ["127.0.0.1"], world.served.serve_dns()

    def resolved() -> list[str]:
        return sorted(data.to_text() for data in resolver.resolve(NAME, "A", lifetime=10))

    stack = await world.create("names", template("A", "192.0.2.1"))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["serial"] > 1_600_000_000
    assert resolved() == ["192.0.2.1"]

    before = await world.resources("names")
    stack = await world.update("names", template("A", "192.0.2.1", "192.0.2.2"))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert resolved() == ["192.0.2.1", "192.0.2.2"]
    assert (await world.resources("names"))["www"]["physical_id"] == before["www"]["physical_id"]

    # An alias cannot have the name while the address has it: the address is deleted first, and restored in a rollback.
    fails = {"type": "OS::Heat::TestResource", "depends_on": "www", "properties": {"fail": True}}
    undone = await world.update("names", template("CNAME", "web.example.test.", fails=fails), disable_rollback=False)
    assert (undone["action"], undone["status"]) == ("ROLLBACK", "COMPLETE"), undone["status_reason"]
    assert resolved() == ["192.0.2.1", "192.0.2.2"]
    stack = await world.update("names", template("CNAME", "web.example.test."))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert resolved() == ["192.0.2.7"]

    retired = copy.deepcopy(template("CNAME", "web.example.test."))
    retired["resources"]["zone"]["properties"]["attributes"] = {"tier": "gold"}
    refused = await world.update("names", retired, disable_rollback=True)
    assert refused["status"] == "FAILED" and "its record sets would be lost" in refused["status_reason"]
    assert resolved() == ["192.0.2.7"]
    assert (await world.delete("names"))["status"] == "COMPLETE"
    with pytest.raises(dns.exception.DNSException):
        resolved()
