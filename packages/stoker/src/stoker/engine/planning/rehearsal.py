"""Call a type's methods without effects, to determine the request to its nested stack.

The methods of types with a nested stack only send requests to that stack, so with a stand-in they never wait. If they
need anything else, or values that are not known yet, the result is unforeseeable.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Protocol, cast

from stoker.base.ids import arn
from stoker.engine.planning.decide import Target
from stoker.engine.records.stack_view import Recorded
from stoker.engine.records.state import ResourceState, first_name
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import (
    AttributeKey,
    Call,
    ChildRequest,
    EngineAccess,
    Member,
    ResourceFacts,
    Snapshot,
    StackFacts,
    finalized,
)
from stoker.schema.unknown import Unknown
from stoker.store.records import COMPLETE, Stack

if TYPE_CHECKING:
    from stoker.engine.planning.planner import Forward

LOG = logging.getLogger(__name__)

_ENTRIES = 10_000
"""Maximum number of repeated calls of a method before its result counts as unforeseeable."""


class NotPredictable(Exception):
    """The actions of a type cannot be determined in advance."""


class Planner(Protocol):
    """Plans the nested stack for a request."""

    def forward(self, request: ChildRequest) -> Forward: ...


class _Absent:
    """Replaces everything outside the nested stack."""

    def __getattr__(self, name: str) -> object:
        raise NotPredictable(f"it needs {name}")


class SimulatedChildStack:
    """Replaces the nested stack: does nothing, and behaves as if everything was done. See ChildStack."""

    def __init__(
        self, planner: Planner, recorded: Recorded | None, present: Callable[[], Mapping[str, Member]]
    ) -> None:
        self._planner = planner
        self._recorded = recorded
        self._present = present
        self.requested: ChildRequest | None = None

    async def run(self, action: str, request: ChildRequest) -> Outcome:
        if request.template is not None:
            self.requested = request
        return Done(physical_id=self._recorded.stack.id if self._recorded is not None else None)

    async def outcome_of(self, action: str, round: int) -> Outcome | None:
        """Requests are only recorded."""

    async def begin(self, *arguments: object, **named: object) -> None:
        """Raise NotPredictable: only signals start operations outside of the resource's action."""
        raise NotPredictable("it starts an operation of the nested stack on its own")

    async def revise_metadata(self, *arguments: object) -> None:
        """Metadata are no part of the request to the nested stack."""

    async def members(self) -> list[Member]:
        present = self._present()
        if self.requested is None:
            return list(present.values())
        return [_as_requested(name, entry, present.get(name)) for name, entry in _entries(self.requested).items()]

    async def member_attribute(self, member: str, key: AttributeKey) -> object:
        forward = self._forward()
        return forward.scope.attribute(member, str(key[0]), key[1:]) if member in forward.desired.requires else None

    async def outputs(self) -> Mapping[str, Any]:
        forward = self._forward()
        definition = forward.desired.definition
        return {
            name: definition.resolve(output.value, forward.scope) if output.enabled else None
            for name, output in definition.outputs.items()
        }

    def _forward(self) -> Forward:
        if self.requested is None:
            raise NotPredictable("it requests nothing of the nested stack")
        return self._planner.forward(self.requested)

    async def template(self) -> Mapping[str, Any] | None:
        if self.requested is not None:
            return self.requested.template
        return self._recorded.inputs.template.data if self._recorded is not None and self._recorded.inputs else None


class Rehearsal:
    """One action of one resource. `state` is the resource as recorded, None for a new one.

    Afterwards `requested` is the type's final request to its nested stack. Raises NotPredictable.
    """

    def __init__(
        self, planner: Planner, target: Target, state: ResourceState | None, recorded: Recorded | None, stack: Stack
    ) -> None:
        self._target = target
        self._state = state
        self._recorded = recorded
        self._planner = planner
        self._stack = stack
        self._call, self.requested = self._rehearsed()

    @cached_property
    def _present(self) -> Mapping[str, Member]:
        """The recorded members by name: nothing changes them, however often the type asks for them."""
        return {name: _member(state) for name, state in self._recorded.current.items()} if self._recorded else {}

    def _rehearsed(self) -> tuple[Call, ChildRequest]:
        call, requested = self._enter()
        new = set(_entries(requested)) - set(self._recorded.current if self._recorded is not None else ())
        if new and not requested.template_name:
            # A name that differs the next time is random, and only known when it is chosen.
            random = new - _entries(self._enter()[1]).keys()
            requested = _renamed(requested, [name for name in _entries(requested) if name in random])
        cast(SimulatedChildStack, call.engine.child).requested = requested
        if call.physical_id is None:  # afterwards, there is a nested stack
            call.physical_id = cast(Any, Unknown.of(self._target.name))
        return call, requested

    def _enter(self) -> tuple[Call, ChildRequest]:
        child = SimulatedChildStack(self._planner, self._recorded, lambda: self._present)
        call = self._make_call(child)
        method = self._target.type.update if self._state is not None else self._target.type.create
        for _ in range(_ENTRIES):
            outcome = at_once(method(call))
            if isinstance(outcome, Done) and child.requested is not None:
                return call, child.requested
            if not isinstance(outcome, InProgress):
                break
            call.now += outcome.after or 0.0
        raise NotPredictable(f"its result is {outcome!r}")

    def attribute(self, key: AttributeKey) -> object:
        """Return a future attribute of the resource. Raises NotPredictable."""
        return at_once(self._target.type.read_attributes(self._call, {key})).get(key)

    def reference(self) -> Any:
        """Return the resource's future reference id."""
        if self._state is None:
            return Unknown.of(self._target.name)
        state, call = self._state, self._call
        return self._target.type.reference_id(
            Snapshot(state.row.name, state.physical_name, state.row.physical_id, call.data, call.properties)
        )

    def _make_call(self, child: SimulatedChildStack) -> Call:
        target, state, absent = self._target, self._state, cast(Any, _Absent())
        properties = finalized(target.type, target.properties)
        previous = finalized(target.type, state.properties) if state is not None else None
        before = previous or {}
        return Call(
            action="UPDATE" if state is not None else "CREATE",
            physical_name=state.physical_name if state is not None else "",
            physical_id=state.row.physical_id if state is not None else None,
            properties=properties,
            previous=previous,
            changed={name: value for name, value in properties.items() if before.get(name) != value} if state else {},
            data=dict(state.stored.data) if state is not None else {},
            progress={},
            metadata=state.stored.metadata if state is not None else target.metadata,
            now=0.0,
            stack=self._facts(),
            cloud=absent,
            resource=ResourceFacts(
                name=target.name,
                uuid=state.row.uuid if state is not None else "",
                type=target.type_name,
                created_at=0.0,
                started_at=0.0,
                update_policy=target.update_policy,
                first_name=first_name(state.row) if state is not None else None,
                first_place=state.stored.origin.first_location if state is not None else (),
            ),
            engine=EngineAccess(child, neighbours=absent, configs=absent, deployments=absent),
        )

    def _facts(self) -> StackFacts:
        stack = self._stack
        name = arn(stack.project_id, stack.name, stack.id)
        return StackFacts(stack.id, stack.name, stack.project_id, stack.root_id, name, created_at=stack.created_at)


def at_once(coroutine: Coroutine[object, object, object]) -> Any:
    """Return the result of a coroutine that must not wait. Raises NotPredictable."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    except NotPredictable:
        raise
    except Exception as error:
        # Types may fail on values that are not known yet.
        LOG.debug("unforeseeable", exc_info=True)
        raise NotPredictable(str(error)) from error
    coroutine.close()
    raise NotPredictable("it waits for something")


def _entries(request: ChildRequest) -> Mapping[str, Any]:
    template = request.template or {}
    entries: Mapping[str, object] = template.get("resources") or template.get("Resources") or {}
    return entries


def _renamed(request: ChildRequest, names: Collection[str]) -> ChildRequest:
    """Return the request with placeholders for names."""
    if not names:
        return request
    new = {name: f"(new {number})" for number, name in enumerate(names, 1)}
    template = dict(request.template or {})
    section = "resources" if "resources" in template else "Resources"
    template[section] = {new.get(name, name): entry for name, entry in template[section].items()}
    return ChildRequest(template, request.template_name, request.parameters, request.round, None, request.registry)


def _member(state: ResourceState) -> Member:
    row = state.row
    return Member(
        name=row.name,
        type=row.type,
        action=row.action,
        status=row.status,
        reference_id=state.reference_id(),
        physical_id=row.physical_id,
        created_at=row.created_at,
        properties=state.properties,
        is_moved=row.former_names is not None,
    )


def _as_requested(name: str, entry: Mapping[str, Any], present: Member | None) -> Member:
    """Return a member as it would be after its entry in the template has been applied."""
    requested = entry.get("properties") or entry.get("Properties") or {}
    properties = {key: value for key, value in requested.items() if value is not None}
    if present is not None:
        return replace(present, status=COMPLETE, properties=properties)
    kind = str(entry.get("type") or entry.get("Type"))
    return Member(name, kind, "CREATE", COMPLETE, Unknown.of(name), None, inf, properties)
