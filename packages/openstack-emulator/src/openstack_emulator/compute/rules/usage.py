"""How long servers existed and what they used."""

from __future__ import annotations

from openstack_emulator.compute.records import Server, Usage
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table


class Usages(Rules):
    """The resources used by servers, deleted ones included."""

    def __init__(self, records: Records, servers: Table[Server]) -> None:
        super().__init__(records)
        self.rows = records.table("usages", Usage, "tenant_id", internal=True)
        self._servers = servers

    def keep(self, server: Server) -> None:
        """Record the usage of a server that is being deleted."""
        if server.launched_at is not None:
            self.rows.add(usage_of(server, server.launched_at, self.moment()))

    def of_project(self, project_id: str | None) -> list[Usage]:
        """The usage of the servers of a project, or of all projects, the deleted ones first."""
        if project_id is None:
            gone, servers = list(self.rows), list(self._servers)
        else:
            gone, servers = self.rows.select(tenant_id=project_id), self._servers.select(project_id=project_id)
        present = [usage_of(server, server.launched_at, None) for server in servers if server.launched_at is not None]
        return [*gone, *present]


def usage_of(server: Server, launched: str, ended: str | None) -> Usage:
    """The resources of a server since it was launched, until `ended` (None: it exists)."""
    flavor = server.flavor
    return Usage(
        id=server.id,
        instance_id=server.id,
        tenant_id=server.project_id,
        name=server.name,
        flavor=flavor.name,
        vcpus=flavor.vcpus,
        memory_mb=flavor.ram,
        local_gb=flavor.disk + flavor.ephemeral,
        state=server.vm_state if ended is None else "terminated",
        started_at=launched,
        ended_at=ended,
    )
