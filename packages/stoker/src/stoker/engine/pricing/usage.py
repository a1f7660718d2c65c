"""What the resources of a plan take of the items of a price list, before the plan and after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step, Subject
from stoker.engine.planning.reasons import RETENTION
from stoker.engine.records.stack_view import Recorded
from stoker.engine.records.state import ResourceState
from stoker.plugins.live_values import has_object
from stoker.plugins.pricing import ONE, Charge, Use
from stoker.plugins.resource import ResourceType, finalized

_EXISTS_AFTER = (StepKind.CREATE, StepKind.REPLACE, StepKind.UPDATE)
_STAYS = (StepKind.KEEP, StepKind.REFUSE)
_REMOVALS = (StepKind.DELETE, StepKind.FORGET)


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """What one object takes: units of an item; of an object as such if its type declares no charges (`charge` None)."""

    charge: Charge | None
    use: Use = ONE


@dataclass(frozen=True, slots=True)
class Usage:
    """What one resource of a plan takes, before it and after it; `retained` of what stays without the stack.

    `unforeseen` says that it has a nested stack whose resources cannot be planned.
    """

    path: str
    type: str
    before: tuple[ResourceUsage, ...] = ()
    after: tuple[ResourceUsage, ...] = ()
    retained: tuple[ResourceUsage, ...] = ()
    unforeseen: bool = False


Below = Mapping[str, Recorded]
"""The recorded nested stacks of a tree, by the uuid of the resource around each."""


def needs_record(plan: Plan) -> bool:
    """Return whether a plan leaves out resources of nested stacks that it keeps."""
    return any(True for _ in _closed(plan))


def usage_of(plan: Plan, below: Below) -> list[Usage]:
    """Return what the resources of a plan whose steps have their subjects take; `below` are nested stacks.

    Each recorded object counts once, also if one step replaces it and another removes it. Objects that are not the
    stack's own, or do not exist any more, do not count.
    """
    found: list[Usage] = []
    counted = set[str]()
    for step in plan.steps:
        if step.subject is not None:
            usage = _of_step(step, step.subject, counted)
            if usage.before or usage.after or usage.unforeseen:
                found.append(usage)
    for step in _closed(plan):
        found += _kept(step.name, step.uuid or "", below)
    return found


def _closed(plan: Plan) -> Iterator[Step]:
    """Yield the kept resources with nested stacks whose own steps the plan does not have."""
    for step, following in pairwise((*plan.steps, None)):
        if step is None or step.subject is None or step.kind not in _STAYS or not step.subject.type.nested:
            continue
        opened = following is not None and following.depth > step.depth and following.subject is not None
        if not opened:
            yield step


def _of_step(step: Step, subject: Subject, counted: set[str]) -> Usage:
    state, kind = subject.state, subject.type
    before: tuple[ResourceUsage, ...] = ()
    if state is not None and state.row.uuid not in counted and _has_own_object(state):
        counted.add(state.row.uuid)
        before = _taken(state.type, state)
    after: tuple[ResourceUsage, ...] = ()
    if step.kind in _EXISTS_AFTER and subject.properties is not None:
        after = tuple(_uses(kind, subject.properties))
    elif step.kind in _STAYS:
        after = before
    retains = step.kind in _REMOVALS and any(reason.code in RETENTION for reason in step.reasons)
    retained = before if retains else ()
    return Usage(step.name, step.type, () if step.adopts_object else before, after, retained, subject.unforeseen)


def _kept(path: str, uuid: str, below: Below) -> Iterator[Usage]:
    """Yield what the resources of a nested stack take that the plan keeps as it is."""
    recorded = below.get(uuid)
    for state in recorded.current.values() if recorded is not None else ():
        inner = f"{path}.{state.row.name}"
        if state.type.nested:
            yield from _kept(inner, state.row.uuid, below)
        elif _has_own_object(state) and (taken := _taken(state.type, state)):
            yield Usage(inner, state.row.type, taken, taken)


def _has_own_object(state: ResourceState) -> bool:
    if state.row.physical_id is None or state.is_missing:
        return False
    return state.stored.definition.get("external_id") is None


def _taken(kind: ResourceType, state: ResourceState) -> tuple[ResourceUsage, ...]:
    return tuple(_uses(kind, state.properties))


def _uses(kind: ResourceType, resolved: Mapping[str, object]) -> Iterable[ResourceUsage]:
    if not has_object(kind):
        return
    if not kind.charges:
        yield ResourceUsage(None)
        return
    properties = finalized(kind, resolved)
    for charge in kind.charges:
        for use in charge.uses(properties):
            if use.amount != 0:
                yield ResourceUsage(charge, use)
