"""Make the records of the snapshots of one stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.records.services import EngineServices
from stoker.store.records import FAILED, IN_PROGRESS, StackSnapshot
from stoker.takeover.definitions import Definitions
from stoker.takeover.heat import parsed, seconds
from stoker.takeover.mapped import MappedStack, MappedTree


class SnapshotMapper:
    """Makes the records of snapshots; `now` is in seconds since the epoch."""

    def __init__(self, services: EngineServices, definitions: Definitions, now: float) -> None:
        self._services = services
        self._definitions = definitions
        self._now = now

    def add(self, tree: MappedTree, mapped: MappedStack) -> None:
        """Map the snapshots: the definitions at that time, and their documents."""
        source, stack = mapped.source, mapped.stack
        for row in source.snapshots:
            data = parsed(row["data"])
            inputs = stack.inputs
            if data is not None:
                raw = {"files": {}, "environment": {}, **data}
                mapped.earlier_inputs.append(self._definitions.inputs(source, raw, "snapshot", row["id"]))
                inputs = mapped.earlier_inputs[-1].row.id
                data["resources"] = {**(data.get("resources") or {}), **source.saved.get(row["id"], {})}
                if _has_copies(data):
                    tree.notes.append(
                        f"{stack.name}: the snapshot {row['name'] or row['id']} has images or backups, which are not "
                        "taken over; restoring it restores the definition only"
                    )
            mapped.snapshots.append(
                StackSnapshot(
                    id=row["id"],
                    stack_id=stack.id,
                    name=row["name"],
                    action=row.get("action") or "CREATE",
                    status=FAILED if row["status"] == IN_PROGRESS else row["status"],
                    reason=row["status_reason"] or "",
                    inputs=inputs,
                    body=self._services.sealer.seal({"document": data, "hidden": []}) if data is not None else None,
                    created_at=seconds(row["created_at"]) or self._now,
                )
            )


def _has_copies(document: Mapping[str, Any]) -> bool:
    """Return whether a snapshot's document names images or backups of its resources."""
    saved = [each.get("resource_data") or {} for each in document["resources"].values()]
    return any(data.get(key) for data in saved for key in ("snapshot_image_id", "backup_id"))
