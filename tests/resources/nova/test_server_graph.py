"""Implicit requirements of a server, and the scheduler hints that name its stack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from stoker.plugins.resource import Node
from stoker.resources.nova.server.server import Server
from stoker.resources.scheduler_hints import scheduler_hints
from stoker.schema.unknown import Unknown
from tests.resources.resource_harness import Bench

NET, OTHER = Unknown.of("net"), Unknown.of("other")
SOMETHING = Unknown.of("lookup", "network")


class Graph:
    """Subnets by name and network."""

    def __init__(self, **networks: Any) -> None:
        self.networks = networks

    def of_type(self, *type_names: str) -> Iterable[Node]:
        assert type_names == ("OS::Neutron::Subnet",)
        for name, network in self.networks.items():
            requires = frozenset({"server"}) if name == "later" else frozenset[str]()
            yield Node(name, "OS::Neutron::Subnet", {"network": network}, requires)

    def resources(self) -> Iterable[Node]:
        return self.of_type("OS::Neutron::Subnet")


@pytest.mark.parametrize(
    ("networks", "before"),
    [
        ([{"network": NET}], {"mine", "unclear", "bare"}),
        ([{"network": "net-name"}], {"named", "unclear", "bare"}),
        ([{"network": NET}, {"network": OTHER}], {"mine", "others", "unclear", "bare"}),
        ([{"port": "p"}], {"mine", "others", "unclear", "bare", "named"}),
        ([{"network": SOMETHING}], {"mine", "others", "unclear", "bare", "named"}),
        (SOMETHING, {"mine", "others", "unclear", "bare", "named"}),
        ([{"allocate_network": "none"}], set()),
        ([], set()),
        (None, set()),
    ],
)
def test_subnets_of_its_networks_come_first(networks: Any, before: set[str]) -> None:
    graph = Graph(mine=NET, others=OTHER, named="net-name", unclear=Unknown.of("lookup", "id"), bare=None, later=NET)
    server = Node("server", "OS::Nova::Server", {"networks": networks}, frozenset())

    assert set(Server().implicit_requirements(server, graph)) == before


def test_scheduler_hints_name_the_stack_if_enabled(servers: Bench) -> None:
    resource = servers.resource("db")
    call = servers.call(resource, "CREATE", {"scheduler_hints": {"group": "g"}})
    assert scheduler_hints(call) == {"group": "g"}

    call.stack = replace(
        call.stack,
        name="web-tier-abc-inner-def",
        path=("tier", "inner"),
        root_id="root-id",
        options={"stack_scheduler_hints": True},
    )

    assert scheduler_hints(call) == {
        "group": "g",
        "heat_root_stack_id": "root-id",
        "heat_stack_id": "stack-id",
        "heat_stack_name": "web-tier-abc-inner-def",
        "heat_path_in_stack": ["web", "tier,web-tier-abc", "inner,web-tier-abc-inner-def"],
        "heat_resource_name": "db",
        "heat_resource_uuid": resource.uuid,
    }
