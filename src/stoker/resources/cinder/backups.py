"""Backing a volume up before it goes (deletion policy Snapshot; facts: cinder.yaml, snapshot_deletion_policy)."""

from __future__ import annotations

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import Call
from stoker.plugins.waiting import Waiter

BACKED_UP = Waiter.until("available", pending=("creating",), failed=("error",))


async def make_backup(call: Call) -> Outcome:
    """The step that makes a backup of the volume and waits for it; a volume that is gone has none.

    The backup bears the resource's physical name, by which an interrupted entry finds it again.
    """
    backup = call.progress.get("backup") or await _begun(call) or await _begin(call)
    if backup is None:
        return Done()
    if "backup" not in call.progress:
        call.progress["backup"] = call.data["backup_id"] = backup
        return Again(after=BACKED_UP.pause(call.elapsed))
    shown = (await call.cloud.get("cinder", f"/backups/{backup}"))["backup"]
    return BACKED_UP.judge(shown["status"], shown.get("fail_reason"), call.elapsed)


async def _begun(call: Call) -> str | None:
    listed = await call.cloud.list("cinder", "/backups", "backups", {"name": call.physical_name})
    return next((str(item["id"]) for item in listed if item.get("name") == call.physical_name), None)


async def _begin(call: Call) -> str | None:
    body = {"volume_id": call.physical_id, "force": False, "name": call.physical_name}
    try:
        made = await call.cloud.post("cinder", "/backups", {"backup": body})
    except CloudError as error:
        if error.not_found:
            return None
        raise
    return str(made["backup"]["id"])
