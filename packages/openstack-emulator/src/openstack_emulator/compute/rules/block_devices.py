"""Volumes of servers: attachments of the block-storage service, with their device names."""

from __future__ import annotations

from openstack_emulator.compute.records import BlockDevice, RequestedDevice, Server
from openstack_emulator.compute.rules.constants import GUEST, SHORT
from openstack_emulator.compute.rules.servers import Servers, owner_of
from openstack_emulator.compute.rules.states import ATTACHABLE
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.guests.driver import Volume
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.volume import records as volume_records
from openstack_emulator.volume.records import Attachment
from openstack_emulator.volume.rules.composition import BlockStorage

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class BlockDevices(Rules):
    """Which volumes servers have."""

    def __init__(self, records: Records, servers: Servers) -> None:
        super().__init__(records)
        self.rows = records.table("block_devices", BlockDevice, "server_id", "volume_id")
        self.servers = servers
        records.deferrable(
            self.connect_volume,
            self.finish_attach_volume,
            self.finish_detach_volume,
            self.finish_swap,
            self.volume_extended,
        )

    @property
    def _storage(self) -> BlockStorage:
        return self.cloud.of(BlockStorage)

    def of_server(self, server: Server) -> list[BlockDevice]:
        """The block devices of a server."""
        return self.rows.select(server_id=server.id)

    def attach(
        self, context: Context, server: Server, volume_id: str, requested_device: RequestedDevice
    ) -> BlockDevice:
        """Begin to attach a volume; the block device.

        Raises: ApiError 404 for an unknown volume, 400 for one that is not free, 409 for a server in a wrong state.
        """
        self.servers.require_state(server, "attach_volume", ATTACHABLE)
        volume = self._storage.volumes.find(context, volume_id)
        attached = self.of_server(server)
        if any(row.volume_id == volume.id for row in attached):
            raise bad_request(f"Invalid volume: volume {volume.id} is already attached to instances: {server.id}")
        if requested_device.device and any(row.device == requested_device.device for row in attached):
            raise conflict(f"The supplied device path ({requested_device.device}) is in use.")
        attachment = self._storage.attachments.create(context, volume, server.id)
        device = self.add(server, requested_device, volume_id, attachment.id)
        self.after(SHORT, self.connect_volume, device.id)
        return device

    def add(
        self, server: Server, requested_device: RequestedDevice, volume_id: str, attachment_id: str | None
    ) -> BlockDevice:
        """Add a volume to those of a server, as the device asked for or the next free one."""
        return self.rows.add(
            BlockDevice(
                id=new_id(),
                server_id=server.id,
                tag=requested_device.tag,
                delete_on_termination=requested_device.delete_on_termination,
                boot_index=requested_device.boot_index,
                volume_id=volume_id,
                attachment_id=attachment_id,
                device=requested_device.device or self.next_device(server),
            )
        )

    def next_device(self, server: Server) -> str:
        """The first free device name after those of the server's disks."""
        taken = {row.device for row in self.of_server(server)}
        if server.image_id:
            taken.add("/dev/vda")
        return next(name for letter in LETTERS if (name := f"/dev/vd{letter}") not in taken)

    def connect_volume(self, device_id: str) -> None:
        """The host connects to the volume."""
        device = self.rows.get(device_id)
        attachment = self._attachment_of(device)
        if device is None or attachment is None:
            return
        server = self.servers.rows.get(device.server_id)
        host = None if server is None else server.host
        connector = {"host": host, "mountpoint": device.device, "initiator": f"iqn.1993-08.org.debian:01:{host}"}
        self._storage.attachments.connect(attachment, connector)
        self.after(SHORT, self.finish_attach_volume, device_id)

    def finish_attach_volume(self, device_id: str) -> None:
        device = self.rows.get(device_id)
        attachment = self._attachment_of(device)
        if device is not None and attachment is not None and attachment.status == "attaching":
            self._storage.attachments.complete(attachment, device.device)
            server = self.servers.rows.get(device.server_id)
            if is_data(device) and server is not None and server.vm_state != "rescued":
                self.cloud.guests.attach(device.server_id, self.visible_volume(device))
            self.servers.history.end(device.server_id)

    def visible_volume(self, device: BlockDevice) -> Volume:
        """Return the volume of a device as a guest sees it."""
        volume = self._storage.volumes.rows.get(device.volume_id)
        return Volume(device.volume_id, device.device, 1 if volume is None else volume.size)

    def root_of(self, server: Server) -> Volume | None:
        """Return the volume that a server boots from; None if it boots from its image."""
        return next(
            (self.visible_volume(row) for row in self.of_server(server) if row.volume_id and not is_data(row)), None
        )

    def find(self, server: Server, volume_id: str) -> BlockDevice:
        """The block device that is a volume of the server; 404 when it has none."""
        found = self.rows.first(server_id=server.id, volume_id=volume_id)
        if found is None:
            raise not_found(f"Instance {server.id} is not attached to volume {volume_id}")
        return found

    def detach(self, server: Server, volume_id: str) -> None:
        """Begin to detach a volume.

        Raises: ApiError 404 when the server has no such volume, 400 for its root disk, 409 in a wrong state.
        """
        self.servers.require_state(server, "detach_volume", ATTACHABLE)
        device = self.find(server, volume_id)
        if device.boot_index == 0:
            raise bad_request("Cannot detach a root device volume")
        self._storage.attachments.begin_detaching(self._storage.volumes.rows.require(volume_id))
        self.after(SHORT, self.finish_detach_volume, device.id)

    def finish_detach_volume(self, device_id: str) -> None:
        device = self.rows.get(device_id)
        if device is None:
            return
        if not self.cloud.guests.detach(device.server_id, self.visible_volume(device)):
            self.after(GUEST, self.finish_detach_volume, device_id)
            return
        attachment = self._attachment_of(device)
        self.rows.remove(device)
        if attachment is not None:
            self._storage.attachments.remove(attachment)
        self.servers.history.end(device.server_id)

    def check_attached(self, server: Server) -> None:
        """400 while a volume of the server is being attached or detached: a rebuild attaches all of them again."""
        for device in self.of_server(server):
            volume = self._storage.volumes.rows.get(device.volume_id)
            if volume is not None and volume.status != "in-use":
                raise bad_request(
                    f"Invalid volume: volume '{volume.id}' status must be 'in-use'. Currently in "
                    f"'{volume.status}' status"
                )

    def swap(self, context: Context, server: Server, old_id: str, new_id_: str) -> None:
        """Replace an attached volume by another."""
        self.servers.require_state(server, "swap_volume", ("active", "paused", "resized"))
        device = self.find(server, old_id)
        volume = self._storage.volumes.find(context, new_id_)
        if volume.size < self._storage.volumes.rows.require(old_id).size:
            raise bad_request(f"Invalid volume: Old volume is attached to a larger size than volume {new_id_}.")
        self._storage.attachments.begin_detaching(self._storage.volumes.rows.require(old_id))
        attachment = self._storage.attachments.create(context, volume, server.id)
        self.after(SHORT, self.finish_swap, device.id, attachment.id)

    def finish_swap(self, device_id: str, attachment_id: str) -> None:
        """Copy the volume that the guest has given back to the one that it gets instead."""
        device, new = self.rows.get(device_id), self._storage.attachments.rows.get(attachment_id)
        if device is None or new is None:
            if new is not None:
                self._storage.attachments.remove(new)
            return
        old = self._attachment_of(device)
        copied: bool | None = None
        if self.cloud.guests.detach(device.server_id, self.visible_volume(device)):
            copied = self.cloud.guests.copy(f"volume-{device.volume_id}", f"volume-{new.volume_id}")
        if copied is None:
            self.after(GUEST, self.finish_swap, device_id, attachment_id)
            return
        given_up = old if copied else new
        if copied:
            device.volume_id, device.attachment_id = new.volume_id, attachment_id
            self.rows.save(device)
        if given_up is not None:
            self._storage.attachments.remove(given_up)
        self.after(SHORT, self.connect_volume, device_id)

    def volume_extended(self, server_id: str, volume_id: str) -> None:
        """A volume of a server was extended: the host extends the disk of the server."""
        server = self.servers.rows.get(server_id)
        if server is not None and self.rows.first(server_id=server_id, volume_id=volume_id) is not None:
            self.servers.history.begin(owner_of(server), f"req-{new_id()}", server, "extend_volume")
            self.after(SHORT, self.servers.history.end_events, server_id)

    def _attachment_of(self, device: BlockDevice | None) -> Attachment | None:
        key = None if device is None else device.attachment_id
        return self._storage.attachments.rows.get(key or "")

    def release(self, server: Server) -> None:
        """Detach the volumes of a server, and delete those that are to be deleted with it."""
        for device in self.of_server(server):
            self.rows.remove(device)
            attachment = self._storage.attachments.rows.get(device.attachment_id or "")
            if attachment is not None:
                self._storage.attachments.remove(attachment)
            volume = self._storage.volumes.rows.get(device.volume_id)
            if volume is not None and device.delete_on_termination:
                self._delete_volume(volume)

    def _delete_volume(self, volume: volume_records.Volume) -> None:
        """Delete a volume; one that cannot be deleted (because of its snapshots, for example) is kept, as in Nova."""
        try:
            self._storage.volumes.delete(volume)
        except ApiError as error:
            if error.status >= 500:
                raise


def is_data(device: BlockDevice) -> bool:
    """Whether a guest sees a volume as a device: its root disk is the guest's own."""
    return bool(device.volume_id and device.boot_index != 0)
