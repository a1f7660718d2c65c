"""How long servers existed and what they used."""

from __future__ import annotations

from openstack_emulator.compute.hosts import Hosts
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.store import Collection, Record


class Usage(Component):
    """The resources used by servers, deleted ones included."""

    def __init__(self, records: Records, servers: Collection, hosts: Hosts) -> None:
        super().__init__(records)
        self.rows = records.collection("usages", ("tenant_id",), internal=True)
        self.hosts = hosts
        self._servers = servers

    def keep(self, server: Record) -> None:
        """Record the usage of a server that is being deleted."""
        if server["launched_at"] is not None:
            self.rows.add({"id": server["id"], **usage_of(server, self.moment())})

    def of_project(self, project_id: str | None) -> list[Record]:
        """The usage of the servers of a project, or of all projects: `{instance_id, tenant_id, name, flavor, vcpus,
        memory_mb, local_gb, state, started_at, ended_at}`, the deleted ones first."""
        own: Record = {} if project_id is None else {"tenant_id": project_id}
        servers = list(self._servers) if project_id is None else self._servers.select(project_id=project_id)
        gone = [{key: value for key, value in row.items() if key != "id"} for row in self.rows.select(**own)]
        return [*gone, *(usage_of(server, None) for server in servers if server["launched_at"] is not None)]


def usage_of(server: Record, ended: str | None) -> Record:
    """The resources of a server since it was launched, until `ended` (None: it exists)."""
    flavor = server["flavor"]
    return {
        "instance_id": server["id"],
        "tenant_id": server["project_id"],
        "name": server["name"],
        "flavor": flavor["name"],
        "vcpus": flavor["vcpus"],
        "memory_mb": flavor["ram"],
        "local_gb": flavor["disk"] + flavor["ephemeral"],
        "state": server["vm_state"] if ended is None else "terminated",
        "started_at": server["launched_at"],
        "ended_at": ended,
    }
