"""Look for drift without a request: compare stacks with the cloud, record the result, and begin repairs.

The stacks of one project whose owner is the same are looked at together, so that one list of a service tells about all
of them. Of several engines, the one with the lowest ID looks; if two believe that they are the one, only one repair
begins, as `healing` describes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection

from stoker.base.errors import ActionInProgress, StokerError
from stoker.contract.events import EventCode
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.inspection.detections import last_found, new_detection, settle
from stoker.engine.inspection.drift import DRIFTED, DriftComparer, comparers_of, is_unfinished, overall_of
from stoker.engine.inspection.paced_reads import Pace, PacedReads
from stoker.engine.inspection.revert_plan import returning_plan
from stoker.engine.ownership.drift_schedule import (
    MOST_INEFFECTIVE,
    Mode,
    Repair,
    first_check_time,
    ineffective_repairs,
    next_check_time,
    rejection_reason,
)
from stoker.engine.ownership.healing import begin_repair, next_turn
from stoker.engine.ownership.healing_schedule import EXAMINED_OPERATIONS, SHORTEST_INTERVAL
from stoker.store import drifts, healing, queries
from stoker.store.journal import Batch
from stoker.store.records import FAILED, IN_PROGRESS, Record, Stack

LOG = logging.getLogger(__name__)

_TOGETHER = 100
"""Number of stacks that are in memory at the same time."""
_AT_ONCE = 10
"""Number of stacks that are compared at the same time, so that their results are recorded in one transaction."""
_MOST_EVENTS = 20
"""Number of events of one look; all of the resources are in its result."""


class _Group(NamedTuple):
    """Stacks that are looked at together: the project, and the credential of their owner."""

    project_id: str
    credential: str


class DriftWatch:
    """Looks at the stacks that ask for it, each at the operator's interval. `statuses` are the last results."""

    def __init__(self, components: RecordingComponents) -> None:
        settings = components.services.settings
        self._components = components
        self._pace = Pace(components.services.clock, settings.drift_calls_per_minute)
        self._due: dict[_Group, float] = {}
        self._next = 0.0
        self._busy = False
        self.statuses: dict[str, str] = {}
        self.repairs: Counter[Repair] = Counter()

    @property
    def calls(self) -> int:
        """The number of calls of services for looks."""
        return self._pace.calls

    async def run_if_due(self) -> None:
        """Look at the groups of stacks whose interval has passed; called at every heartbeat."""
        services = self._components.services
        now, interval = services.clock.now(), float(services.settings.drift_interval)
        if interval <= 0 or self._busy or now < self._next:
            return
        self._busy, self._next = True, now + SHORTEST_INTERVAL
        try:
            groups: dict[_Group, list[tuple[Stack, Mode]]] = {}
            for stack, mode in await services.database.read(healing.watched, services.settings.drift_mode):
                groups.setdefault(_Group(stack.project_id, stack.credential or ""), []).append((stack, Mode(mode)))
            known = {stack.id for members in groups.values() for stack, _ in members}
            self.statuses = {stack_id: status for stack_id, status in self.statuses.items() if stack_id in known}
            self._due = {group: due for group, due in self._due.items() if group in groups}
            for group, members in groups.items():
                await self._check_group(group, members, interval)
        finally:
            self._busy = False

    async def _check_group(self, group: _Group, members: Sequence[tuple[Stack, Mode]], interval: float) -> None:
        services, name = self._components.services, " ".join(group)
        now = services.clock.now()
        if now < self._due.setdefault(group, first_check_time(name, now, interval)):
            return
        self._due[group] = next_check_time(name, now, interval)
        for start in range(0, len(members), _TOGETHER):
            together: list[tuple[Stack, Mode, DriftComparer]] = []
            for stack, mode in members[start : start + _TOGETHER]:
                with _retried(stack):
                    together.append((stack, mode, (await comparers_of(services, stack))[stack.id]))
            states = (state for _, _, each in together for state in each.all_states(each.states()))
            reads = PacedReads(states, self._pace)
            for first in range(0, len(together), _AT_ONCE):
                if services.background.stopped:
                    return
                at_once = together[first : first + _AT_ONCE]
                await asyncio.gather(*(self._retried_compare(*each, reads) for each in at_once))

    async def _retried_compare(self, stack: Stack, mode: Mode, comparer: DriftComparer, reads: PacedReads) -> None:
        with _retried(stack):
            await self._compare(stack, mode, comparer, reads)

    async def _compare(self, stack: Stack, mode: Mode, comparer: DriftComparer, reads: PacedReads) -> None:
        services, announcer = self._components.services, self._components.announcer
        looks = await asyncio.gather(*(comparer.compare(state, reads) for state in comparer.states()))
        found = [report for report, _ in looks]
        if await services.database.read(_is_outdated, stack):
            return  # what an operation has changed meanwhile is no drift
        before = await last_found(services, stack.id)
        failed = any(state.row.status == FAILED for state in comparer.all_states(comparer.states()))
        facts: dict[str, object] = {"mode": mode.value, "failed": failed, "unfinished": is_unfinished(stack)}
        status = overall_of({"found": found, **facts})
        repair, attempt = None, 0
        if mode is Mode.REPAIR and (status == "DRIFTED" or failed):
            repair, attempt = await self._decided(stack)
            facts["repair"] = repair.value
        detection = new_detection(services, stack)
        settle(services, detection, found, **facts)
        rows: list[Record] = [detection, *_events(comparer, before, found, services.clock.now())]
        if (status == "DRIFTED") != (overall_of(before) == "DRIFTED"):
            drifted = [each["name"] for each in found if each["status"] in DRIFTED]
            rows += announcer.about_drift(stack, status, drifted)
        forget = partial(drifts.forget_older, stack_id=stack.id)
        if repair is Repair.BEGUN:  # the result of the look is recorded with the operation, or neither is
            reason = f"Repair of drift started (attempt {attempt} of {MOST_INEFFECTIVE})"
            await begin_repair(self._components, stack, reason, observe=True, rows=rows, steps=[forget])
        else:
            batch = Batch().add(*rows).then(forget)
            await announcer.commit(services.journal, batch, await announcer.sinks_of(stack))
        self.statuses[stack.id] = status
        if repair is not None:
            self.repairs[repair] += 1
        if repair not in (None, Repair.BEGUN):
            LOG.warning("stack %s has drifted and is not repaired: %s", stack.name, repair)

    async def _decided(self, stack: Stack) -> tuple[Repair, int]:
        """Return whether a stack that has drifted is repaired, or why not; and the number of the attempt."""
        services = self._components.services
        if services.settings.maintenance:
            return Repair.MAINTENANCE, 0
        operations = await services.database.read(queries.operations_of, stack.id, EXAMINED_OPERATIONS)
        in_sync_at = await drift_free_at(self._components, stack)
        tried = ineffective_repairs(operations, in_sync_at)
        if tried >= MOST_INEFFECTIVE:
            return Repair.INEFFECTIVE, tried
        if await next_turn(self._components, stack, operations, float(services.settings.drift_interval)) is None:
            return Repair.NOT_NOW, tried
        why = rejection_reason(await returning_plan(services, stack), services.settings.drift_replacements)
        return why or Repair.BEGUN, tried + 1


@contextmanager
def _retried(stack: Stack) -> Iterator[None]:
    """Log what prevents a look at a stack; the next one is at the next interval."""
    try:
        yield
    except ActionInProgress:
        LOG.info("stack %s is not repaired now: a user's operation has begun", stack.name)
    except StokerError as error:
        LOG.warning("cannot look for drift of stack %s, will retry: %s", stack.name, error.message)
    except Exception:
        LOG.exception("cannot look for drift of stack %s, will retry", stack.name)


async def drift_free_at(components: RecordingComponents, stack: Stack) -> float:
    """Return when a stack was last seen without drift and without failed resources; 0 if that is not recorded."""
    services = components.services
    for detection in await services.database.read(drifts.completed, stack.id):
        body = services.sealer.open(detection.body)
        if overall_of(body) != "DRIFTED" and not body.get("failed"):
            return float(detection.created_at)
    return 0.0


def _is_outdated(connection: Connection, stack: Stack) -> bool:
    """Return whether an operation has begun on a stack, or on a stack nested in it, since it was read."""
    now = queries.stack_by_id(connection, stack.id)
    if now is None or now.deleted_at is not None or now.status == IN_PROGRESS or now.operation != stack.operation:
        return True
    return healing.tree_runs(connection, stack.root_id)


def _events(
    comparer: DriftComparer, before: Mapping[str, Any], found: Sequence[Mapping[str, Any]], now: float
) -> list[Any]:
    """Return the events of resources that have drifted since the look before, or do not differ any more."""
    former = {each["name"]: each["status"] for each in before.get("found", ())}
    events = []
    for report in found:
        name, differs, differed = report["name"], report["status"] in DRIFTED, former.get(report["name"]) in DRIFTED
        if differs == differed or (not differs and former.get(name) is None):
            continue
        code = EventCode.DRIFT_FOUND if differs else EventCode.DRIFT_ENDED
        events.append(comparer.view.current[name].event(_sentence(report), now, code=code))
    return events[:_MOST_EVENTS]


def _sentence(report: Mapping[str, Any]) -> str:
    if report["status"] == "DELETED":
        return "drift: the object does not exist any more"
    if report["status"] not in DRIFTED:
        return "drift: the object is as declared again"
    names = dict.fromkeys(str(each["path"][0]) for each in report["differences"])
    if not names:
        return f"drift: {report['reason']}"
    return f"drift: {', '.join(names)} {'differs' if len(names) == 1 else 'differ'} from the template"
