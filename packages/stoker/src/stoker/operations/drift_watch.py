"""What engines do about the drift of a stack by themselves: the stack's choice, and the last look."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue
from stoker.contract.drift import ChangeDriftWatch, DriftWatch, ShowDriftWatch
from stoker.engine.inspection.detections import known_drift
from stoker.engine.inspection.drift import DRIFTED, is_open
from stoker.engine.ownership.drift_schedule import Mode, Repair
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.operations.lookup import find_stack
from stoker.store import drifts, settings
from stoker.store.journal import Batch
from stoker.store.records import Stack

_FORMER_INEFFECTIVE = "fruitless"
"""`Repair.INEFFECTIVE` in results that earlier builds have stored."""


async def drift_watch_show(services: EngineServices, context: RequestContext, request: ShowDriftWatch) -> DriftWatch:
    """Return the mode of a stack, and what the last look at it has found."""
    return await _shown(services, await find_stack(services, context, request.ref))


async def drift_watch_change(
    services: RecordingServices, context: RequestContext, request: ChangeDriftWatch
) -> DriftWatch:
    """Set the mode of a stack. Raises BadValue for an unknown one, and for a nested stack."""
    stack = await find_stack(services, context, request.ref)
    if request.mode is not None and request.mode not in set(Mode):
        raise BadValue(f"Invalid mode {request.mode!r}: it must be one of {', '.join(Mode)}.")
    if stack.parent_id is not None:
        raise BadValue(f"The mode belongs to the root stack; {stack.name} is a nested stack.")

    def change(connection: Connection) -> None:
        settings.save(connection, replace(settings.of_stack(connection, stack.id), drift_mode=request.mode))

    await services.journal.commit(Batch().then(change))
    return await _shown(services, stack)


async def _shown(services: EngineServices, stack: Stack) -> DriftWatch:
    chosen = (await services.database.read(settings.of_stack, stack.root_id)).drift_mode
    last = (await services.database.read(drifts.latest, [stack.id])).get(stack.id)
    body = services.sealer.open(last.body) if last is not None else {}
    found, repair = body.get("found", []), body.get("repair")
    last_drift = known_drift(services, last) if last is not None else None
    return {
        "mode": chosen or services.settings.drift_mode,
        "chosen": chosen,
        "interval": services.settings.drift_interval,
        "status": last_drift["status"] if last_drift is not None else None,
        "time": last_drift["time"] if last_drift is not None else None,
        "age": services.clock.now() - (last_drift["time"] or 0.0) if last_drift is not None else None,
        "drifted": [each["name"] for each in found if each["status"] in DRIFTED],
        "uncompared": [each["name"] for each in found if is_open(each)],
        "repair": Repair.INEFFECTIVE if repair == _FORMER_INEFFECTIVE else repair,
    }
