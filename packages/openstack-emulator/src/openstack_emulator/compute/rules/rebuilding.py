"""Rebuilding servers from images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.rules.block_devices import BlockDevices
from openstack_emulator.compute.rules.boot_sources import BootSources, check_image_fits
from openstack_emulator.compute.rules.guests import Guests
from openstack_emulator.compute.rules.keypairs import Keypairs
from openstack_emulator.compute.rules.operations import Operations
from openstack_emulator.compute.rules.states import SHUT_DOWN
from openstack_emulator.compute.rules.user_data import check_user_data
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules


class Rebuilds(Rules):
    """Servers rebuilt from their images, or rescued with one."""

    def __init__(
        self,
        records: Records,
        operations: Operations,
        guests: Guests,
        sources: BootSources,
        keypairs: Keypairs,
        block_devices: BlockDevices,
    ) -> None:
        super().__init__(records)
        self._block_devices = block_devices
        self._servers = operations.servers
        self._operations = operations
        self._sources = sources
        self._guests = guests
        self._keypairs = keypairs
        operations.finishers |= {"rebuild": self._finish_rebuild}

    def begin(self, context: Context, server: Server, image_id: str, changes: Mapping[str, Any]) -> None:
        """Begin to rebuild a server from an image; `changes` are fields of the server: see `changes_of` in the routes.

        Raises: ApiError 400 for an unusable image, or one for which another guest driver is selected, 409 in
        a wrong state.
        """
        self._operations.require(server, "rebuild")
        self._block_devices.check_attached(server)
        try:
            image = self._sources.image(context, image_id)
        except ApiError:
            raise bad_request("Cannot find image for rebuild") from None
        if image is None:
            raise bad_request("Invalid image identifier or unable to access requested image.")
        check_image_fits(image, server.flavor)
        check_user_data(changes.get("user_data"))
        if metadata := changes.get("metadata"):
            self._servers.quotas.check_metadata(server.project_id, metadata)
        key_name = changes.get("key_name")
        if key_name and self._keypairs.rows.get(f"{server.user_id}:{key_name}") is None:
            raise bad_request("Invalid key_name provided.")
        booted: dict[str, object] = {}
        if server.image_id:
            name = image.name or ""
            self._guests.require_same_driver(server, image=name)
            booted = {"image_id": image.id, "image_name": name, "image_properties": dict(image.properties)}
        self._operations.begin(server, "rebuild", **changes, **booted, was_stopped=server.vm_state == "stopped")

    def check_image(self, context: Context, image_id: str | None) -> None:
        """400 for an image that cannot be used."""
        self._sources.image(context, image_id)

    def rescue(self, context: Context, server: Server, image_id: str | None) -> None:
        """Begin to start a server from a rescue image, which is not the server's own if an id is given.

        Raises: ApiError 400 for an unusable image, 409 in a wrong state.
        """
        self.check_image(context, image_id)
        self._operations.begin(server, "rescue")

    def _finish_rebuild(self, server: Server) -> Mapping[str, object]:
        launched = {"launched_at": self.moment()}
        was_stopped, server.was_stopped = server.was_stopped, False
        return {**launched, "vm_state": "stopped", "power_state": SHUT_DOWN} if was_stopped else launched
