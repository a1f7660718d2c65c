"""Resource types for plug-ins derived from `StackResource`, whose object is a nested stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heat.engine.resources.stack_resource import StackResource
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, ChildStack, Member
from stoker.resources.heat.nested_stacks.nested import NestedStackResource
from stoker_heat_plugins.credentials import Bridge
from stoker_heat_plugins.performance import RUNNING, Performance
from stoker_heat_plugins.record import Record
from stoker_heat_plugins.resource_type import BEGUN, HANDLED, TOKEN, Arguments, HeatResourceType
from stoker_heat_plugins.stacks import Stack

_ASKED, _ENDED = "asked", "ended"
"""Keys of `Call.progress`: the action that the handler has asked for, and whether the nested stack has ended it."""


class ChildReader:
    """Reads a nested stack, on a worker thread."""

    def __init__(self, child: ChildStack) -> None:
        self._child, self._bridge = child, Bridge()

    def exists(self) -> bool:
        """Return whether there is a nested stack."""
        return self._bridge.run(self._template()) is not None

    def outputs(self) -> dict[str, Any]:
        """Return the outputs; None for those that cannot be resolved."""
        return dict(self._bridge.run(self._outputs()))

    def members(self) -> list[Member]:
        """Return the resources in creation order."""
        return self._bridge.run(self._members())

    def member_attribute(self, name: str, key: AttributeKey) -> object:
        """Return an attribute of a resource."""
        return self._bridge.run(self._member_attribute(name, key))

    async def _template(self) -> Any:
        return await self._child.template()

    async def _outputs(self) -> Mapping[str, Any]:
        return await self._child.outputs()

    async def _members(self) -> list[Member]:
        return await self._child.members()

    async def _member_attribute(self, name: str, key: AttributeKey) -> object:
        return await self._child.member_attribute(name, key)


class HeatStackType(HeatResourceType, NestedStackResource):
    """Runs the handlers of `plugin`, and the operations of the nested stack that they ask for.

    What the nested stack contains is known when a handler has run: plans and validation do not show it.
    """

    recovery = Recovery(
        RecoveryMethod.RECORD,
        "The nested stack is recorded under its parent resource, so a repeated action continues with the same stack.",
    )

    def child_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        """Return None: only the handlers define the nested stack."""
        return None

    async def check(self, call: Call) -> Outcome:
        return await self._act(call, "check")

    async def _act(self, call: Call, action: str, arguments: Arguments | None = None) -> Outcome:
        Stack.of(call)  # a plan's rehearsal of the action, which has no cloud, ends here: handlers have effects
        if call.progress.get(BEGUN) is not None and call.resource.uuid not in RUNNING:
            await self._continue(call, action)
        return await super()._act(call, action, arguments)

    async def _continue(self, call: Call, action: str) -> None:
        """Continue after an interruption: a nested stack that exists was asked for by an interrupted creation."""
        if action == "create" and not call.progress.get(HANDLED) and await call.engine.child.template() is not None:
            call.progress.update({HANDLED: True, _ASKED: "CREATE"})
        name = f"check_{action}_complete"
        if call.progress.get(HANDLED) and getattr(self.plugin, name) is getattr(StackResource, name):
            call.progress.setdefault(TOKEN, None)  # whose value the check does not use

    def _can_continue(self, call: Call, action: str) -> bool:
        """Also repeat the handler of the base class, which has no effect besides the nested stack."""
        return super()._can_continue(call, action) or self.plugin.handle_create is StackResource.handle_create

    async def _step(self, call: Call, action: str, arguments: Arguments | None, running: Performance) -> Outcome:
        if running.resource is not None:
            running.resource.child = ChildReader(call.engine.child)
        request = ChildRequest()
        if not call.progress.get(HANDLED) or _ASKED not in call.progress:
            outcome = await super()._step(call, action, arguments, running)
            asked = running.resource.asked if running.resource is not None else None
            if not call.progress.get(HANDLED) or asked is None:
                return outcome
            call.progress[_ASKED], request = asked
        if not call.progress.get(_ENDED):
            outcome = await call.engine.child.run(call.progress[_ASKED], request)
            if not isinstance(outcome, Done):
                return outcome
            call.progress[_ENDED] = True
            running.record.resource_id = outcome.physical_id or running.record.resource_id
            return InProgress(after=0.0, physical_id=running.record.resource_id)
        return await super()._step(call, action, arguments, running)

    def _maker(self, call: Call, values: Mapping[str, object]) -> Callable[[Record], Any]:
        make, child = super()._maker(call, values), ChildReader(call.engine.child)

        def made(record: Record) -> Any:
            resource = make(record)
            resource.child = child
            return resource

        return made
