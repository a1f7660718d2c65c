"""Results of drift detections, as they are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.base.ids import new_id
from stoker.engine.inspection.drift import overall
from stoker.engine.records.services import EngineServices
from stoker.store import drifts
from stoker.store.records import COMPLETE, IN_PROGRESS, DriftDetection, Stack


def new_detection(services: EngineServices, stack: Stack, names: Sequence[str] | None = None) -> DriftDetection:
    """Return a detection that has begun, of a stack or of those of its resources that have the names."""
    return DriftDetection(
        id=new_id(),
        stack_id=stack.id,
        project_id=stack.project_id,
        engine=services.id,
        status=IN_PROGRESS,
        reason="",
        body=services.sealer.seal({"names": names}),
        created_at=services.clock.now(),
    )


async def settle(
    services: EngineServices, detection: DriftDetection, found: Sequence[dict[str, Any]], **facts: Any
) -> None:
    """Set the result of a detection, and keep the known drift of the resources that it did not check.

    `facts` are what else is recorded with it.
    """
    known = {item["name"]: item for item in found}
    body = services.sealer.open(detection.body)
    if body["names"] is not None:
        last = await last_found(services, detection.stack_id)
        known = {item["name"]: item for item in last.get("found", ())} | known
    detection.body = services.sealer.seal({**body, **facts, "found": list(known.values())})
    detection.status, detection.result = COMPLETE, overall([item["status"] for item in known.values()])


async def last_found(services: EngineServices, stack_id: str) -> Mapping[str, Any]:
    """Return what the last completed detection of a stack has recorded; empty if there is none."""
    last = (await services.database.read(drifts.latest, [stack_id])).get(stack_id)
    body: Mapping[str, Any] = services.sealer.open(last.body) if last is not None else {}
    return body
