"""The volumes that are mounted in containers: volumes of the block storage service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openstack_emulator.container.records import Container, Mount
from openstack_emulator.container.rules.inputs import RequestedMount
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.internal import call_service
from openstack_emulator.core.lookups import one_of_collection
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.volume.rules.composition import BlockStorage

VOLUMES = "/volume/v3/volumes"


class Storage(Rules):
    """Mounts of containers. Volumes that are created for a container are deleted with it."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("mounts", Mount, "container_id", internal=True)

    @property
    def _volumes(self) -> BlockStorage:
        return self.cloud.of(BlockStorage)

    def requested(self, request: Request, mounts: Sequence[Mapping[str, object]]) -> list[RequestedMount]:
        """Return the mounts that a request asks for: `{volume_id or size, destination}`.

        Raises: ApiError 400 for wrong entries, 404 for unknown volumes, 409 for a volume in use.
        """
        return [self._requested(request, entry) for entry in mounts]

    def _requested(self, request: Request, entry: Mapping[str, object]) -> RequestedMount:
        volume_size, source, destination = entry.get("size"), entry.get("source"), entry.get("destination")
        size = as_integer(volume_size) if volume_size else None
        if entry.get("type", "volume") != "volume" or entry.keys() - {"source", "destination", "size", "type"}:
            raise bad_request("Mounts other than volumes are not supported by the emulated cloud.")
        if not isinstance(destination, str) or not destination:
            raise bad_request("Each mount must have a 'destination'.")
        if not source:
            if size is None or size < 1:
                raise bad_request("Each mount must have 'source' or 'size'.")
            return RequestedMount(volume_id=None, size=size)
        volume = one_of_collection(self.cloud, request, f"{VOLUMES}/detail", "volumes", str(source))
        if volume is None:
            raise not_found(f"Volume {source} could not be found.", "volume-not-found")
        key, status = str(volume.get("id")), volume.get("status")
        if status != "available" and not (volume.get("multiattach") and status == "in-use"):
            raise conflict(f"Volume {key} is in {status} state, and cannot be mounted.")
        return RequestedMount(volume_id=key, size=None)

    def mount(self, request: Request, container: Container, requested_mount: RequestedMount) -> None:
        """Attach a volume to a container, or begin to create one for it. Raises ApiError."""
        if requested_mount.volume_id is None:
            body = {"volume": {"size": requested_mount.size, "name": f"zun-{container.name}"[:255]}}
            key, attachment = str(call_service(self.cloud, request, "POST", VOLUMES, body)["volume"]["id"]), None
        else:
            key = requested_mount.volume_id
            attachment = self._attach(request.context, container, key)
        self.rows.add(
            Mount(
                id=f"{container.id}:{key}",
                container_id=container.id,
                volume_id=key,
                created=requested_mount.volume_id is None,
                attachment_id=attachment,
            )
        )

    def attach_created(self, container: Container) -> None:
        """Attach the volumes that were created for a container. Raises ApiError when one is not available."""
        owner = Context("", container.user_id, "", "", frozenset(), container.project_id)
        for row in self.rows.select(container_id=container.id, attachment_id=None):
            row.attachment_id = self._attach(owner, container, row.volume_id)
            self.rows.save(row)

    def _attach(self, context: Context, container: Container, volume_id: str) -> str:
        service = self._volumes
        volume = service.volumes.rows.require(volume_id)
        connector = {"host": container.host, "mountpoint": "/dev/vdb"}
        attachment = service.attachments.create(context, volume, container.id, connector)
        service.attachments.complete(attachment)
        return attachment.id

    def release(self, container: Container) -> None:
        """Detach the volumes of a container, and delete those that were created for it."""
        service = self._volumes
        for row in self.rows.select(container_id=container.id):
            self.rows.remove(row)
            attachment = service.attachments.rows.get(row.attachment_id or "")
            if attachment is not None:
                service.attachments.remove(attachment)
            volume = service.volumes.rows.get(row.volume_id)
            if row.created and volume is not None:
                service.volumes.delete(volume, force=True)
