"""Prepare replacements: delete objects that cannot remain beside them, release from others what they need."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from stoker.base.errors import CloudError
from stoker.cloud.transport import counted
from stoker.engine.calls.building import final_values
from stoker.engine.planning.decide import Target, was_never_usable
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.retention import ON_REPLACEMENT, removal_effect
from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.performer import Method, Performer
from stoker.plugins import capabilities
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import Call, ResourceType
from stoker.store.journal import Batch

MethodWrapper = Callable[[Method], Method]

_BEFORE = "before_deletion"
"""The key of a stored definition for the action and the status of a resource that is deleted before its replacement is
created: it returns to them if its service refuses the deletion.
"""


class Deletion(Protocol):
    """See `Remover.delete`."""

    def __call__(self, state: ResourceState, wrap: MethodWrapper = ...) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class ReplacementPreparation:
    """Prepares replacements; it has no state of its own. `delete` removes a recorded resource."""

    run: OperationContext
    performer: Performer
    delete: Deletion

    async def prepare(self, target: Target, former: ResourceState | None) -> ResourceState | None:
        """Prepare every recorded resource of the name for its replacement; return the former one, if it remains.

        Removed are those that were never usable, which must not accumulate; those whose removal an earlier run has
        begun; and those beside which the service refuses the new object. The others, and those of which the removal
        fails again, release what the new object needs, and are removed after everything was created.

        The order has these reasons: the replacement policy is recorded first, since each removal below obeys it. Then
        follow the removals, the latest resource first, which has what the earlier ones have released. Only what still
        exists afterwards is asked to release: a release changes an object, which is of no use if it is deleted anyway.
        The new object is created only after all of this, as it needs what was released.
        """
        if former is not None:
            former.stored.definition[ON_REPLACEMENT] = target.update_replace_policy
        for state in self._resources_of_name(target, former):
            if was_never_usable(state):
                await self.delete(state)
                self.run.objects.moved.add(target.name)
            elif await self._is_deleted_first(state, target):
                await self._delete_first(state)
            elif state.row.action == "DELETE":
                with contextlib.suppress(Failure):
                    await self.delete(state)
        if former is not None and former.row.uuid not in self.run.states:
            former = None
        for state in self._resources_of_name(target, former):
            if state.row.physical_id is not None or state.stored.uncertain:
                await self._release(state, target)
        return former

    def _resources_of_name(self, target: Target, former: ResourceState | None) -> list[ResourceState]:
        """Return recorded resources with the name, the latest first: those from before this run, and the former one."""
        run = self.run
        known = [*run.planning.earlier.get(target.name, ()), *([former] if former is not None else ())]
        found = {state.row.uuid: state for state in known if state.row.uuid in run.states}
        return sorted(found.values(), key=lambda state: -state.row.position)

    async def _release(self, former: ResourceState, target: Target | None) -> None:
        """Make a resource release what its replacement needs, and record that.

        Without a target, the resource releases the object of another one, which has to be deleted. Nothing is recorded
        of a type whose objects have nothing to release.
        """
        if not _makes_way(former.type):
            return
        if not former.stored.made_way:
            former.stored.made_way, former.row.fingerprint = True, ""
            await self.run.commit(Batch().change(former.seal()))

        async def prepare_for_replacement(call: Call) -> Outcome:
            if target is not None and former.implementation == target.implementation:
                call.resource = replace(call.resource, replacement=await final_values(self.run, target))
            return await capabilities.prepare_for_replacement(former.type, call)

        if former.row.physical_id is not None:
            await self.performer.prepare(former, prepare_for_replacement)

    async def revert(self, state: ResourceState) -> None:
        """Restore what a resource has released for its replacement, since it is used again."""
        await self.performer.prepare(state, partial(capabilities.revert_replacement, state.type))
        state.stored.made_way = False
        state.recorded_id = None  # it claims its object again, which may have gone to its replacement

    # -- deletion before creation ----------------------------------------------------------------------------

    async def _is_deleted_first(self, state: ResourceState, target: Target) -> bool:
        """Return whether the object is deleted before its replacement is created, or its deletion for one has begun."""
        if state.row.action == "DELETE":
            return _BEFORE in state.stored.definition
        exclusion = state.type.exclusion
        if (
            exclusion is None
            or state.is_missing
            or state.row.physical_id is None
            or state.implementation != target.implementation
        ):
            return False
        if not self._is_deleted(state):
            return False
        excludes = False

        async def ask(call: Call) -> Outcome:
            nonlocal excludes
            call.resource = replace(call.resource, replacement=await final_values(self.run, target))
            excludes = await exclusion.applies(state.type, call)
            return Done()

        await self.performer.prepare(state, ask)
        return excludes

    def _is_deleted(self, state: ResourceState) -> bool:
        """Return whether the removal of a resource deletes its object."""
        return removal_effect(state, self.run.planning.removal_options).name in _DELETES

    async def _delete_first(self, state: ResourceState) -> None:
        """Delete a resource before its replacement is created. If its service refuses that, nothing has changed.

        If the service refuses it because the object is used, dependent resources release the object first.
        """
        row, definition = state.row, state.stored.definition
        definition.setdefault(_BEFORE, [row.action, row.status, row.reason])
        sent = 0
        released: list[ResourceState] | None = None

        def wrap(method: Method) -> Method:
            async def deletion(call: Call) -> Outcome:
                nonlocal sent, released
                with counted() as effects:
                    try:
                        return await method(call)
                    except CloudError as error:
                        if released is not None or not error.conflict:
                            raise
                    finally:
                        sent += effects.requests
                released = []
                await self._release_from_dependents(state, released)
                return InProgress(after=0.0)

            return deletion

        try:
            await self.delete(state, wrap)
        except Failure:
            if not sent:
                row.action, row.status, row.reason = definition.pop(_BEFORE)
                await self.run.commit(Batch().change(state.seal()))
                for dependent in released or ():
                    if dependent.stored.made_way:
                        await self.revert(dependent)
            raise
        self.run.objects.moved.add(row.name)

    async def _release_from_dependents(self, required: ResourceState, released: list[ResourceState]) -> None:
        """Make the resources that depend on an object release it, as far as the plan changes them anyway.

        Those that it removes or replaces are deleted. Those that it updates release what they use, and are added to
        `released`: they get it back, or what takes its place, in their update.
        """
        run = self.run
        assert run.planning.plan is not None
        for step in run.planning.plan.steps:
            state = run.states.get(step.uuid or "")
            if state is None or step.depth or not self._waits_for(state, required):
                continue
            if step.kind is StepKind.UPDATE and not state.type.nested:
                released.append(state)
                await self._release(state, None)
            elif (step.supersedes or step.kind is StepKind.DELETE) and self._may_go(state):
                await self._delete_first(state)

    def _waits_for(self, state: ResourceState, required: ResourceState) -> bool:
        """Return whether a resource depends on another one, and no step works on it before that one's step has ended.

        A resource that depends on it no longer is changed independently, and the deletion waits for that.
        """
        desired, name = self.run.planning.desired, required.row.name
        if name not in state.requires or desired is None:
            return False
        return state.row.name not in desired.requires or name in desired.requires[state.row.name]

    def _may_go(self, state: ResourceState) -> bool:
        """Return whether the plan's removal of a resource deletes its object, and may begin now."""
        desired, name = self.run.planning.desired, state.row.name
        restricted = (
            desired.inputs.environment.registry.restricted_actions(name) if desired is not None else frozenset()
        )
        return "replace" not in restricted and self._is_deleted(state)


_DELETES = frozenset({"Delete", "Snapshot"})
"""The effects of a removal that delete the object."""


def _makes_way(kind: ResourceType) -> bool:
    """Return whether a replacement may take something from an object: what it releases or loses, or its ID."""
    changes = isinstance(kind, capabilities.ReplacementPreparer | capabilities.ReplacementReverter)
    return changes or kind.object_ids is not None
