"""Drift detection: find and report objects of a stack that were changed outside of it. Nothing is corrected.

The detection for a whole stack runs in the background, and its result is stored. A request for the status takes over
a detection whose engine has died.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import TypeVar

from stoker.base.context import RequestContext
from stoker.base.errors import ActionInProgress, EntityNotFound, ResourceNotFound
from stoker.contract.drift import (
    DetectDrift,
    DetectResourceDrift,
    DriftStatus,
    ListDrift,
    ShowDriftDetection,
)
from stoker.contract.request import Reference
from stoker.contract.resources import StackId
from stoker.contract.views import DriftSummary, JSONObject
from stoker.engine.inspection.comparison import NOT_CHECKED
from stoker.engine.inspection.detections import (
    comparisons_data,
    known_drift,
    new_detection,
    note_progress,
    progress_data,
    record_of,
    reports_of,
    settle,
)
from stoker.engine.inspection.drift import DRIFTED, DriftComparer, comparers_of, drift_of, is_unfinished, overall_of
from stoker.engine.inspection.stack_reader import Reader
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.operations.background_work import has_living_engine, reason_of
from stoker.operations.lookup import find_stack
from stoker.store import drifts, queries
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Stack
from stoker.store.survey_records import DriftDetection
from stoker_foundation.clock import sleep

Result = TypeVar("Result")

_PROGRESS_SECONDS = 1.0
"""Time after which a detection records how far it is."""


async def drift_detect(services: RecordingServices, context: RequestContext, request: DetectDrift) -> StackId:
    """Begin to detect drift of a stack's resources, or of those with the `names`; return the id of the detection."""
    stack = await _idle_stack(services, context, request.ref, request.names or ())
    detection = new_detection(services, stack, request.names)
    await services.journal.commit(Batch().add(detection))
    services.background.spawn(_detect(services, detection, stack))
    return {"id": detection.id}


async def drift_detect_resource(
    services: RecordingServices, context: RequestContext, request: DetectResourceDrift
) -> JSONObject:
    """Detect drift of one resource now; keep the known drift of the others."""
    stack = await _idle_stack(services, context, request.ref, [request.name])
    comparer = (await comparers_of(services, stack))[stack.id]
    reports = await drift_of(comparer, [request.name], await reports_of(services, stack.id))
    found = next((each for each in reports if each["name"] == request.name), None)
    if found is None:
        raise _unknown(request.name, stack)
    detection = new_detection(services, stack, [request.name])
    settle(services, detection, reports, unfinished=is_unfinished(stack))
    await services.journal.commit(Batch().add(detection).then(partial(drifts.forget_older, stack_id=stack.id)))
    return _view(found, stack)


async def drift_status(
    services: RecordingServices, context: RequestContext, request: ShowDriftDetection
) -> DriftStatus:
    """Return the progress or the result of a detection. Raises EntityNotFound."""
    detection = await services.database.read(drifts.by_id, request.detection_id)
    if detection is None or detection.project_id != context.project_id:
        raise EntityNotFound(f"There is no drift detection {request.detection_id}.")
    stack = await services.database.read(queries.stack_by_id, detection.stack_id)
    if stack is None:
        raise EntityNotFound(f"The stack of the drift detection {request.detection_id} was deleted.")
    if detection.status == IN_PROGRESS and not await has_living_engine(services, detection.engine):
        detection.engine = services.id
        await services.journal.commit(Batch().change(detection))
        services.background.spawn(_detect(services, detection, stack))
    body = services.sealer.open(detection.body)
    found = body.get("found", [])
    return {
        "id": detection.id,
        "stack_id": stack.id,
        "stack_name": stack.name,
        "project_id": stack.project_id,
        "status": detection.status,
        "reason": detection.reason,
        "drift": overall_of(body) if detection.status == COMPLETE else None,
        "drifted": sum(item["status"] in DRIFTED for item in found),
        "time": detection.created_at,
        "progress": body.get("progress"),
    }


async def drift_list(services: EngineServices, context: RequestContext, request: ListDrift) -> Sequence[JSONObject]:
    """Return the result of the last detection for each checked resource, in creation order."""
    stack = await find_stack(services, context, request.ref, deleted=True)
    last = (await services.database.read(drifts.latest, [stack.id])).get(stack.id)
    known = services.sealer.open(last.body)["found"] if last is not None else []
    return [_view(item, stack) for item in known]


async def drift_summaries(services: EngineServices, stack_ids: Sequence[str]) -> dict[str, DriftSummary]:
    """Return for each stack whether it has drifted, and the time of the last detection."""
    known = await services.database.read(drifts.latest_results, stack_ids)
    parts = [name for name, (result, _) in known.items() if result is None]
    bodies = await services.database.read(drifts.latest, parts) if parts else {}
    summaries: dict[str, DriftSummary] = {name: {"status": NOT_CHECKED, "time": None} for name in stack_ids}
    for name, (result, time) in known.items():
        summary: DriftSummary = {"status": result or "", "time": time}
        summaries[name] = summary if result is not None else known_drift(services, bodies[name])
    return summaries


async def _idle_stack(services: EngineServices, context: RequestContext, ref: Reference, names: Sequence[str]) -> Stack:
    """Return a stack that has these resources and no running operation. Raises ActionInProgress, ResourceNotFound."""
    stack = await find_stack(services, context, ref)
    if stack.status == IN_PROGRESS:
        raise ActionInProgress(
            f"Stack {stack.name} has an action ({stack.action}) in progress; detect drift when it has finished."
        )
    known = (await Reader(services).view(stack)).current if names else {}
    for name in names:
        if name not in known:
            raise _unknown(name, stack)
    return stack


def _unknown(name: str, stack: Stack) -> ResourceNotFound:
    return ResourceNotFound(f"The Resource ({name}) could not be found in Stack {stack.name}.")


async def _detect(services: RecordingServices, detection: DriftDetection, stack: Stack) -> None:
    names = services.sealer.open(detection.body)["names"]
    try:
        known = await reports_of(services, stack.id) if names is not None else {}
        record = await record_of(services, stack)
        comparer = (await comparers_of(services, stack))[stack.id]
        reports = await _watched(services, detection, comparer, drift_of(comparer, names, known))
        facts = {
            "progress": progress_data(comparer.progress),
            "comparisons": comparisons_data(comparer),
            "record": record,
        }
        settle(services, detection, reports, unfinished=is_unfinished(stack), **facts)
    except Exception as error:
        detection.status, detection.reason = FAILED, reason_of(error, f"drift detection for stack {stack.name}")
    await services.journal.commit(Batch().change(detection).then(partial(drifts.forget_older, stack_id=stack.id)))


async def _watched(
    services: RecordingServices, detection: DriftDetection, comparer: DriftComparer, work: Awaitable[Result]
) -> Result:
    """Return the result of the work of a detection; record from time to time how far it is."""
    task = asyncio.ensure_future(work)
    try:
        while True:
            pause = asyncio.ensure_future(sleep(services.clock, _PROGRESS_SECONDS))
            await asyncio.wait({task, pause}, return_when=asyncio.FIRST_COMPLETED)
            pause.cancel()
            if task.done():
                return task.result()
            note_progress(services, detection, comparer.progress)
            await services.journal.commit(Batch().change(detection))
    finally:
        task.cancel()


def _view(item: dict[str, object], stack: Stack) -> dict[str, object]:
    # Detections of earlier releases have neither reasons nor what was ignored.
    known = {"reason": "", "ignored": [], **item}
    return {**known, "stack_id": stack.id, "stack_name": stack.name, "project_id": stack.project_id}
