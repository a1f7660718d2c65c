"""The removal of resources, and what happens to their objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from stoker.contract.views import NO_REASON
from stoker.engine.planning.decide import note_remains
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Step
from stoker.engine.planning.reasons import Reason, ReasonCode
from stoker.engine.planning.retention import Effect, RemovalOptions, Retention, UndeletedObject, removal_effect
from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState
from stoker.engine.running.hooks import pause
from stoker.engine.running.interrupted_creations import SEARCH_AGAIN
from stoker.engine.running.lost_claims import remove_late_object
from stoker.engine.running.operation_context import OperationContext, has_hook
from stoker.engine.running.performer import Method, Performer, next_batch
from stoker.engine.running.replacement_preparation import MethodWrapper
from stoker.plugins import capabilities
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call, ResourceType
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, IN_PROGRESS

EFFECT = "parting"
"""The key of a stored definition for the effect of a removal; every release reads and writes it."""

_EARLIER_EFFECT = "removal_effect"
"""The key that development versions before 0.2.0 wrote instead."""

FORGET = "Abandon"
"""The effect that keeps all objects, those in nested stacks as well."""

REMOVALS: Mapping[str, Callable[[ResourceType], Method | None]] = {
    "Delete": lambda kind: kind.delete if type(kind).delete is not ResourceType.delete else None,
    "Snapshot": lambda kind: partial(capabilities.snapshot_delete, kind),
    FORGET: lambda kind: partial(capabilities.abandon, kind),
    "Retain": lambda kind: None,
}
"""What happens to the object when a resource is removed; nothing is called where a type has nothing to delete."""


def recorded_effect(removal_options: RemovalOptions, state: ResourceState) -> str:
    """Return what happens to the object of a resource whose removal has begun, possibly by another version.

    It is fixed when the stack's action begins to remove the resource.
    """
    definition = state.stored.definition
    recorded = str(definition.get(EFFECT, definition.get(_EARLIER_EFFECT)))
    return recorded if recorded in REMOVALS else removal_effect(state, removal_options).name


def leave_behind(run: OperationContext, state: ResourceState) -> str:
    """Note that the object of a resource stays, since it could not be deleted; return the reason for the event."""
    row = state.row
    run.progress.left.append(UndeletedObject(row.name, row.type, row.physical_id))
    return f"left behind, as it could not be deleted: {row.reason}"


def note_left(run: OperationContext, state: ResourceState) -> bool:
    """Note with the operation what was left behind of a resource or in its nested stack; return whether that is new."""
    if not run.planning.removal_options.forced:
        return False
    name, uuid = state.row.name, state.row.uuid
    for (holder, _, action), operation in run.nested.begun.items():
        if holder == uuid and action == "DELETE":
            run.progress.left += (replace(each, path=f"{name}.{each.path}") for each in Retention.of(operation).left)
    retention = Retention.of(run.operation)
    noted = replace(retention, left=tuple(run.progress.left))
    run.operation.retention = noted.to_json()
    return noted != retention


_TOGETHER = 32
"""Number of resources that are removed in one commit: making it takes about as long as another portion of a step."""


def unchanged(method: Method) -> Method:
    """Return the method that deletes an object as it is: see `Remover.delete`."""
    return method


@dataclass(frozen=True, slots=True)
class Remover:
    """Removes resources in one run; it has no state of its own."""

    run: OperationContext
    performer: Performer

    async def delete(self, state: ResourceState, wrap: MethodWrapper = unchanged, *, forgets: bool = False) -> None:
        """Remove a recorded resource (see `removal_effect`); `wrap` wraps the method that deletes its object. With
        `forgets`, the object stays.
        """
        run, row = self.run, state.row
        reason, first = NO_REASON, list[Batch]()
        is_copy = row.stack_id != run.stack.id
        if not self._is_begun(state):
            if not is_copy and has_hook(run, row.name, "pre", "DELETE"):
                await pause(run, state, "pre", "DELETE")
            effect = Effect(FORGET, Reason(ReasonCode.FORGOTTEN)) if forgets else self._effect(state)
            reason = self._begin(state, effect)
            begun = Batch().add(*run.events_for(state))
            if state.type.local and not has_hook(run, row.name, "post", "DELETE"):
                first.append(begun)
            else:
                await run.commit(begun.change(state.seal()))
        try:
            await self._remove_objects(state, wrap, first)
        except Failure:
            if not run.planning.removal_options.forced:
                raise
            reason = leave_behind(run, state)
        if not is_copy and has_hook(run, row.name, "post", "DELETE"):
            await pause(run, state, "post", "DELETE")
        await self._end([(state, reason)], next_batch(first))

    def joined(self, steps: Iterable[Step]) -> list[list[Step]]:
        """Return the steps in groups, each of which is carried out at once: `remove_together` takes those removals for
        which nothing is called, and of which nothing is recorded before their end; others are alone.
        """
        alone: list[list[Step]] = []
        calling_nothing: list[Step] = []
        for step in steps:
            if step.kind is StepKind.DELETE and self._calls_nothing(step):
                calling_nothing.append(step)
            else:
                alone.append([step])
        pending = iter(calling_nothing)
        return alone + list(iter(lambda: list(islice(pending, _TOGETHER)), []))

    def _calls_nothing(self, step: Step) -> bool:
        run, state = self.run, self.run.states.get(step.uuid or "")
        if state is None or not state.type.local or state.row.stack_id != run.stack.id or self._is_begun(state):
            return False
        if any(has_hook(run, state.row.name, moment, "DELETE") for moment in ("pre", "post")):
            return False
        return REMOVALS[self._effect(state).name](state.type) is None and state.row.uuid not in run.objects.late

    async def remove_together(self, steps: Sequence[Step]) -> None:
        """Remove the resources of such a group in one commit. Raises Stopped if the run must stop."""
        run = self.run

        def states() -> list[ResourceState]:
            return [state for step in steps if (state := run.states.get(step.uuid or "")) is not None]

        async with run.services.memory.values.open(run.stack.project_id, states):
            run.check_stopped()
            batch, removed = Batch(), list[tuple[ResourceState, str]]()
            for state in states():
                if not run.serves(state):
                    removed.append((state, self._begin(state, self._effect(state))))
                    batch.add(*run.events_for(state))
            await self._end(removed, batch)

    def _effect(self, state: ResourceState) -> Effect:
        return removal_effect(state, self.run.planning.removal_options)

    def _is_begun(self, state: ResourceState) -> bool:
        """Return whether an earlier run has recorded the beginning of the removal."""
        row = state.row
        return row.action == "DELETE" and row.status == IN_PROGRESS and self.run.operation.action != "ABANDON"

    def _begin(self, state: ResourceState, effect: Effect) -> str:
        """Set that the removal of a resource has begun; return the reason for its end."""
        row = state.row
        state.stored.definition[EFFECT] = effect.name
        note_remains(state)
        interrupted = row.action == "CREATE" and row.status == IN_PROGRESS
        row.action, row.status, row.started_at = "DELETE", IN_PROGRESS, self.run.services.clock.now()
        state.stored.progress = {SEARCH_AGAIN: True} if interrupted else {}
        return effect.reason.sentence() if effect.reason is not None else NO_REASON

    async def _end(self, removed: Sequence[tuple[ResourceState, str]], batch: Batch) -> None:
        """Record that resources are removed, each with the reason."""
        run = self.run
        for state, reason in removed:
            state.row.status = COMPLETE
            batch.remove(state.row).add(*run.events_for(state, reason))
            if note_left(run, state):
                batch.change(run.operation)
        await run.commit(batch)
        for state, _ in removed:
            del run.states[state.row.uuid]
            if run.current.get(state.row.name) is state:
                del run.current[state.row.name]

    async def _remove_objects(self, state: ResourceState, wrap: MethodWrapper, first: list[Batch]) -> None:
        """Remove the object of a resource as recorded, and one that a service has created late; the first commit
        includes `first`, unless the caller makes it. Raises Failure.
        """
        run = self.run
        effect = recorded_effect(run.planning.removal_options, state)
        method = REMOVALS[effect](state.type)
        if method is not None:
            await self.performer.perform_only(state, wrap(method), first)
        keeps_other = state.row.physical_id is not None and run.operation.action != "ABANDON"
        if state.row.uuid in run.objects.late and (effect != FORGET or keeps_other):  # else it may be the one to keep
            await self.performer.perform_only(state, self._remove_late_object, first)

    async def _remove_late_object(self, call: Call) -> Outcome:
        """Delete the object that a service has created late for a resource, which is being deleted."""
        await remove_late_object(self.run, self.run.states[call.resource.uuid])
        return Done()
