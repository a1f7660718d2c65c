"""The volumes that are mounted in containers: volumes of the block storage service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.internal import ask
from openstack_emulator.core.lookups import one_of_collection
from openstack_emulator.core.store import Record
from openstack_emulator.volume.rules.composition import BlockStorage

VOLUMES = "/volume/v3/volumes"


class Storage(Component):
    """Mounts of containers. Volumes that are created for a container are deleted with it."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection("mounts", ("container_id",), internal=True)

    @property
    def _volumes(self) -> BlockStorage:
        return self.cloud.of(BlockStorage)

    def asked_for(self, request: Request, mounts: Sequence[Mapping[str, Any]]) -> list[Record]:
        """Return the mounts that a request asks for: `{volume_id or size, destination}`.

        Raises: ApiError 400 for wrong entries, 404 for unknown volumes, 409 for a volume in use.
        """
        found = []
        for entry in mounts:
            size = fields.as_integer(entry["size"]) if entry.get("size") else None
            if entry.get("type", "volume") != "volume" or entry.keys() - {"source", "destination", "size", "type"}:
                raise bad_request("Mounts other than volumes are not supported by the emulated cloud.")
            if not isinstance(entry.get("destination"), str) or not entry["destination"]:
                raise bad_request("Each mount must have a 'destination'.")
            if not entry.get("source"):
                if size is None or size < 1:
                    raise bad_request("Each mount must have 'source' or 'size'.")
                found.append({"size": size, "destination": entry["destination"]})
                continue
            volume = one_of_collection(self.cloud, request, f"{VOLUMES}/detail", "volumes", str(entry["source"]))
            if volume is None:
                raise not_found(f"Volume {entry['source']} could not be found.", "volume-not-found")
            if volume["status"] != "available" and not (volume["multiattach"] and volume["status"] == "in-use"):
                raise conflict(f"Volume {volume['id']} is in {volume['status']} state, and cannot be mounted.")
            found.append({"volume_id": volume["id"], "destination": entry["destination"]})
        return found

    def mount(self, request: Request, container: Record, wanted: Record) -> None:
        """Attach a volume to a container, or begin to create one for it. Raises ApiError."""
        key, created = wanted.get("volume_id"), "volume_id" not in wanted
        if created:
            body = {"volume": {"size": wanted["size"], "name": f"zun-{container['name']}"[:255]}}
            key = ask(self.cloud, request, "POST", VOLUMES, body)["volume"]["id"]
        attachment = None if created else self._attach(request.context, container, str(key))
        self.rows.add(
            {
                "id": f"{container['id']}:{key}",
                "container_id": container["id"],
                "volume_id": key,
                "created": created,
                "attachment_id": attachment,
            }
        )

    def attach_created(self, container: Record) -> None:
        """Attach the volumes that were created for a container. Raises ApiError when one is not available."""
        owner = Context("", container["user_id"], "", "", frozenset(), container["project_id"])
        for row in self.rows.select(container_id=container["id"], attachment_id=None):
            self.rows.update(row, attachment_id=self._attach(owner, container, row["volume_id"]))

    def _attach(self, context: Context, container: Record, volume_id: str) -> str:
        service = self._volumes
        volume = service.volumes.rows.require(volume_id)
        connector = {"host": container["host"], "mountpoint": "/dev/vdb"}
        attachment = service.attachments.create(context, volume, container["id"], connector)
        service.attachments.complete(attachment)
        return attachment.id

    def release(self, container: Record) -> None:
        """Detach the volumes of a container, and delete those that were created for it."""
        service = self._volumes
        for row in self.rows.select(container_id=container["id"]):
            self.rows.remove(row)
            attachment = service.attachments.rows.get(row["attachment_id"] or "")
            if attachment is not None:
                service.attachments.remove(attachment)
            volume = service.volumes.rows.get(row["volume_id"])
            if row["created"] and volume is not None:
                service.volumes.delete(volume, force=True)
