"""Results of drift detections, as they are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.base.ids import new_id
from stoker.contract.views import DriftSummary
from stoker.engine.inspection.drift import overall_of
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


def settle(services: EngineServices, detection: DriftDetection, found: Sequence[dict[str, Any]], **facts: Any) -> None:
    """Set the result of a detection: reports of all resources of the stack. `facts` are recorded with it.

    A detection of a part of the resources has no result of its own: see `known_drift`.
    """
    body = {**services.sealer.open(detection.body), **facts, "found": list(found)}
    detection.body, detection.status = services.sealer.seal(body), COMPLETE
    detection.result = overall_of(body) if body["names"] is None else None


def known_drift(services: EngineServices, detection: DriftDetection) -> DriftSummary:
    """Return the drift status of a stack after a completed detection, and the time of the oldest look at a resource."""
    body = services.sealer.open(detection.body)
    times = [each["time"] for each in body["found"] if each["time"] is not None] if body.get("names") else []
    return {"status": overall_of(body), "time": min(times, default=detection.created_at)}


async def last_found(services: EngineServices, stack_id: str) -> Mapping[str, Any]:
    """Return what the last completed detection of a stack has recorded; empty if there is none."""
    last = (await services.database.read(drifts.latest, [stack_id])).get(stack_id)
    body: Mapping[str, Any] = services.sealer.open(last.body) if last is not None else {}
    return body


async def reports_of(services: EngineServices, stack_id: str) -> dict[str, dict[str, Any]]:
    """Return the reports of the last completed detection of a stack, by the names of the resources."""
    return {each["name"]: each for each in (await last_found(services, stack_id)).get("found", ())}
