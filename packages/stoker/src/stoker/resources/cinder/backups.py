"""Backups of a volume, for snapshots of stacks and for the deletion policy Snapshot."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, ContentCopy, Snapshot, Waiter
from stoker.resources.cinder.volume_changes import bound_to
from stoker.resources.nova.volume_attachments import boots_from, volume_shown

BACKED_UP = Waiter.until("available", pending=("creating",), failed=("error",))
_DELETED = Waiter.until(
    "deleted", pending=("deleting", "available", "error", "creating", "restoring"), failed=("error_deleting",)
)
_BUSY = ("creating", "restoring", "deleting")
"""Statuses of a backup in which Cinder does not begin to delete it."""


class VolumeBackup(ContentCopy):
    """The backup of a volume in a snapshot; the volume may be in use."""

    type_name = "OS::Cinder::Volume"
    service = "cinder"
    noted_as = "backup_id"
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The backup has the physical name, among the project's backups.",
    )

    def of(self, resource: Snapshot) -> Mapping[str, object]:
        return {"volume": resource.physical_id}

    def restored(self, properties: Mapping[str, object], copy: Snapshot) -> Mapping[str, object]:
        """Return the properties with the backup; a volume that is created again is created from the backup alone."""
        return {**properties, "backup_id": copy.physical_id}

    async def obstacle(self, call: Call) -> str:
        volume = str(call.physical_id)
        shown = await volume_shown(call, volume)
        servers = [row["server_id"] for row in shown["attachments"]] if shown is not None else []
        bound = [server for server in servers if await boots_from(call, server, volume)]
        return bound_to(bound[0]) if bound else ""

    async def find(self, call: Call) -> str | None:
        return await _begun(call)

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            backup = await _begin(call, call.properties["volume"], force=True)
            if backup is None:
                return Failed(f"volume {call.properties['volume']} does not exist; it cannot be backed up", "NotFound")
            return InProgress(after=BACKED_UP.pause(call.elapsed), physical_id=backup)
        return await _read_backup(call, call.physical_id)

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return Done()
        path = f"/backups/{call.physical_id}"
        answer = await call.cloud.request("GET", "cinder", path, ok=(404,))
        if answer.status == 404:
            return Done()
        shown = answer.body["backup"]
        if call.progress.get("sent") or shown["status"] in _BUSY:
            return _DELETED.outcome(shown["status"], shown.get("fail_reason"), call.elapsed)
        await call.cloud.delete("cinder", path, ok=(404,))
        call.progress["sent"] = True
        return InProgress(after=_DELETED.pause(call.elapsed))


async def make_backup(call: Call) -> Outcome:
    """Create a backup of the volume and wait for it, as a step; do nothing if the volume does not exist.

    The backup has the resource's physical name, by which it is found after an interruption.
    """
    backup = call.progress.get("backup") or await _begun(call) or await _begin(call, call.physical_id, force=False)
    if backup is None:
        return Done()
    if "backup" not in call.progress:
        call.progress["backup"] = call.data["backup_id"] = backup
        return InProgress(after=BACKED_UP.pause(call.elapsed))
    return await _read_backup(call, backup)


async def _read_backup(call: Call, backup: str) -> Outcome:
    shown = (await call.cloud.get("cinder", f"/backups/{backup}"))["backup"]
    return BACKED_UP.outcome(shown["status"], shown.get("fail_reason"), call.elapsed)


async def _begun(call: Call) -> str | None:
    listed = await call.cloud.list("cinder", "/backups", "backups", {"name": call.physical_name})
    return next((str(item["id"]) for item in listed if item.get("name") == call.physical_name), None)


async def _begin(call: Call, volume: str | None, *, force: bool) -> str | None:
    """Request the backup; return its ID, or None if the volume does not exist. `force` allows a volume in use."""
    body = {"volume_id": volume, "force": force, "name": call.physical_name}
    try:
        made = await call.cloud.post("cinder", "/backups", {"backup": body})
    except CloudError as error:
        if error.status == 404:
            return None
        raise
    return str(made["backup"]["id"])
