"""The systems that run in servers: they follow the servers' power states, and the servers follow their ends."""

from __future__ import annotations

import asyncio
import logging

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.rules.block_devices import BlockDevices, is_data
from openstack_emulator.compute.rules.flavors import Flavors
from openstack_emulator.compute.rules.metadata import Documents, config_drive
from openstack_emulator.compute.rules.servers import Servers
from openstack_emulator.compute.rules.states import OPERATIONS, PAUSED, REINSTALL, RUNNING, SHUT_DOWN
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.guests.driver import Guest, GuestsUnavailable, Size, Volume
from openstack_emulator.core.guests.selection import NONE
from openstack_emulator.core.rules import Rules
from openstack_emulator.guests.guest_endpoints import GuestEndpoints
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.views.guests import TopologyView

log = logging.getLogger(__name__)

RECONNECT_SECONDS = 0.02
"""After a change of the networks: one request changes many records, and the guests are connected once for all."""
BALANCERS = "octavia"
"""The service whose load balancers are in guests' networks; it is not opened before it is used."""


class Guests(Rules):
    """Has the cloud's driver start and end the guests of servers.

    A guest runs while the power state of its server is `RUNNING`. If it ends by itself, the server is stopped, and an
    event says so, as Nova notices by its synchronization of power states. If it cannot be started, the server is in
    error. Which driver runs it is selected by the names that the server's flavor and image had when the server got
    them.
    """

    def __init__(
        self,
        records: Records,
        servers: Servers,
        flavors: Flavors,
        block_devices: BlockDevices,
        documents: Documents,
    ) -> None:
        super().__init__(records)
        self._servers = servers
        self._flavors = flavors
        self._block_devices = block_devices
        self._documents = documents
        self._reconnecting = False
        servers.power_followers.append(self.follow)
        records.deferrable(self.guest_ended)

    def open(self) -> None:
        """Start the guests of the servers that ran when the cloud ended.

        Raises: GuestsUnavailable if a driver is selected for a flavor or image that does not exist.
        """
        self._require_selected()
        guest_endpoints = GuestEndpoints(
            self.cloud, lambda guest_id, reason: self.after(0.0, self.guest_ended, guest_id, reason)
        )
        self.cloud.guests.open(guest_endpoints, {server.id: self._driver(server) for server in self._servers.rows})
        if self.cloud.guests.connected:
            state = self.cloud.of(NetworkService).state
            state.followers.append(self._networks_changed)
            if self.cloud.guests.serves_load_balancers and self.cloud.was_used(BALANCERS):
                self.cloud.service_named(BALANCERS)
            self._connect()
        for server in self._servers.rows:
            if server.power_state == RUNNING:
                self._start(server)

    def _require_selected(self) -> None:
        selection = self.cloud.guests.selection
        images = self.cloud.of(ImageService).images.rows if selection.images else ()
        try:
            selection.require({row.name for row in self._flavors.rows}, {image.name or "" for image in images})
        except ValueError as error:
            raise GuestsUnavailable(str(error)) from None

    def _driver(self, server: Server, flavor: str | None = None, image: str | None = None) -> str:
        """Return the name of the driver of a server, or of the server with a flavor and an image of these names."""
        names = server.flavor.name if flavor is None else flavor, server.image_name if image is None else image
        return self.cloud.guests.selection.driver(*names)

    def _start(self, server: Server) -> None:
        if self._driver(server) != NONE:
            self.cloud.guests.start(self._guest(server))

    def _networks_changed(self) -> None:
        """Connect the guests soon: a request changes many records."""
        if not self._reconnecting:
            self._reconnecting = True
            asyncio.get_running_loop().call_later(RECONNECT_SECONDS, self._connect)

    def _connect(self) -> None:
        self._reconnecting = False
        self.cloud.guests.connect(self._topology.topology())

    @property
    def _topology(self) -> TopologyView:
        return TopologyView(self.cloud.of(NetworkService))

    def require_supported(self, server: Server, operation: str) -> None:
        """Raise ApiError 501 for an operation that a server with a guest cannot do."""
        reason = self.cloud.guests.unsupported.get(operation)
        if reason is not None and self._driver(server) != NONE:
            raise ApiError(501, f"The guests of this cloud do not support the operation {operation}: {reason}")

    def require_same_driver(self, server: Server, flavor: str | None = None, image: str | None = None) -> None:
        """Raise ApiError 400 for a flavor or an image of these names for which another driver of guests is selected."""
        present, driver = self._driver(server), self._driver(server, flavor, image)
        if driver != present:
            raise bad_request(
                f"The guest driver of this server is {present}, and {driver} is selected for the new flavor or image: "
                "a server keeps its driver. Create another server."
            )

    def follow(self, server: Server) -> None:
        """Start or stop the guest as the power state says. States in which it is unknown change nothing."""
        if server.power_state == RUNNING:
            if self._reconnecting:
                self._connect()  # before its user data is run
            self._start(server)
        elif server.power_state == PAUSED or server.vm_state == "suspended":
            self.cloud.guests.freeze(server.id)
        elif server.power_state == SHUT_DOWN:
            self.cloud.guests.stop(server.id)

    def interrupt(self, server_id: str, kind: str) -> None:
        """End the guest for an operation (`Operation.guest`); if the server runs afterwards, it is started again."""
        if kind == REINSTALL:
            self.cloud.guests.reset(server_id)
        else:
            self.cloud.guests.stop(server_id)

    def remove(self, server_id: str) -> bool:
        """End the guest of a server that is deleted; return whether it has ended: to be called again until then."""
        return self.cloud.guests.remove(server_id)

    def guest_ended(self, server_id: str, reason: str) -> None:
        """The guest of a server has ended without a request; reason: why it could not be started."""
        server = self._servers.rows.get(server_id)
        if server is None or server.power_state != RUNNING:
            return
        if reason:
            self._servers.touch(server, power_state=SHUT_DOWN)
            self._servers.fail(server, reason)
        elif _is_rescued(server) and server.task_state is None:
            self._servers.touch(server, power_state=SHUT_DOWN)  # Nova stops active servers only
        elif server.vm_state == "active" and server.task_state is None:
            log.warning("The guest of the server %s has ended: the server is stopped.", server_id)
            self._servers.touch(server, vm_state="stopped", power_state=SHUT_DOWN)
            self._servers.announce(server, OPERATIONS["stop"].event)

    def _guest(self, server: Server) -> Guest:
        return Guest(
            id=server.id,
            hostname=server.hostname,
            config_drive=lambda: config_drive(self._documents.of_server(server)),
            files=lambda: self._files(server.id),
            volumes=lambda: self._volumes(server),
            size=Size(server.flavor.vcpus, server.flavor.ram, server.flavor.disk),
            driver=self._driver(server),
            root=lambda: self._block_devices.root_of(server),
            rescued=lambda: _is_rescued(server),
        )

    def _volumes(self, server: Server) -> list[Volume]:
        if _is_rescued(server):
            return []  # Nova attaches none, and the device of the first one is that of the server's own disk
        devices = self._block_devices.of_server(server)
        return [self._block_devices.visible_volume(row) for row in devices if is_data(row)]

    def _files(self, server_id: str) -> dict[str, str]:
        """Return the files of the guest that DHCP would write."""
        servers = self._topology.name_servers(server_id) if self.cloud.guests.connected else []
        return {"etc/resolv.conf": "".join(f"nameserver {address}\n" for address in servers)} if servers else {}


def _is_rescued(server: Server) -> bool:
    return server.vm_state == "rescued"
