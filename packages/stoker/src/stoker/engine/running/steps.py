"""Run one step of a plan: begin it, call the type's method until it is done, record the result.

Before a side effect, the intent is committed (the row, IN_PROGRESS, with the uuid that determines its physical name);
after every call of a method, its result is committed. To recover, the method is called again.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

from stoker.base.errors import Bug, CloudError, StokerError
from stoker.base.ids import new_id
from stoker.contract.views import NO_REASON
from stoker.engine.planning.decide import (
    BEGINNING,
    Policies,
    Target,
    decide,
    describe,
    forbidden,
    is_examined,
    is_incomplete,
    may_be_suspended,
)
from stoker.engine.planning.imports import obstacles
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Decision, Step
from stoker.engine.planning.reasons import Reason, ReasonCode
from stoker.engine.records.actions import NOT_CREATED
from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState, attribute_text, keys_of
from stoker.engine.running.actions import ACTIONS, takes_part
from stoker.engine.running.adoption import adopt, bringing_about
from stoker.engine.running.content_copies import Copier
from stoker.engine.running.hooks import pause
from stoker.engine.running.interrupted_creations import not_owned
from stoker.engine.running.operation_context import OperationContext, has_hook
from stoker.engine.running.performer import NeedsReplacement, Performer
from stoker.engine.running.refusals import is_usable
from stoker.engine.running.removal import Remover, unchanged
from stoker.engine.running.replacement_preparation import MethodWrapper, ReplacementPreparation
from stoker.store.journal import Batch
from stoker.store.ownership import ObjectAlreadyOwned
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Resource

LOG = logging.getLogger(__name__)

Continuation = Callable[[], Awaitable[Any]]
"""Does what was decided on; it may return a further `Continuation`."""


_NOT_REPLACED = "its object was imported, and is not replaced, although what differs needs a new one"


class StepRunner:
    """Runs the steps of one run; it has no state of its own."""

    def __init__(self, run: OperationContext) -> None:
        self.context = run
        self.performer = Performer(run)
        self.replacement = ReplacementPreparation(run, self.performer, self._delete)

    def joined(self, steps: Sequence[Step]) -> list[list[Step]]:
        """Return the steps in groups that are run at once: most are alone, see `Remover.joined`."""
        removes = any(step.kind is StepKind.DELETE for step in steps)
        return self.remover.joined(steps) if removes else [[step] for step in steps]

    async def run(self, steps: Sequence[Step]) -> None:
        """Run a step, or a group of several. Raises Failure, or Stopped if the run must stop."""
        run, step = self.context, steps[0]
        if len(steps) > 1:
            await self.remover.remove_together(steps)
            return
        async with run.services.memory.values.open(run.stack.project_id, partial(run.values_of, step.name, step.uuid)):
            run.check_stopped()
            if step.kind in (StepKind.DELETE, StepKind.FORGET):
                await self._remove(step)
            elif step.kind is StepKind.VERB:
                await self._verb(step)
            elif run.planning.desired is not None and step.name not in run.planning.desired.requires:
                raise await self._forbidden(self._state(step), step.reasons)
            else:
                await self.forward(step)

    def _state(self, step: Step) -> ResourceState:
        if step.uuid is None:
            raise Bug(f"step {step.key!r} has no resource")
        return self.context.states[step.uuid]

    # -- kept resources --------------------------------------------------------------------------------------

    def keep_as_is(self, step: Step) -> bool:
        """Return whether a kept resource needs no further check: nothing that it refers to has changed."""
        run, desired = self.context, self.context.planning.desired
        if step.uuid in run.planning.removal_options.skipped:
            run.current[step.name] = run.states[step.uuid]
            return True
        if desired is None or step.uuid is None or not run.objects.moved.isdisjoint(desired.requires[step.name]):
            return False
        if has_hook(run, step.name, "pre", "UPDATE"):
            return False
        state = run.states[step.uuid]
        run.current[step.name] = state
        type_name = desired.definition.resources[step.name].type
        return not self._outdated(state, type_name, frozenset(desired.requires[step.name]))

    def _outdated(self, state: ResourceState, type_name: str, requires: frozenset[str]) -> bool:
        """Return whether what is recorded differs from the definition in what its fingerprint does not contain."""
        row = state.row
        changed = not row.fingerprint or state.in_change or state.requires != requires or row.type != type_name
        return changed or row.replaced_by is not None or row.status != COMPLETE

    async def _keep(self, state: ResourceState, target: Target) -> None:
        run = self.context
        run.current[target.name] = state
        if not self._outdated(state, target.type_name, target.requires) and state.row.fingerprint == target.fingerprint:
            return
        describe(state, target)
        state.row.replaced_by = None
        state.row.status = COMPLETE
        state.stored.deployed = {}
        await run.commit(Batch().change(state.seal()))

    # -- creation, update and replacement --------------------------------------------------------------------

    async def forward(self, step: Step) -> None:
        """Create, update, replace or keep a desired resource; the decision is based on final values."""
        continuation = await self._begin(step)
        while continuation is not None:
            continuation = await continuation()

    async def _begin(self, step: Step) -> Continuation | None:
        """Decide on a resource, and record what is about to be done; return what does it.

        The order has these reasons:

        1. The final values are evaluated before the rest, since everything below compares with them. They are released
           before the returned `Continuation` runs: a resource that takes hours to create does not keep them in memory.
        2. An action that an earlier run has begun is finished before anything is decided: only then it is known which
           object there is, and which values it has.
        3. A hook holds the resource before the decision, not after it: while it holds, users may change the object, and
           the decision must see that.
        4. What is kept or updated serves again: what it gave up for a replacement is restored, and a suspended resource
           is resumed. That can change what remains to be done, so the policies judge only the result.
        5. Whatever policies and restrictions forbid ends here, before the first change of the resource is recorded.
        """
        run = self.context
        state = run.states.get(step.uuid or "")
        target = await self._final_target(step.name)
        if state is not None and state.in_progress and state.row.action in BEGINNING:
            run.current[step.name] = state
            # A nested stack accepts a newer definition at any time: earlier changes, such as further batches, need not
            # end.
            if not state.type.nested or state.row.fingerprint == target.fingerprint:
                await self._resume(state, target)
        if state is not None and state.row.action != NOT_CREATED and has_hook(run, target.name, "pre", "UPDATE"):
            await pause(run, state, "pre", "UPDATE")
        decision = await self._decide(target, state)
        if state is not None and decision.kind in (StepKind.KEEP, StepKind.UPDATE, StepKind.REFUSE):
            run.current[step.name] = state
            decision = await self._serving(target, state, decision)
        decision = Policies.of(run.services, run.stack, run.operation.action).checked(decision, target, state)
        if state is not None and decision.kind.value in target.restricted:
            raise await self._held(state, f"{decision.kind.value} is restricted for resource.")
        if state is not None and decision.kind is StepKind.REPLACE and self._is_imported(state):
            raise await self._held(state, f"{_NOT_REPLACED}: {', '.join(obstacles(decision))}")
        if state is not None and forbidden(decision):
            raise await self._forbidden(state, decision.reasons)
        await self._ask_policies(target, decision.kind)
        if state is not None and decision.kind is StepKind.KEEP:
            await self._keep(state, target)
        elif state is not None and decision.kind is StepKind.REFUSE:
            raise await self._refused(state, decision)
        elif state is not None and decision.kind is StepKind.UPDATE:
            return await self._update(state, target)
        else:
            return await self._create(target.fresh or target, state)
        return None

    async def _ask_policies(self, target: Target, kind: StepKind) -> None:
        """Ask the policies on plans about what is about to be done. Raises Failure."""
        if kind in (StepKind.KEEP, StepKind.REFUSE) or not self.context.planning.policies:
            return
        from stoker.engine.running.policies import check_step_by_policies

        await check_step_by_policies(self.context, target, kind)

    def _is_imported(self, state: ResourceState) -> bool:
        """Return whether the operation has imported the object, which it then never replaces."""
        return state.stored.origin.imported == self.context.operation.id

    async def _forbidden(self, state: ResourceState, reasons: Iterable[Reason]) -> Failure:
        """Return the failure for a change that an update policy forbids; the resource is unchanged."""
        return await self._held(state, "; ".join(reason.sentence() for reason in reasons))

    async def _held(self, state: ResourceState, text: str) -> Failure:
        """Return the failure for a change that is not allowed; the resource is unchanged."""
        run = self.context
        run.current[state.row.name] = state
        failure = Failure("ResourceActionRestricted", (state.row.name,), text)
        event = run.event(state, text, cause=failure)
        event.action, event.status = "UPDATE", FAILED
        await run.commit(Batch().add(event))
        return failure

    async def _final_target(self, name: str) -> Target:
        run, desired = self.context, self.context.planning.desired
        if (target := run.planning.targets.take(name)) is not None:
            return target
        assert desired is not None
        await self._prefetch(name)
        try:
            return await run.evaluate_values(partial(desired.target, name, run.scope), attrgetter("size"))
        except StokerError as error:
            raise Failure.of(error, name) from error

    async def _prefetch(self, name: str) -> None:
        """Read the attributes that the resource refers to and that are not recorded yet.

        Raises Failure if a service does not answer: without the values, the resource would get wrong properties.
        """
        run = self.context
        assert run.planning.desired is not None
        for reference in run.planning.desired.definition.resources[name].references:
            state = run.current.get(reference.resource)
            if state is None:
                continue
            for key in keys_of(reference, state.type):
                text = attribute_text(key)
                if text not in state.stored.attributes and (reference.resource, text) not in run.scope.prefetched:
                    try:
                        values = await self.performer.read(state, {key})
                    except CloudError as error:
                        problem = f"cannot read the attribute {key[0]} of {reference.resource}: {error.message}"
                        raise Failure(error.kind, (name,), problem) from error
                    run.scope.prefetched[reference.resource, text] = values.get(key)

    async def _decide(self, target: Target, state: ResourceState | None) -> Decision:
        if state is not None and is_examined(state.row):
            state.usable = await is_usable(self.performer.run, state)
        return decide(target, state)

    async def _serving(self, target: Target, state: ResourceState, decision: Decision) -> Decision:
        """Restore what a resource gave up for its replacement, and resume it if it is suspended; return what remains to
        do.

        The resources of a nested stack are resumed by its update.
        """
        if state.stored.made_way:
            await self.replacement.revert(state)
        if not may_be_suspended(state.row):
            return decision
        if state.type.nested:
            return Decision(StepKind.UPDATE, (Reason(ReasonCode.SUSPENDED),))
        await self._act(state, "RESUME")
        return await self._decide(target, state)

    async def _resume(self, state: ResourceState, target: Target) -> None:
        """Finish the action of an earlier run; remaining differences are decided afterwards."""
        state.stored.uncertain = state.row.action == "CREATE" and state.row.physical_id is None
        try:
            await self.performer.perform(state, bringing_about(state))
        except Failure:
            if state.row.fingerprint == target.fingerprint:
                raise
        except NeedsReplacement:
            state.row.status = FAILED

    async def _create(self, target: Target, former: ResourceState | None) -> Continuation:
        run = self.context
        former = await self.replacement.prepare(target, former)
        former_reference = former.reference_id() if former is not None else None
        state = await self._not_created(target, former)
        adopts = run.operation.action == "ADOPT"
        state.row.action, state.row.status = ("ADOPT" if adopts else "CREATE"), IN_PROGRESS
        state.row.started_at = run.services.clock.now()
        batch = Batch()
        batch.property_sets.append(state.set_properties(target.properties))
        if former is not None and former is not state:
            former.row.replaced_by = state.row.uuid
            batch.change(former.seal())
        if adopts:
            adopt(state, run.adopted(target.name))
        if target.external_id is not None:
            state.row.physical_id = str(target.external_id)
        if state.row.uuid not in run.states and state.type.nested:
            run.nested.lacking.add(state.row.uuid)
        write = batch.change if state.row.uuid in run.states else batch.add
        write(state.row if state.type.local else state.seal())  # what is local is sealed with the result of the method
        batch.add(run.event(state))
        run.states[state.row.uuid] = run.current[target.name] = state
        if not state.type.local:
            await self._record_beginning(state, batch)
        pending = batch if state.type.local else None

        async def create() -> None:
            await self.performer.perform(state, bringing_about(state), pending)
            if former is not None and former_reference != state.reference_id():
                run.objects.moved.add(state.row.name)

        return create

    async def _record_beginning(self, state: ResourceState, batch: Batch) -> None:
        """Commit the beginning of a creation or adoption. Raises Failure if the object belongs to another resource."""
        try:
            await self.context.commit(batch)
        except ObjectAlreadyOwned as taken:
            failure = not_owned(self.context, state, taken)
            await self.performer.failed(state, failure, batch)
            raise failure from taken

    async def _not_created(self, target: Target, former: ResourceState | None) -> ResourceState:
        """Return the resource before its creation; it is recorded if a hook holds it."""
        run = self.context
        known = former is not None and former.row.action == NOT_CREATED
        state = former if former is not None and known else self._new_state(target)
        describe(state, target)
        state.stored.metadata = target.metadata
        if has_hook(run, target.name, "pre", "CREATE"):
            if not known:
                await run.commit(Batch().add(state.seal()))
            run.states[state.row.uuid] = run.current[target.name] = state
            await pause(run, state, "pre", "CREATE")
        return state

    def _new_state(self, target: Target) -> ResourceState:
        run = self.context
        now = run.services.clock.now()
        row = Resource(
            uuid=new_id(),
            stack_id=run.stack.id,
            position=run.objects.next_position(),
            name=target.name,
            type=target.type_name,
            action=NOT_CREATED,
            status=COMPLETE,
            reason=NO_REASON,
            created_at=now,
            started_at=now,
        )
        return ResourceState(row, target.type, run.stack.name, run.services.sealer, run.services.memory.values)

    async def _update(self, state: ResourceState, target: Target) -> Continuation:
        run = self.context
        run.current[target.name] = state
        batch = Batch()
        state.row.action, state.row.status, state.row.started_at = "UPDATE", IN_PROGRESS, run.services.clock.now()
        state.row.replaced_by = None
        state.stored.progress, state.stored.marked = {}, False
        if target.renewed:
            former = {name: value for name, value in state.properties.items() if name not in target.renewed}
            batch.property_sets.append(state.set_properties(former))
        batch.property_sets.append(state.begin_change(target.properties))
        metadata_changed = state.stored.definition.get("metadata") != dict(target.metadata)
        describe(state, target)
        if metadata_changed:
            state.stored.metadata = target.metadata
        batch.change(state.seal()).add(run.event(state))
        await run.commit(batch)
        former_reference = state.reference_id()

        async def update() -> Continuation | None:
            try:
                await self.performer.perform(state, state.type.update)
            except NeedsReplacement as needed:
                if self._is_imported(state):
                    failure = Failure("NotSupported", (state.row.name,), f"{_NOT_REPLACED}: {needed}")
                    await self.performer.failed(state, failure)
                    raise failure from needed
                state.row.status = FAILED
                target = await self._final_target(state.row.name)
                await self._ask_policies(target, StepKind.REPLACE)
                return await self._create(target.fresh or target, state)
            if former_reference != state.reference_id():
                run.objects.moved.add(state.row.name)
            return None

        return update

    async def _refused(self, state: ResourceState, decision: Decision) -> Failure:
        """Return the failure for a change that is not supported; the resource is unchanged and has failed."""
        state.row.action, state.row.status = "UPDATE", IN_PROGRESS
        failure = Failure(
            "NotSupported", (state.row.name,), "; ".join(reason.sentence() for reason in decision.reasons)
        )
        await self.performer.failed(state, failure, Batch().add(self.context.event(state)))
        return failure

    # -- removal ---------------------------------------------------------------------------------------------

    @cached_property
    def remover(self) -> Remover:
        """Return what removes resources."""
        return Remover(self.context, self.performer)

    async def _remove(self, step: Step) -> None:
        """Delete a replaced or removed resource, unless it is used after all, or was deleted already."""
        state = self.context.states.get(step.uuid or "")
        if state is not None and not self.context.serves(state):
            await self.remover.delete(state, forgets=step.kind is StepKind.FORGET)

    async def _delete(self, state: ResourceState, wrap: MethodWrapper = unchanged) -> None:
        await self.remover.delete(state, wrap)

    # -- verbs -----------------------------------------------------------------------------------------------

    async def _verb(self, step: Step) -> None:
        """Apply an action to a resource; one that was never created fails, so that a check reports it, as in Heat."""
        state = self._state(step) if step.uuid is not None else None
        if state is None or state.row.action == NOT_CREATED:
            raise Failure("ResourceNotAvailable", (step.name,), "it has not been created")
        if self.context.operation.action == "CHECK" and is_incomplete(state):
            what = "its deletion has begun" if state.row.action == "DELETE" else "its creation has not finished"
            raise Failure("ResourceNotAvailable", (step.name,), f"{what}: {state.row.reason}")
        await self.verb(state, self.context.operation.action)

    async def verb(self, state: ResourceState, action: str) -> None:
        """Suspend, resume, check or snapshot a resource."""
        row = state.row
        if not takes_part(action, state):
            return
        if row.action == action and row.status == COMPLETE and action in ("SUSPEND", "RESUME"):
            return
        allowed = {
            "SUSPEND": (row.status == COMPLETE and row.action != "DELETE") or row.action == "SUSPEND",
            "RESUME": row.action in ("SUSPEND", "RESUME") and (row.status == COMPLETE or row.action == "RESUME"),
            "CHECK": True,
            "SNAPSHOT": True,
        }[action]
        if not (allowed or (state.in_progress and row.action == action)):
            state_name = f"{row.action}_{row.status}"
            raise Failure("NotSupported", (row.name,), f"{action.lower()} is not possible in state {state_name}")
        await self._act(state, action)

    async def _act(self, state: ResourceState, action: str) -> None:
        run, row = self.context, state.row
        if not (row.action == action and state.in_progress):
            row.action, row.status, row.started_at = action, IN_PROGRESS, run.services.clock.now()
            state.stored.progress, state.stored.marked = {}, False
            await run.commit(Batch().change(state.seal()).add(run.event(state)))
        copy = state.type.copy
        if action == "SNAPSHOT" and copy is not None and copy.has_content(state.snapshot()):
            await Copier(run, self.performer).make(state)
            return
        await self.performer.perform(state, partial(ACTIONS[action], state.type))
