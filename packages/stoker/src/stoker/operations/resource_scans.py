"""Scans of a project: which objects it has, which of them stacks own, and which belong together.

A scan runs in the background, with the credentials of its caller, so that no other engine can take it over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sqlalchemy.exc import IntegrityError

from stoker.base.context import RequestContext
from stoker.base.errors import ActionInProgress, BadValue, EntityNotFound
from stoker.base.ids import new_id
from stoker.cloud.session import Cloud
from stoker.contract.resource_scans import (
    ListScannedObjects,
    ListScans,
    ScanIdentity,
    ScannedObjects,
    ScanView,
    ShowScan,
    StartScan,
)
from stoker.engine.generation.inventory import ScannedObject, scanned_objects
from stoker.engine.generation.scan import Scanned, find_owners, scan, scanned_types
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.operations.background_work import has_living_engine, reason_of
from stoker.operations.template_generation import types_to_generate
from stoker.store import claims, resource_scans
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS
from stoker.store.survey_records import ResourceScan
from stoker_foundation.patterns.linear import fits_wildcards

EXPIRED = "EXPIRED"
KEPT_SECONDS = 30 * 86400.0
"""Seconds for which the objects of a scan are kept."""
LONGEST = 900.0
"""Seconds after which a scan fails."""
_MOST_FILTERS = 100
_LONGEST_FILTER = 100


async def resource_scan_start(services: RecordingServices, context: RequestContext, request: StartScan) -> ScanIdentity:
    """Start a scan. Raises ActionInProgress if one of the project is in progress, BadValue for wrong filters."""
    types = types_to_generate(services, context)
    type_names = _selected_types(list(types), request.filters)
    row = ResourceScan(
        id=new_id(),
        project_id=context.project_id,
        scanning=context.project_id,
        engine=services.id,
        status=IN_PROGRESS,
        reason="",
        types=json.dumps(type_names),
        filtered=None if request.filters is None else json.dumps(list(request.filters)),
        types_read=0,
        objects_read=0,
        body=None,
        created_at=services.clock.now(),
        ended_at=None,
    )
    cloud = await services.credentials.of_caller(context)
    await _end_abandoned(services, context.project_id)
    oldest = row.created_at - KEPT_SECONDS
    forget = partial(resource_scans.forget_older, project_id=context.project_id, oldest=oldest)
    try:
        await services.journal.commit(Batch().add(row).then(forget))
    except IntegrityError as error:
        raise ActionInProgress("A scan of the project is in progress; start another one when it has ended.") from error
    scanned = scanned_types(types, type_names, context.project_id)
    services.background.spawn(_scan(services, context, row, cloud, scanned))
    return {"id": row.id}


def _selected_types(types: Sequence[str], filters: Sequence[str] | None) -> list[str]:
    if filters is None:
        return sorted(types)
    if len(filters) > _MOST_FILTERS or any(not 0 < len(each) <= _LONGEST_FILTER for each in filters):
        raise BadValue(
            f"A scan has at most {_MOST_FILTERS} filters of types, of 1 to {_LONGEST_FILTER} characters each."
        )
    for each in filters:
        if not any(fits_wildcards(each, name) for name in types):
            raise BadValue(f"No resource type whose objects can be scanned fits the filter {each}.")
    return sorted(name for name in types if any(fits_wildcards(each, name) for each in filters))


async def _end_abandoned(services: RecordingServices, project_id: str) -> None:
    """End the scan of an engine that has died, so that another one can start."""
    row = await services.database.read(resource_scans.in_progress, project_id)
    if row is not None and not await has_living_engine(services, row.engine):
        await services.journal.commit(Batch().change(_abandoned(row)))


def _abandoned(row: ResourceScan) -> ResourceScan:
    return replace(row, scanning=None, status=FAILED, reason="The engine that scanned the project has stopped.")


async def _scan(
    services: RecordingServices, context: RequestContext, row: ResourceScan, cloud: Cloud, scanned: list[Scanned]
) -> None:
    async def progress(types: int, objects: int) -> None:
        row.types_read, row.objects_read = min(types, len(json.loads(row.types))), objects
        await services.journal.commit(Batch().change(replace(row)))

    try:
        found = await scan(cloud, scanned, lambda each: True, progress=progress, longest=LONGEST)
        await find_owners(services.database, found.found, context.project_id, context.user_id)
        objects = await scanned_objects(found.found, context.project_id)
        row.body = services.sealer.seal([each.to_data() for each in objects])
        row.status, row.objects_read = COMPLETE, len(found.found)
        row.reason = "; ".join(f"{', '.join(each.types)} could not be read: {each.reason}" for each in found.unread)
    except Exception as error:
        row.status, row.reason = FAILED, reason_of(error, f"the scan {row.id}")
    row.scanning, row.ended_at = None, services.clock.now()
    await services.journal.commit(Batch().change(row))


async def resource_scan_show(services: EngineServices, context: RequestContext, request: ShowScan) -> ScanView:
    """Return the progress or the result of a scan. Raises EntityNotFound."""
    row = await _found(services, context, request.scan_id)
    return _view(row, len(_objects(services, row)))


async def resource_scan_list(
    services: EngineServices, context: RequestContext, request: ListScans
) -> Sequence[ScanView]:
    """Return the scans of the project, newest first."""
    now = services.clock.now()
    rows = await services.database.read(resource_scans.of_project, context.project_id)
    alive = await services.database.read(claims.living, now)
    return [_view(_now(row, now, row.engine in alive), 0) for row in rows]


async def resource_scan_objects(
    services: EngineServices, context: RequestContext, request: ListScannedObjects
) -> ScannedObjects:
    """Return objects of a completed scan. Raises EntityNotFound, and ActionInProgress if it has not ended."""
    row = await _found(services, context, request.scan_id)
    if row.status == IN_PROGRESS:
        raise ActionInProgress(f"The resource scan {row.id} is in progress; list its resources when it has ended.")
    if row.status != COMPLETE:
        raise EntityNotFound(f"The resource scan {row.id} has no resources, as its status is {row.status}.")
    objects = _objects(services, row)
    selected = [each for each in _beside(objects, request) if _selects(request)(each)]
    page = selected[request.start : request.start + request.limit]
    return {
        "objects": [
            {"resource_type": each.type_name, "physical_resource_id": each.id, "managed": each.managed} for each in page
        ],
        "total": len(selected),
    }


def _beside(objects: Sequence[ScannedObject], request: ListScannedObjects) -> Sequence[ScannedObject]:
    """Return the objects beside others, if the request names these. Raises BadValue for those that do not exist."""
    if request.related_to is None:
        return objects
    numbers = {(each.type_name, each.id): number for number, each in enumerate(objects)}
    selected: set[int] = set()
    for type_name, identifier in request.related_to:
        if (type_name, identifier) not in numbers:
            raise BadValue(f"The resource scan has no object {identifier} of the type {type_name}.")
        selected.add(numbers[type_name, identifier])
    beside = {other for number in selected for other in objects[number].related} - selected
    return [objects[number] for number in sorted(beside)]


def _selects(request: ListScannedObjects) -> Callable[[ScannedObject], bool]:
    def selects(each: ScannedObject) -> bool:
        tagged = any(request.tag_key in (None, key) and request.tag_value in (None, value) for key, value in each.tags)
        return (
            request.identifier in (None, each.id)
            and each.type_name.startswith(request.type_prefix or "")
            and (tagged or (request.tag_key is None and request.tag_value is None))
        )

    return selects


async def _found(services: EngineServices, context: RequestContext, identifier: str) -> ResourceScan:
    """Return a scan of the project as it is now. Raises EntityNotFound."""
    row = await services.database.read(resource_scans.by_id, context.project_id, identifier)
    if row is None:
        raise EntityNotFound(f"There is no resource scan {identifier}.")
    return _now(row, services.clock.now(), row.status != IN_PROGRESS or await has_living_engine(services, row.engine))


def _now(row: ResourceScan, now: float, is_looked_after: bool) -> ResourceScan:
    if row.status == IN_PROGRESS:
        return row if is_looked_after else _abandoned(row)
    return replace(row, status=EXPIRED, body=None) if now - row.created_at > KEPT_SECONDS else row


def _objects(services: EngineServices, row: ResourceScan) -> list[ScannedObject]:
    return [] if row.body is None else [ScannedObject.of_data(each) for each in services.sealer.open(row.body)]


def _view(row: ResourceScan, objects: int) -> ScanView:
    return {
        "id": row.id,
        "project_id": row.project_id,
        "status": row.status,
        "reason": row.reason,
        "filters": None if row.filtered is None else json.loads(row.filtered),
        "types": json.loads(row.types),
        "types_read": row.types_read,
        "objects_read": row.objects_read,
        "objects": objects,
        "started_at": row.created_at,
        "ended_at": row.ended_at,
    }
