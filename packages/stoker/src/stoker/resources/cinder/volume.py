"""OS::Cinder::Volume"""

from __future__ import annotations

import json
from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError, NotSupported
from stoker.plugins.capabilities import ConditionalContent, SnapshotBeforeDelete, UsageReporter
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import AttributeKey, Call, Waiter
from stoker.resources import charges
from stoker.resources.base import Collection, RestResource
from stoker.resources.cinder.backups import VolumeBackup, make_backup
from stoker.resources.cinder.volume_changes import change_steps, describe, set_metadata, set_read_only
from stoker.resources.declare import between, custom
from stoker.resources.refused_changes import VOLUME_SIZE
from stoker.resources.scheduler_hints import scheduler_hints
from stoker.resources.steps import Step, in_turn
from stoker.resources.volume_allowances import volume
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import LISTED, Live, LiveSource, managed, never
from stoker.schema.property import Attribute, Change, Property, Support, Type

_SOURCES = ("image", "snapshot_id", "source_volid")
_BUSY = (
    "creating", "downloading", "uploading", "extending", "retyping", "backing-up", "restoring-backup", "deleting",
)  # fmt: skip
"""Statuses of a volume in which Cinder refuses to delete it for a time."""
CREATES_FROM_BACKUP = "3.47"
"""From this microversion on a volume of a given type, zone and size can be created from a backup."""
_UNCONVERTED = frozenset({"attachments_list", "metadata_values", "display_name", "display_description", "show"})
"""Attributes that are not converted to strings."""


async def _image(kind: Volume, call: Call, shown: Mapping[str, Any]) -> object:
    """Return the ID of the image that the volume was created from."""
    return (shown.get("volume_image_metadata") or {}).get("image_id")


async def _is_read_only(kind: Volume, call: Call, shown: Mapping[str, Any]) -> bool:
    """Return whether the volume is read-only; the service notes it in the metadata, once it has been set."""
    return str((shown.get("metadata") or {}).get("readonly", False)).lower() == "true"


class Volume(RestResource, ConditionalContent, SnapshotBeforeDelete, UsageReporter):
    """A block storage volume."""

    type_name = "OS::Cinder::Volume"
    description = "A block storage volume, which can be attached to servers."
    consumes = volume("size")
    conflicts = (VOLUME_SIZE,)
    charges = charges.volume("size")
    content = "the data on the volume"
    readers = {"image": _image, "read_only": _is_read_only}
    collection = Collection(
        "cinder", "/volumes", "volume", "volumes", list_path="/volumes/detail", owner=None, whole=True
    )
    waits = Waiter.until(
        "available", pending=("creating", "restoring-backup", "downloading"), failed=("error", "error_restoring")
    )
    deleting = Waiter.until(
        "deleted",
        pending=("deleting", "available", "detaching", "in-use", "error", "reserved"),
        failed=("error_deleting",),
    )
    snapshot_on_delete = True
    copy = VolumeBackup()

    def configure(self, options: Mapping[str, Any]) -> None:
        self.snapshot_on_delete = options.get("backups_enabled", True)

    def lost_content(self, properties: Mapping[str, object], changed: Several[str] | None = None) -> str:
        """A backup that is restored to the volume replaces its content."""
        if changed is not None:
            return f"{self.content} since the backup" if "backup_id" in changed and properties.get("backup_id") else ""
        return self.content

    properties = {
        "availability_zone": Property(description="The availability zone of the volume."),
        "size": Property(
            Type.INTEGER,
            "Size in GiB; it can be increased, not decreased.",
            constraints=between(1),
            change=Change.UPDATE,
        ),
        "snapshot_id": Property(
            description="The snapshot to create the volume from.", constraints=custom("cinder.snapshot")
        ),
        "backup_id": Property(
            description="The backup to create the volume from, or to restore to it.",
            constraints=custom("cinder.backup"),
            change=Change.UPDATE,
            wire=NOT_SENT,
            live=never("the service does not show which backup was restored"),
        ),
        "name": Property(description="Name of the volume.", change=Change.UPDATE),
        "description": Property(description="Description of the volume.", change=Change.UPDATE),
        "volume_type": Property(
            description="Type of the volume, by name or ID, which determines the storage back end.",
            constraints=custom("cinder.vtype"),
            change=Change.UPDATE,
        ),
        "metadata": Property(
            Type.MAP,
            "Metadata of the volume, as keys and values.",
            default={},
            change=Change.UPDATE,
            live=Live(LiveSource.LISTED, shared=True),
        ),
        "imageRef": Property(
            description="Older name of image.",
            support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.1")),
        ),
        "image": Property(
            description="The image to create the volume from, by name or ID.",
            wire="imageRef",
            reference="glance.image",
            replaces="imageRef",
            live=LISTED,
        ),
        "source_volid": Property(description="The volume to copy.", constraints=custom("cinder.volume")),
        "scheduler_hints": Property(
            Type.MAP,
            "Scheduler hints, as keys and values.",
            support=Support(version="2015.1"),
            wire=NOT_SENT,
            live=never("the service does not show hints"),
        ),
        "read_only": Property(
            Type.BOOLEAN,
            "Whether the volume is read-only for servers.",
            change=Change.UPDATE,
            support=Support(version="5.0.0"),
            wire=NOT_SENT,
            live=LISTED,
        ),
        "multiattach": Property(
            Type.BOOLEAN,
            "Has no effect: the volume's type determines whether it can be attached to several servers.",
            default=False,
            support=Support("HIDDEN", "13.0.0", previous=Support(version="6.0.0")),
            wire=NOT_SENT,
            live=managed("it has no effect"),
        ),
    }

    attributes = {
        "availability_zone": Attribute("The volume's availability zone.", Type.STRING),
        "size": Attribute("Size in GiB.", Type.STRING),
        "snapshot_id": Attribute("The snapshot that the volume was created from.", Type.STRING),
        "display_name": Attribute("Name of the volume.", Type.STRING, path="name"),
        "display_description": Attribute("Description of the volume.", Type.STRING, path="description"),
        "volume_type": Attribute("Type of the volume.", Type.STRING),
        "metadata": Attribute("Metadata, as a JSON string.", Type.STRING),
        "metadata_values": Attribute("Metadata.", Type.MAP, path="metadata"),
        "source_volid": Attribute("The volume that it was copied from.", Type.STRING),
        "status": Attribute("Status of the volume.", Type.STRING, live=True),
        "created_at": Attribute("Creation time of the volume.", Type.STRING),
        "bootable": Attribute("Whether a server can boot from it.", Type.STRING),
        "encrypted": Attribute("Whether the volume is encrypted.", Type.STRING),
        "attachments": Attribute(
            "The attachments to servers, as a string.",
            Type.STRING,
            live=True,
            support=Support("DEPRECATED", "9.0.0", previous=Support(version="2015.1")),
        ),
        "attachments_list": Attribute(
            "The attachments to servers.",
            Type.LIST,
            path="attachments",
            live=True,
            support=Support(version="9.0.0"),
        ),
        "multiattach": Attribute(
            "Whether the volume can be attached to several servers.", Type.BOOLEAN, support=Support(version="6.0.0")
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("backup_id") is not None:
            return
        given = [name for name in _SOURCES if properties.get(name) is not None]
        listed = ", ".join(_SOURCES)
        if properties.get("size") is not None:
            if len(given) > 1:
                yield f"at most one of {listed} may be given"
        elif len(given) != 1 or given == ["image"]:
            yield "without a size, exactly one of snapshot_id and source_volid must be given, and no image"

    # -- creating ---------------------------------------------------------------------------------------------

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        return {key: value for key, value in body.items() if value != "" or key != "availability_zone"}

    async def begin(self, call: Call) -> dict[str, Any]:
        backup = call.properties.get("backup_id")
        if backup is not None and not await call.cloud.supports("cinder", CREATES_FROM_BACKUP):
            return await self._begin_restore(call)
        body: dict[str, Any] = {"volume": await self.create_body(call)}
        if backup is not None:
            sources = {self.properties[name].wire or name for name in _SOURCES}
            body["volume"] = {key: value for key, value in body["volume"].items() if key not in sources}
            body["volume"]["backup_id"] = backup
        if hints := scheduler_hints(call):
            body["OS-SCH-HNT:scheduler_hints"] = hints
        return self.collection.unwrap(await call.cloud.post("cinder", "/volumes", body))

    async def _begin_restore(self, call: Call) -> dict[str, object]:
        """Restore to a new volume, with its name in the request so that it can be found after an interruption.

        The volume has the default type, and the size of the backup.
        """
        body = {"restore": {"name": call.properties.get("name") or call.physical_name}}
        made = await call.cloud.post("cinder", f"/backups/{call.properties['backup_id']}/restore", body)
        return {"id": made["restore"]["volume_id"], "status": "restoring-backup"}

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        """Compare without the type, which Cinder always shows by name; of a restored volume, only the name."""
        compared = {"name": body["name"]} if call.properties.get("backup_id") is not None else dict(body)
        compared.pop("volume_type", None)
        return super().made_by(call, compared, item)

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            outcome = await super().create(call)
            return InProgress(after=0.0, physical_id=outcome.physical_id) if isinstance(outcome, Done) else outcome
        steps: list[Step] = [super().create]
        if call.properties.get("backup_id") is not None:
            steps += [describe, set_metadata]
        if call.properties.get("read_only") is not None:
            steps.append(set_read_only)
        return await in_turn(call, steps)

    # -- updating -------------------------------------------------------------------------------------------

    async def update(self, call: Call) -> Outcome:
        before, after = (call.previous or {}).get("size"), call.changed.get("size")
        if before is not None and after is not None and after < before:
            raise NotSupported(f"the size of a volume cannot be decreased from {before} to {after} GiB")
        return await in_turn(call, change_steps(call))

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        shown = await self.show(call) if call.physical_id is not None else None
        return shown is None or shown["status"] in ("error", "deleting")

    # -- deleting -------------------------------------------------------------------------------------------

    async def used_by(self, call: Call) -> Mapping[str, str]:
        """Return the servers that the volume is attached to, and its snapshots."""
        shown = await self.show(call) if call.physical_id is not None else None
        if shown is None:
            return {}
        found = {each["server_id"]: f"server {each['server_id']}" for each in shown.get("attachments") or ()}
        params = {"volume_id": str(call.physical_id)}
        for each in await call.cloud.list("cinder", "/snapshots", "snapshots", params):
            found[each["id"]] = f"snapshot {each['name']!r} {each['id']}" if each["name"] else f"snapshot {each['id']}"
        return found

    async def delete(self, call: Call) -> Outcome:
        try:
            return await super().delete(call)
        except CloudError as error:
            if error.status != 400:
                raise
            shown = await self.show(call)
            if shown is None:
                return Done()
            if shown["status"] in _BUSY:
                return InProgress(after=self.deleting.pause(call.elapsed))
        return await super().delete(call)  # the volume may have become ready between the two requests

    async def snapshot_delete(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return Done()
        return await in_turn(call, (make_backup, self.delete))

    # -- reading --------------------------------------------------------------------------------------------

    async def check(self, call: Call) -> Outcome:
        shown = await self.show(call) if call.physical_id is not None else None
        if shown is None:
            return Failed("the volume does not exist", "NotFound")
        status = shown["status"]
        return Done() if status in ("available", "in-use") else Failed(f"the volume is in status {status}", "Error")

    async def read_attributes(self, call: Call, keys: Several[AttributeKey]) -> dict[AttributeKey, object]:
        values = await super().read_attributes(call, keys)
        return {key: _presented(key, value) for key, value in values.items()} if call.physical_id else values


def _presented(key: AttributeKey, value: object) -> object:
    """Convert an attribute's value to a string, except for those that keep their type."""
    if key[0] in _UNCONVERTED:
        return value
    return json.dumps(value) if key == ("metadata",) else str(value)
