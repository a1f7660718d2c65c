"""Results of drift detections, and how far they are, as they are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.base.errors import BadValue, EntityNotFound
from stoker.base.ids import new_id
from stoker.contract.views import DriftSummary
from stoker.engine.inspection.comparison import Comparison, DetectionResult
from stoker.engine.inspection.drift import DetectionProgress, DriftComparer, overall_of
from stoker.engine.records.services import EngineServices
from stoker.store import drifts, fingerprints
from stoker.store.records import COMPLETE, IN_PROGRESS, Stack
from stoker.store.survey_records import DriftDetection


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


def settle(
    services: EngineServices, detection: DriftDetection, found: Sequence[dict[str, Any]], **facts: object
) -> None:
    """Set the result of a detection: reports of all resources of the stack. `facts` are recorded with it.

    A detection of a part of the resources has no result of its own: see `known_drift`.
    """
    body = {**services.sealer.open(detection.body), **facts, "found": list(found)}
    detection.body, detection.status = services.sealer.seal(body), COMPLETE
    detection.result = overall_of(body) if body["names"] is None else None


def note_progress(services: EngineServices, detection: DriftDetection, progress: DetectionProgress) -> None:
    """Set how far a detection is."""
    body = services.sealer.open(detection.body)
    detection.body = services.sealer.seal({**body, "progress": progress_data(progress)})


def progress_data(progress: DetectionProgress) -> dict[str, object]:
    """Return how far a look is: the numbers of objects and of compared ones, and the resources that differ."""
    return {"resources": progress.total, "compared": len(progress.comparisons), "differing": progress.differing}


async def record_of(services: EngineServices, stack: Stack) -> str:
    """Return a digest of what is recorded of a tree of stacks; what was found is outdated as soon as it differs."""
    return services.sealer.digest(await services.database.read(fingerprints.tree, stack.root_id))


def comparisons_data(comparer: DriftComparer) -> dict[str, object]:
    """Return the comparisons of a look as JSON data, by the uuid of the resource.

    A resource with values that an update has not brought back is left out: plans compare it with those of the update.
    """
    found: dict[str, object] = {}
    for state in comparer.compared_states(comparer.states()):
        comparison = comparer.progress.comparisons.get(state.row.uuid)
        if comparison is not None and not state.stored.deployed:
            keeps_recorded = bool(state.stored.definition.get("ignore_drift"))
            found[state.row.uuid] = comparison.to_data(keeps_recorded=keeps_recorded)
    return found


async def known_comparisons(services: EngineServices, stack: Stack, detection_id: str) -> DetectionResult:
    """Return what a detection of a whole stack has found; nothing if the stack has changed since then.

    Raises EntityNotFound if the stack has no such detection, BadValue if it has no result for the whole stack.
    """
    detection = await services.database.read(drifts.by_id, detection_id)
    if detection is None or detection.stack_id != stack.id:
        raise EntityNotFound(f"There is no drift detection {detection_id} of stack {stack.name}.")
    body = services.sealer.open(detection.body)
    if detection.status != COMPLETE or body["names"] is not None:
        raise BadValue(f"The drift detection {detection_id} has no result for the whole stack {stack.name}.")
    known = body.get("comparisons", {}) if body.get("record") == await record_of(services, stack) else {}
    return DetectionResult(detection.created_at, {uuid: Comparison.of_data(data) for uuid, data in known.items()})


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


async def reports_of(services: EngineServices, stack_id: str) -> dict[str, dict[str, object]]:
    """Return the reports of the last completed detection of a stack, by the names of the resources."""
    return {each["name"]: each for each in (await last_found(services, stack_id)).get("found", ())}
