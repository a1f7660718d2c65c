"""The resources of the type `instance` are the servers of the compute service."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.compute.records import Server
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.metric.records import Resource
from openstack_emulator.metric.rules.inputs import NewMetric
from openstack_emulator.metric.rules.metrics import Metrics
from openstack_emulator.metric.rules.types import INSTANCE, TYPES

METRICS = {
    "cpu": ("ns", "ceilometer-low-rate"),
    "cpu_util": ("%", "ceilometer-low"),
    "memory": ("MB", "ceilometer-low"),
    "memory.usage": ("MB", "ceilometer-low"),
    "vcpus": ("vcpu", "ceilometer-low"),
}
"""Unit and archive policy of the metrics that every server has."""
SERVER_GROUP = "metering.server_group"
"""The metadata of servers that Ceilometer makes the attribute server_group."""


class Servers(Rules):
    """What Ceilometer does in a real cloud: servers are resources, and their guests are measured."""

    def __init__(self, records: Records, resources: Table[Resource], metrics: Metrics) -> None:
        super().__init__(records)
        self._resources = resources
        self._metrics = metrics
        records.deferrable(self.measure)

    def follow(self) -> None:
        """Make the resources of type `instance` those of the cloud's servers; deleted servers' have ended."""
        servers = self.cloud.table_of("nova", "servers")
        if servers is None:
            return
        server: Server
        for server in servers:
            known, group = self._resources.get(server.id), server.metadata.get(SERVER_GROUP)
            if known is None:
                self._add(server, group)
            elif group != known.attributes.get("server_group"):
                known.attributes["server_group"] = group
                self._resources.save(known)
        for resource in self._resources.select(type=INSTANCE, ended_at=None):
            if resource.is_server and resource.id not in servers:
                resource.ended_at = resource.attributes["deleted_at"] = self.moment()
                self._resources.save(resource)

    def measure(self, server_id: str, values: Mapping[str, float]) -> None:
        """Add measures of a server, by the names of its metrics."""
        self.follow()
        resource = self._resources.get(server_id)
        if resource is None:
            return
        for name, value in values.items():
            metric = self._metrics.named(resource, name)
            if metric is not None:
                self._metrics.add_measures(metric, [[self.cloud.clock.now(), value]])

    def _add(self, server: Server, group: str | None) -> None:
        key, created, project, user = server.id, server.created, server.project_id, server.user_id
        resource = self._resources.add(
            Resource(
                id=key,
                original_resource_id=key,
                type=INSTANCE,
                project_id=project,
                user_id=user,
                created_by_project_id=project,
                created_by_user_id=user,
                started_at=created,
                ended_at=None,
                attributes={
                    **dict.fromkeys(TYPES[INSTANCE]),
                    "display_name": server.name,
                    "host": server.host,
                    "image_ref": server.image_id,
                    "flavor_id": server.flavor.id,
                    "flavor_name": server.flavor.name,
                    "server_group": group,
                    "created_at": created,
                    "launched_at": server.launched_at,
                },
                is_server=True,
            )
        )
        measured = self.cloud.guests.metering_interval is not None
        for name, (unit, policy) in METRICS.items():
            policy = policy.replace("-low", "-high") if measured else policy  # Ceilometer measures every five minutes
            self._metrics.create(NewMetric(name, unit, policy), project, user, resource)
