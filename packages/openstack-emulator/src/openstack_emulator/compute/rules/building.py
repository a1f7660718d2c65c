"""How servers are built: scheduled, connected to networks and volumes, and started, step by step."""

from __future__ import annotations

import re

from openstack_emulator.compute.records import RequestedDevice, Server, ServerGroup
from openstack_emulator.compute.rules.block_devices import BlockDevices
from openstack_emulator.compute.rules.constants import LONG, SHORT
from openstack_emulator.compute.rules.inputs import NewServer
from openstack_emulator.compute.rules.interfaces import Interfaces
from openstack_emulator.compute.rules.requests import ServerRequests
from openstack_emulator.compute.rules.scheduler import NO_HOST, Scheduler
from openstack_emulator.compute.rules.server_groups import ServerGroups
from openstack_emulator.compute.rules.servers import Servers, owner_of
from openstack_emulator.compute.rules.states import RUNNING
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.inputs import NewVolume


class Builder(Rules):
    """Builds servers step by step."""

    def __init__(
        self,
        records: Records,
        requests: ServerRequests,
        servers: Servers,
        groups: ServerGroups,
        scheduler: Scheduler,
        interfaces: Interfaces,
        block_devices: BlockDevices,
    ) -> None:
        super().__init__(records)
        self.servers = servers
        self._requests = requests
        self._groups = groups
        self._scheduler = scheduler
        self._interfaces = interfaces
        self._block_devices = block_devices
        records.deferrable(
            self.schedule, self.allocate_networks, self.make_volumes, self.await_volumes, self.finish_build
        )

    @property
    def _storage(self) -> BlockStorage:
        return self.cloud.of(BlockStorage)

    def create(self, context: Context, new_server: NewServer) -> list[Server]:
        """Begin to build the servers of a request; return them, in the order of their launch indexes.

        Raises: ApiError, see `ServerRequests.draft`.
        """
        draft = self._requests.draft(context, new_server)
        group = self._groups.rows.get(new_server.hints.get("group") or "")
        return [self._begin_build(context, new_server, draft, group, index) for index in range(new_server.count)]

    def _begin_build(
        self, context: Context, new_server: NewServer, draft: Server, group: ServerGroup | None, launch_index: int
    ) -> Server:
        name = new_server.name if new_server.count == 1 else f"{new_server.name}-{launch_index + 1}"
        hostname = new_server.hostname or re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:63]
        server = self.servers.add(draft, name, hostname, launch_index)
        if group is not None:
            self._groups.join(group, server.id)
        for device in server.devices:
            if device.volume_id:
                self._reserve(context, server, device, device.volume_id)
        self.after(SHORT, self.schedule, server.id)
        return server

    def _reserve(self, context: Context, server: Server, device: RequestedDevice, volume_id: str) -> None:
        volume = self._storage.volumes.find(context, volume_id)
        attachment = self._storage.attachments.create(context, volume, server.id)
        self._block_devices.add(server, device, volume_id, attachment.id)

    def schedule(self, server_id: str) -> None:
        """First step: choose the host."""
        server = self._building(server_id, "scheduling")
        if server is None:
            return
        group = self._groups.group_of(server_id)
        host = self._scheduler.choose_host(server, group_id=None if group is None else group.id, only=server.host_asked)
        if host is None:
            self.servers.fail(server, NO_HOST)
            return
        self.servers.touch(server, host=host, task_state="networking")
        self.after(SHORT, self.allocate_networks, server_id)

    def allocate_networks(self, server_id: str) -> None:
        """Create and bind the ports."""
        server = self._building(server_id, "networking")
        if server is None:
            return
        try:
            for requested_interface in server.networks:
                self._interfaces.plug(server, requested_interface, server.security_groups)
        except ApiError as error:
            self._abort(server, error.message)
            return
        self.servers.touch(server, task_state="block_device_mapping")
        self.after(SHORT, self.make_volumes, server_id)

    def make_volumes(self, server_id: str) -> None:
        """Have the new volumes of the server created."""
        server = self._building(server_id, "block_device_mapping")
        if server is None:
            return
        context = owner_of(server)
        try:
            for device in server.devices:
                if not device.volume_id:
                    volume = self._storage.volumes.create(context, NewVolume.from_json(device.volume or {}))
                    self._block_devices.add(server, device, volume.id, None)
        except ApiError as error:
            self._abort(server, error.message)
            return
        self.await_volumes(server_id)

    def await_volumes(self, server_id: str) -> None:
        """Continue when all new volumes are available."""
        server = self._building(server_id, "block_device_mapping")
        if server is None:
            return
        context = owner_of(server)
        for device in self._block_devices.rows.select(server_id=server_id, attachment_id=None):
            volume = self._storage.volumes.rows.get(device.volume_id)
            if volume is None or volume.status == "error":
                status = "deleted" if volume is None else volume.status
                self._abort(
                    server,
                    f"Volume {device.volume_id} did not finish being created even after we waited: "
                    f"its status is {status}.",
                )
                return
            if volume.status != "available":
                self.after(LONG, self.await_volumes, server_id)
                return
            attachment = self._storage.attachments.create(context, volume, server_id)
            device.attachment_id = attachment.id
            self._block_devices.rows.save(device)
        for device in self._block_devices.rows.select(server_id=server_id):
            self._block_devices.connect_volume(device.id)
        self.servers.touch(server, task_state="spawning")
        self.after(LONG, self.finish_build, server_id)

    def finish_build(self, server_id: str) -> None:
        """Last step: the server runs."""
        server = self._building(server_id, "spawning")
        if server is None:
            return
        if (fault := server.take_fault()) is not None:
            self.servers.fail(server, fault)
            return
        self.servers.touch(
            server, vm_state="active", task_state=None, power_state=RUNNING, launched_at=self.moment(), failure=None
        )
        self.servers.history.end(server_id)

    def _abort(self, server: Server, reason: str) -> None:
        self.servers.fail(server, f"Build of instance {server.id} aborted: {reason}")

    def _building(self, server_id: str, task: str) -> Server | None:
        """The server, if it is still at the step with this task state; None if it was deleted or has failed."""
        server = self.servers.rows.get(server_id)
        return server if server is not None and server.task_state == task else None
