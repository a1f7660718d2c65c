"""How servers are deleted."""

from __future__ import annotations

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.rules.block_devices import BlockDevices
from openstack_emulator.compute.rules.constants import GUEST, SHORT
from openstack_emulator.compute.rules.guests import Guests
from openstack_emulator.compute.rules.interfaces import Interfaces
from openstack_emulator.compute.rules.migrations import Migrations
from openstack_emulator.compute.rules.server_groups import ServerGroups
from openstack_emulator.compute.rules.servers import Servers
from openstack_emulator.compute.rules.usage import Usages
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules


class Deletion(Rules):
    """Deletes servers with their ports and, where they are to go, volumes."""

    def __init__(
        self,
        records: Records,
        servers: Servers,
        groups: ServerGroups,
        interfaces: Interfaces,
        block_devices: BlockDevices,
        migrations: Migrations,
        usage: Usages,
        guests: Guests,
    ) -> None:
        super().__init__(records)
        self.servers = servers
        self._groups = groups
        self._interfaces = interfaces
        self._block_devices = block_devices
        self._migrations = migrations
        self._usage = usage
        self._guests = guests
        records.deferrable(self.finish_delete)

    def begin(self, server: Server) -> None:
        """Begin to delete a server, whatever its task is."""
        if server.task_state != "deleting":
            self.servers.touch(server, task_state="deleting")
            self.after(SHORT, self.finish_delete, server.id)

    def finish_delete(self, server_id: str) -> None:
        server = self.servers.rows.get(server_id)
        if server is None or server.task_state != "deleting":
            return
        if (failed := server.take_fault()) is not None:
            self.servers.fail(server, failed)
            return
        if not self._guests.remove(server_id):
            self.after(GUEST, self.finish_delete, server_id)
            return
        self._interfaces.release(server)
        self._block_devices.release(server)
        self._groups.leave(server_id)
        self._migrations.confirm(server_id)
        self._usage.keep(server)
        self.servers.rows.remove(server)
        server.vm_state = "deleted"
        self.servers.announce(server, "compute.instance.delete.end")
        self.servers.history.end(server_id)
