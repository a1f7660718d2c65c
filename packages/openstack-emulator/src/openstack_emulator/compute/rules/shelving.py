"""Images of servers, and shelved servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.rules.block_devices import BlockDevices
from openstack_emulator.compute.rules.operations import Operations
from openstack_emulator.compute.rules.scheduler import NO_HOST, Scheduler
from openstack_emulator.compute.rules.servers import owner_of
from openstack_emulator.compute.rules.states import NO_STATE, SHUT_DOWN
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.typed import to_plain
from openstack_emulator.image.records import Image
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.images import Images
from openstack_emulator.image.rules.inputs import SNAPSHOT_SIZE, NewCopy
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.inputs import NewSnapshot
from openstack_emulator.volume.rules.sources import MAPPINGS


class ServerImages(Rules):
    """Creates images and backups of servers."""

    def __init__(self, records: Records, operations: Operations, block_devices: BlockDevices) -> None:
        super().__init__(records)
        self.servers = operations.servers
        self._operations = operations
        self._block_devices = block_devices

    @property
    def _images(self) -> Images:
        return self.cloud.of(ImageService).images

    def create(self, server: Server, name: str, metadata: Mapping[str, Any]) -> Image:
        """Begin to make an image of a server; the image."""
        self._operations.require(server, "createImage")
        image = self.snapshot(server, name, metadata)
        self._operations.begin(server, "createImage")
        return image

    def create_backup(self, server: Server, name: str, kind: str, rotation: int) -> Image:
        """Begin a backup image of a server and delete all but the `rotation` newest of its kind; the image."""
        if not server.image_id:
            raise bad_request("It's not supported to backup volume backed instance.")
        self._operations.require(server, "createBackup")
        image = self.snapshot(server, name, {"image_type": "backup", "backup_type": kind})
        old = [row for row in self._images.rows if self._is_backup(row, server.id, kind) and row is not image]
        for row in old[: max(0, len(old) - max(rotation - 1, 0))]:
            self._images.delete(row)
        self._operations.begin(server, "createBackup")
        return image

    def _is_backup(self, image: Image, server_id: str, kind: str) -> bool:
        properties = image.properties
        return bool(properties.get("instance_uuid") == server_id and properties.get("backup_type") == kind)

    def snapshot(self, server: Server, name: str, metadata: Mapping[str, object]) -> Image:
        """Create the image of a server: of its disk, or, for a volume-backed server, of snapshots of its volumes."""
        own_properties = {key: str(value) for key, value in metadata.items()}
        if server.image_id:
            base = self._images.rows.get(server.image_id)
            properties = {
                "instance_uuid": server.id,
                "user_id": server.user_id,
                "image_type": "snapshot",
                "base_image_ref": server.image_id,
                "image_location": "snapshot",
                **({} if server.creator is None else to_plain(server.creator)),
                **own_properties,
            }
            min_ram, min_disk, size = 0 if base is None else base.min_ram, server.flavor.disk, SNAPSHOT_SIZE
        else:
            mappings = orjson.dumps(self._snapshot_volumes(server, name)).decode()
            properties = {"base_image_ref": "", "bdm_v2": "True", MAPPINGS: mappings, **own_properties}
            min_ram = min_disk = size = 0
        new_copy = NewCopy(name=name, properties=properties, min_ram=min_ram, min_disk=min_disk, size=size)
        return self._images.copy(server.project_id, new_copy)

    def _snapshot_volumes(self, server: Server, name: str) -> list[dict[str, Any]]:
        """Begin snapshots of the volumes; the block devices of a server built from them."""
        storage, mappings = self.cloud.of(BlockStorage), []
        for device in self._block_devices.of_server(server):
            volume = storage.volumes.rows.get(device.volume_id)
            if volume is not None:
                new_snapshot = NewSnapshot(name=f"snapshot for {name}")
                snapshot = storage.snapshots.create(owner_of(server), volume, new_snapshot, force=True)
                mappings.append(
                    {
                        "source_type": "snapshot",
                        "destination_type": "volume",
                        "snapshot_id": snapshot.id,
                        "volume_id": None,
                        "volume_size": volume.size,
                        "boot_index": device.boot_index,
                        "device_name": device.device,
                        "delete_on_termination": device.delete_on_termination,
                    }
                )
        return mappings


class Shelving(Rules):
    """The operations `shelve`, `shelveOffload` and `unshelve`."""

    def __init__(
        self,
        records: Records,
        operations: Operations,
        images: ServerImages,
        scheduler: Scheduler,
    ) -> None:
        super().__init__(records)
        self._servers = operations.servers
        self._operations = operations
        self._images = images
        self._scheduler = scheduler
        operations.finishers |= {
            "shelve": self._finish_shelve,
            "shelveOffload": self._finish_shelve,
            "unshelve": self._finish_unshelve,
        }

    def _finish_shelve(self, server: Server) -> Mapping[str, object]:
        return {"host": None, "power_state": SHUT_DOWN}

    def _finish_unshelve(self, server: Server) -> Mapping[str, object]:
        host = self._scheduler.choose_host(server, only=server.host_asked)
        if host is None:
            return {"vm_state": "error", "power_state": NO_STATE, "failure": self._servers.failure(NO_HOST)}
        self._delete_shelved_image(server)
        network = self.cloud.of(NetworkService)
        for port in network.ports_of_device(server.id):
            network.update_port(port.id, **{"binding:host_id": host})
        return {"host": host, "launched_at": self.moment()}

    def begin(self, server: Server) -> None:
        """Begin to shelve a server: its disk becomes an image, and its host is freed."""
        self._operations.require(server, "shelve")
        image = self._images.snapshot(server, f"{server.name}-shelved", {}) if server.image_id else None
        self._operations.begin(server, "shelve", shelved_image=None if image is None else image.id)

    def unshelve(self, server: Server, zone: str | None, host: str | None) -> None:
        """Begin to unshelve a server in an availability zone, on a host; None: any."""
        self._operations.begin(server, "unshelve", zone_asked=zone, host_asked=host)

    def _delete_shelved_image(self, server: Server) -> None:
        images = self.cloud.of(ImageService).images
        key, server.shelved_image = server.shelved_image, None
        image = images.rows.get(key or "")
        if image is not None:
            images.delete(image)
