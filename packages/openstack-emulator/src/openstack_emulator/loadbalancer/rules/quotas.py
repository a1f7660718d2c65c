"""How many objects of each kind a project may have; -1 means any number."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.limits import DEFAULT, Limits
from openstack_emulator.loadbalancer.records import (
    HealthMonitor,
    L7Policy,
    L7Rule,
    Listener,
    LoadBalancer,
    Member,
    Pool,
    Provisioned,
)
from openstack_emulator.loadbalancer.rules.tables import Tables

NAMES: Mapping[type[Provisioned], str] = {
    HealthMonitor: "healthmonitor",
    L7Policy: "l7policy",
    L7Rule: "l7rule",
    Listener: "listener",
    LoadBalancer: "loadbalancer",
    Member: "member",
    Pool: "pool",
}
"""The quota for each kind."""


class Quotas(Limits):
    """The limits of projects: there are none unless an administrator sets them."""

    def __init__(self, records: Records, tables: Tables) -> None:
        super().__init__(records)
        self._tables = tables

    def initial(self) -> Mapping[str, int]:
        return dict.fromkeys(NAMES.values(), -1)

    def projects(self) -> list[str]:
        """The projects with limits of their own."""
        return [key for key in self.rows.ids() if key != DEFAULT]

    def admit(self, project_id: str, requested: Mapping[type[Provisioned], int]) -> None:
        """Raise ApiError 403 when a project would have more objects of a kind than it may."""
        more = {NAMES[kind]: number for kind, number in requested.items()}
        used = {NAMES[kind]: len(self._tables.of(kind).select(project_id=project_id)) for kind in requested}
        for name in self.exceeded(project_id, more, used):
            raise forbidden(f"Quota has been met for resources: {name}")
