"""Rebuilding servers from images."""

from __future__ import annotations

from openstack_emulator.compute.block_devices import BlockDevices
from openstack_emulator.compute.boot_sources import BootSources, check_image_fits
from openstack_emulator.compute.guests import Guests
from openstack_emulator.compute.keypairs import Keypairs
from openstack_emulator.compute.operations import Operations
from openstack_emulator.compute.servers import shortest
from openstack_emulator.compute.states import SHUT_DOWN
from openstack_emulator.compute.user_data import check_user_data
from openstack_emulator.compute.views import ServerViews
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record


class Rebuilds(Component):
    """Servers rebuilt from their images, or rescued with one. `views` is how a rebuild is answered."""

    def __init__(
        self,
        records: Records,
        operations: Operations,
        guests: Guests,
        sources: BootSources,
        keypairs: Keypairs,
        views: ServerViews,
        block_devices: BlockDevices,
    ) -> None:
        super().__init__(records)
        self._block_devices = block_devices
        self.servers = operations.servers
        self.operations = operations
        self.sources = sources
        self.views = views
        self._guests = guests
        self._keypairs = keypairs
        operations.finishers["rebuild"] = self._finish_rebuild

    def begin(self, context: Context, server: Record, wanted: Record) -> None:
        """Begin to rebuild a server from an image.

        wanted: imageRef, and what else changes: name, description, metadata, user_data, key_name, hostname,
        accessIPv4, accessIPv6, OS-DCF:diskConfig, personality.

        Raises: ApiError 400 for an unusable image, or one for which another guest driver is selected, 409 in
        a wrong state.
        """
        self.operations.require(server, "rebuild")
        self._block_devices.check_attached(server)
        try:
            image = self.sources.image(context, wanted["imageRef"])
        except ApiError:
            raise bad_request("Cannot find image for rebuild") from None
        if image is None:
            raise bad_request("Invalid image identifier or unable to access requested image.")
        check_image_fits(image, server["flavor"])
        check_user_data(wanted.get("user_data"))
        if wanted.get("metadata"):
            self.servers.quotas.check_metadata(server["project_id"], wanted["metadata"])
        if wanted.get("key_name") and self._keypairs.rows.get(f"{server['user_id']}:{wanted['key_name']}") is None:
            raise bad_request("Invalid key_name provided.")
        names = {
            "accessIPv4": "access_ip_v4",
            "accessIPv6": "access_ip_v6",
            "OS-DCF:diskConfig": "disk_config",
            "personality": "_files",
            **{name: name for name in ("name", "description", "metadata", "user_data", "key_name", "hostname")},
        }
        changes = {field: wanted[name] for name, field in names.items() if name in wanted}
        for field in ("access_ip_v4", "access_ip_v6"):
            if field in changes:
                changes[field] = shortest(changes[field])
        if server["image_id"]:
            name = image.name or ""
            self._guests.require_same_driver(server, _image_name=name)
            properties = dict(image.properties)
            changes |= {"image_id": image.id, "_image_name": name, "_image_properties": properties}
        self.operations.begin(server, "rebuild", **changes, _was_stopped=server["vm_state"] == "stopped")

    def _finish_rebuild(self, server: Record) -> Record:
        launched: Record = {"launched_at": self.moment()}
        if server.pop("_was_stopped", False):
            return {**launched, "vm_state": "stopped", "power_state": SHUT_DOWN}
        return launched
