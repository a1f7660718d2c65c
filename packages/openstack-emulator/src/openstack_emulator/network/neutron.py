"""The network service: its records with seed, and its table of routes."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Handler, Service
from openstack_emulator.network.actions import ACTIONS
from openstack_emulator.network.handlers import Endpoint
from openstack_emulator.network.operator_routes import OPERATOR, resources, versions
from openstack_emulator.network.records import KINDS, NetworkRecords
from openstack_emulator.network.seed import seed_network


class Neutron(NetworkRecords):
    """The records in a running cloud: seeded."""

    def seed(self) -> None:
        seed_network(self)


def _routes() -> dict[str, dict[str, Handler]]:
    routes: dict[str, dict[str, Handler]] = {}
    for table in (*(Endpoint(kind).routes() for kind in KINDS), ACTIONS, OPERATOR):
        for path, methods in table.items():
            routes.setdefault(path, {}).update(methods)
    return routes


NETWORK_SERVICE = Service(
    name="neutron",
    mount="/network",
    records=Neutron,
    endpoints={"network": "/network"},
    routes=_routes(),
    prefixes=("/v2.0",),
    root={"/": {"GET": versions}, "/v2.0": {"GET": resources}},
    public=frozenset({"GET /"}),
    error_body=error_bodies.neutron,
)
