"""Entering a type's methods without doing anything, to learn what it would ask of its nested stack.

The methods of types with a nested stack do nothing but ask that stack, so with a stand-in they never wait. What they
ask of anything else, or cannot work out from values that are not known yet, is told as unforeseeable.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Coroutine, Mapping
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, Protocol, cast

from stoker.base.ids import arn
from stoker.engine.planning.decide import Target
from stoker.engine.records.recorded import Recorded
from stoker.engine.records.state import ResourceState
from stoker.engine.records.values import finalized
from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, Member, Snapshot, StackFacts
from stoker.schema.unknown import Unknown
from stoker.store.records import COMPLETE, Stack

if TYPE_CHECKING:
    from stoker.engine.planning.planner import Forward

LOG = logging.getLogger(__name__)

_ENTRIES = 10_000
"""How often a method may ask to be entered again before its end is taken to be out of sight."""


class Unforeseeable(Exception):
    """What a type would do cannot be told before it is done."""


class Planner(Protocol):
    """Plans the nested stack for a request."""

    def forward(self, request: ChildRequest) -> Forward: ...


class _Absent:
    """In place of everything outside the nested stack."""

    def __getattr__(self, name: str) -> Any:
        raise Unforeseeable(f"it asks for {name}")


class StandIn:
    """In place of the nested stack: does nothing, and is as if everything had been done. See ChildStack."""

    def __init__(self, planner: Planner, recorded: Recorded | None) -> None:
        self._planner = planner
        self._recorded = recorded
        self.asked: ChildRequest | None = None

    async def run(self, action: str, request: ChildRequest) -> Outcome:
        if request.template is not None:
            self.asked = request
        return Done(physical_id=self._recorded.stack.id if self._recorded is not None else None)

    async def begin(self, *arguments: Any, **named: Any) -> None:
        """Only a signal has an action begin of its own accord."""
        raise Unforeseeable("it begins an action of its own")

    async def members(self) -> list[Member]:
        present = {name: _member(state) for name, state in self._present().items()}
        if self.asked is None:
            return list(present.values())
        return [_as_asked(name, entry, present.get(name)) for name, entry in _entries(self.asked).items()]

    def _present(self) -> Mapping[str, ResourceState]:
        return self._recorded.current if self._recorded is not None else {}

    async def member_attribute(self, member: str, key: AttributeKey) -> Any:
        scope = self._forward().scope
        return scope.attribute(member, str(key[0]), key[1:]) if member in scope.decisions else None

    async def outputs(self) -> Mapping[str, Any]:
        forward = self._forward()
        definition = forward.wanted.definition
        return {
            name: definition.resolve(output.value, forward.scope) if output.enabled else None
            for name, output in definition.outputs.items()
        }

    def _forward(self) -> Forward:
        if self.asked is None:
            raise Unforeseeable("nothing has been asked of the nested stack")
        return self._planner.forward(self.asked)

    async def template(self) -> Mapping[str, Any] | None:
        if self.asked is not None:
            return self.asked.template
        return self._recorded.inputs.template.data if self._recorded is not None and self._recorded.inputs else None


class Rehearsal:
    """One action of one resource. `state` is the resource as recorded, None for one that is to be made.

    Afterwards `asked` is what the type asks of its nested stack in the end. Raises Unforeseeable.
    """

    def __init__(
        self, planner: Planner, target: Target, state: ResourceState | None, recorded: Recorded | None, stack: Stack
    ) -> None:
        self._target = target
        self._state = state
        self._recorded = recorded
        self._planner = planner
        self._stack = stack
        self._call, self.asked = self._rehearsed()

    def _rehearsed(self) -> tuple[Call, ChildRequest]:
        call, asked = self._enter()
        new = set(_entries(asked)) - set(self._recorded.current if self._recorded is not None else ())
        if new and not asked.template_name:
            # A name that comes out differently the next time is a random one, and known only when it is given.
            random = new - _entries(self._enter()[1]).keys()
            asked = _renamed(asked, [name for name in _entries(asked) if name in random])
        cast(StandIn, call.child).asked = asked
        return call, asked

    def _enter(self) -> tuple[Call, ChildRequest]:
        child = StandIn(self._planner, self._recorded)
        call = self._make_call(child)
        method = self._target.type.update if self._state is not None else self._target.type.create
        for _ in range(_ENTRIES):
            outcome = at_once(method(call))
            if isinstance(outcome, Done) and child.asked is not None:
                return call, child.asked
            if not isinstance(outcome, Again):
                break
            call.now += outcome.after or 0.0
        raise Unforeseeable(f"it ends with {outcome!r}")

    def attribute(self, key: AttributeKey) -> Any:
        """An attribute of the resource as it will be. Raises Unforeseeable."""
        return at_once(self._target.type.read_attributes(self._call, {key})).get(key)

    def reference(self) -> Any:
        """The resource's reference id as it will be."""
        if self._state is None:
            return Unknown.of(self._target.name)
        state, call = self._state, self._call
        return self._target.type.reference_id(
            Snapshot(state.row.name, state.physical_name, state.row.physical_id, call.data, call.properties)
        )

    def _make_call(self, child: StandIn) -> Call:
        target, state, absent = self._target, self._state, cast(Any, _Absent())
        properties = finalized(target.type, target.given)
        previous = finalized(target.type, state.given) if state is not None else None
        before = previous or {}
        return Call(
            name=target.name,
            uuid=state.row.uuid if state is not None else "",
            type=target.type_name,
            action="UPDATE" if state is not None else "CREATE",
            physical_name=state.physical_name if state is not None else "",
            physical_id=state.row.physical_id if state is not None else None,
            properties=properties,
            previous=previous,
            changed={name: value for name, value in properties.items() if before.get(name) != value} if state else {},
            data=dict(state.stored.data) if state is not None else {},
            progress={},
            metadata=state.stored.metadata if state is not None else target.metadata,
            stack=self._facts(),
            cloud=absent,
            child=child,
            neighbours=absent,
            configs=absent,
            deployments=absent,
            created_at=0.0,
            started_at=0.0,
            now=0.0,
            update_policy=target.update_policy,
        )

    def _facts(self) -> StackFacts:
        stack = self._stack
        name = arn(stack.project_id, stack.name, stack.id)
        return StackFacts(stack.id, stack.name, stack.project_id, stack.root_id, name, created_at=stack.created_at)


def at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that does not wait for anything. Raises Unforeseeable."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    except Unforeseeable:
        raise
    except Exception as error:
        # Types may stumble over values that are not known yet.
        LOG.debug("not foreseeable", exc_info=True)
        raise Unforeseeable(str(error)) from error
    coroutine.close()
    raise Unforeseeable("it waits for something")


def _entries(request: ChildRequest) -> Mapping[str, Any]:
    template = request.template or {}
    entries: Mapping[str, Any] = template.get("resources") or template.get("Resources") or {}
    return entries


def _renamed(request: ChildRequest, names: Collection[str]) -> ChildRequest:
    """The request with placeholders for names."""
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
        properties=state.given,
    )


def _as_asked(name: str, entry: Mapping[str, Any], present: Member | None) -> Member:
    """A member as if what its entry in the template asks for had been done."""
    asked = entry.get("properties") or entry.get("Properties") or {}
    given = {key: value for key, value in asked.items() if value is not None}
    if present is not None:
        return replace(present, status=COMPLETE, properties=given)
    kind = str(entry.get("type") or entry.get("Type"))
    return Member(name, kind, "CREATE", COMPLETE, Unknown.of(name), None, inf, given)
