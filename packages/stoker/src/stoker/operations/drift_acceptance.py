"""Accept differences from the cloud: the values that objects have become those with which they were deployed.

Nothing is written to the cloud. The definition stays as it is: until it gives the same values, an update that corrects
differences changes them back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import ActionInProgress, ResourceNotFound
from stoker.contract.drift import AcceptDrift
from stoker.contract.events import EventCode
from stoker.contract.views import JSONObject
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.inspection.comparison import DELETED, MODIFIED
from stoker.engine.inspection.drift import DriftComparer, comparers_of
from stoker.engine.inspection.shared_reads import SharedReads
from stoker.engine.records.observations import is_observable, record_found
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.operations.lookup import find_stack
from stoker.schema.property import Property, Type
from stoker.store import fingerprints, queries
from stoker.store.journal import Batch
from stoker.store.locks import refuse_if_locked_now
from stoker.store.records import IN_PROGRESS, Stack
from stoker.template.registry import is_template_name
from stoker.template.template import Template

_GONE = "its object does not exist: deploy the stack to create it again, or remove the resource from the template"
_UNWRITABLE = "the service shows {} in a form that templates do not have: change the template, or revert the difference"
_UNSETTLED = "its last action has not succeeded, or the object is not the stack's own"


@dataclass(frozen=True, slots=True)
class _LocatedResource:
    """A resource of a tree of stacks: its path as in plans, and where its properties are defined.

    `source` is the file of a nested template, empty for the template of the root stack, None for one that a group has
    generated; `template` is that template.
    """

    path: str
    stack: Stack
    state: ResourceState
    comparer: DriftComparer
    source: str | None
    template: Template

    def definition(self) -> JSONObject:
        """Return the place of the properties in the template; the line is None if its lines are not recorded."""
        template = self.template
        properties = template.dialect.resource_keys["properties"]
        path = (template.written("resources"), self.state.row.name, properties)
        position = template.document.locate(path)
        return {"template": self.source, "path": list(path), "line": position.line if position else None}


@dataclass(slots=True)
class _Acceptance:
    """What is recorded, and the answer about it."""

    answer: list[JSONObject] = field(default_factory=list)
    batch: Batch = field(default_factory=Batch)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    stacks: dict[str, Stack] = field(default_factory=dict)


async def drift_accept(
    components: RecordingComponents, context: RequestContext, request: AcceptDrift
) -> Sequence[JSONObject]:
    """Record the live values of resources that differ, all in one transaction; return what was and what was not.

    Raises ResourceNotFound for a path without a resource, ActionInProgress if an operation runs on the stack or has
    changed it meanwhile, and StackLocked if a user has locked it: nothing is recorded then.
    """
    services = components.services
    stack = await find_stack(services, context, request.ref)
    before = await services.database.read(fingerprints.tree, stack.root_id)
    _refuse_running(before, stack)
    selected = set(request.resources) if request.resources is not None else None
    acceptance, matched = _Acceptance(), set[str]()
    chosen: list[_LocatedResource] = []
    comparers = await comparers_of(services, stack)
    for place in _places(comparers[stack.id], "", ""):
        names = {place.path[:end] for end in _ends(place.path)}
        if selected is not None and not names & selected:
            continue
        matched |= names
        if not place.state.type.nested:
            chosen.append(place)
    reads = SharedReads.of(place.state for place in chosen)
    looks = await asyncio.gather(*(place.comparer.compare(place.state, reads) for place in chosen))
    for place, (report, found) in zip(chosen, looks, strict=True):
        _accept(services, place, report, found, acceptance)
    for path in sorted((selected or set()) - matched):
        raise ResourceNotFound(f"The Resource ({path}) could not be found in Stack {stack.name}.")
    if acceptance.rows:
        guarded = partial(_record, stack=stack, before=before, rows=acceptance.rows)
        batch = acceptance.batch.then(guarded)
        for each in acceptance.stacks.values():
            batch.then(partial(queries.note_direct_change, stack=each))
        await components.announcer.commit(services.journal, batch, await components.announcer.sinks_of(stack))
    return acceptance.answer


def _ends(path: str) -> list[int]:
    return [*(index for index, letter in enumerate(path) if letter == "."), len(path)]


def _refuse_running(rows: Sequence[Sequence[object]], stack: Stack) -> None:
    if any(row[2] == IN_PROGRESS for row in rows):
        raise ActionInProgress(f"Stack {stack.name} has an action in progress; accept drift when it has finished.")


def _places(comparer: DriftComparer, above: str, source: str | None) -> Iterator[_LocatedResource]:
    """Yield the resources of a stack and of the stacks nested in it, each after the one around it."""
    assert comparer.view.inputs is not None
    template = comparer.view.inputs.template
    for state in comparer.states():
        path = f"{above}{state.row.name}"
        yield _LocatedResource(path, comparer.view.stack, state, comparer, source, template)
        if (inside := comparer.inside.get(state.row.uuid)) is not None:
            named = is_template_name(state.implementation)
            yield from _places(inside, f"{path}.", state.implementation if named else None)


def _accept(
    services: EngineServices,
    place: _LocatedResource,
    report: JSONObject,
    found: Mapping[str, object],
    acceptance: _Acceptance,
) -> None:
    """Add what is to be recorded of one resource, if it differs."""
    state = place.state
    if report["status"] not in (MODIFIED, DELETED):
        return
    unwritable = [name for name, value in found.items() if value is None and _is_built(state.type.properties.get(name))]
    accepted = report["status"] == MODIFIED and is_observable(state) and not unwritable
    why = "" if accepted else _GONE if report["status"] == DELETED else _UNSETTLED
    if report["status"] == MODIFIED and unwritable:
        why = _UNWRITABLE.format(", ".join(unwritable))
    where = {"path": place.path, "definition": place.definition(), "accepted": accepted, "reason": why}
    values = {name: value for name, value in (report["actual"] or {}).items() if name in found}
    reported = {name: report[name] for name in ("name", "type", "status", "differences", "ignored")}
    acceptance.answer.append({**reported, **where, "values": {**dict.fromkeys(found), **values}})
    if not accepted:
        return
    property_set = record_found(state, found)
    assert property_set is not None
    acceptance.batch.property_sets.append(property_set)
    reason = f"Its values in the cloud were accepted: {', '.join(found)}"
    acceptance.batch.add(state.event(reason, services.clock.now(), code=EventCode.DRIFT_ACCEPTED))
    acceptance.rows[state.row.uuid] = {"properties": state.row.properties, "fingerprint": state.row.fingerprint}
    if state.stored.deployed:
        state.stored.deployed = {}
        acceptance.rows[state.row.uuid]["state"] = state.seal().state
    acceptance.stacks[place.stack.id] = place.stack


def _is_built(prop: Property | None) -> bool:
    """Return whether a live value that is None is one in another form, not an absent one."""
    return prop is not None and prop.type in (Type.LIST, Type.MAP)


def _record(connection: Connection, stack: Stack, before: list[list[object]], rows: Mapping[str, Any]) -> None:
    """Write the rows, unless an operation runs or has changed something since `before`, or the tree is locked."""
    refuse_if_locked_now(connection, stack)
    now = fingerprints.locked_tree(connection, stack.root_id)
    _refuse_running(now, stack)
    if now != before:
        raise ActionInProgress(f"Stack {stack.name} was changed meanwhile; nothing was accepted. Try again.")
    for uuid, values in rows.items():
        queries.set_resource(connection, uuid, values)
