"""One run of an operation: plan it, start ready steps, record the result.

A run lives on the event loop of the engine that claimed its operation. All its data can be read from the database: when
its process dies, another engine claims the operation, makes a new plan from the record, and continues.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from stoker.base.budget import Budget, opened
from stoker.base.errors import Bug, Fenced, StokerError, TemplateInvalid
from stoker.base.ids import new_id
from stoker.engine.calls.context import ActingParts
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Plan, Step, StepGraph
from stoker.engine.planning.planner import VerbOrder, Wanted, not_created_checks, plan_forward, plan_removal, plan_verb
from stoker.engine.planning.policies import Policies
from stoker.engine.records.actions import DEFINES, FORWARD, NOTHING, REMOVES
from stoker.engine.records.failure import Failure
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.recorded import facade_of
from stoker.engine.records.state import ResourceState, attribute_text, namesakes
from stoker.engine.redaction.stacks import generated_secrets, secrets_above, without_secrets
from stoker.engine.running.endings import Endings
from stoker.engine.running.exports import reached_values, refuse_changes
from stoker.engine.running.lifecycle import Lifecycle
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.progress import Planning
from stoker.engine.running.refresh import examine, observe
from stoker.engine.running.stack_documents import (
    keep_document,
    load_adopted,
    load_copies,
    load_copies_to_remove,
    load_idle_copies,
    sealed_document,
)
from stoker.engine.running.steps import StepRunner
from stoker.engine.running.stopping import LOST, Stop, Stopped
from stoker.engine.running.unchecked import unchecked_note
from stoker.engine.running.user_projects import remove_user_project
from stoker.plugins.lifecycle import OperationRefused
from stoker.plugins.resource import AttributeKey
from stoker.store import exchange, late_requests
from stoker.store.journal import Batch, waits_for_space
from stoker.store.records import COMPLETE, FAILED, REMOVE_SNAPSHOT, SUPERSEDED, Operation, Stack
from stoker.template.definition import Definition

LOG = logging.getLogger(__name__)

Result = TypeVar("Result")

_EVALUATIONS = 4
"""Number of evaluations of the template in an operation, compared with one in the check of a request."""

VERBS = {
    "CHECK": VerbOrder.ANY,
    "SUSPEND": VerbOrder.DEPENDENTS_FIRST,
    "RESUME": VerbOrder.REQUIREMENTS_FIRST,
    "SNAPSHOT": VerbOrder.REQUIREMENTS_FIRST,
}


class OperationRun(OperationContext):
    """Runs an operation as the module's docstring describes; `endings` records how it ends."""

    def __init__(
        self,
        parts: ActingParts,
        endings: Endings,
        operation: Operation,
        stack: Stack,
        former_owner: str | None = None,
    ) -> None:
        super().__init__(parts, operation, stack, former_owner)
        self._endings = endings
        self._lifecycle = Lifecycle(parts.services.registry.lifecycle())
        self._graph = StepGraph()
        self._runner = StepRunner(self)
        self._tasks: set[asyncio.Task[None]] = set()
        self._active = 0
        self._begun = False
        self._idle = asyncio.Event()

    # -- from start to end -----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Run the operation; never raises."""
        waits_for_space.set(True)
        self._begun = True
        try:
            with opened(Budget(self.services.loader.limits.allowed.times(_EVALUATIONS))):
                await self._prepare()
                self._keep_plan()
                self.progress.planned.set()
                await self._ask_plugins()
                await self._execute()
                await self._refresh_outputs()
            await self._finish()
        except Fenced:
            LOG.info("operation %s of stack %s was taken over by another engine", self.operation.id, self.stack.name)
        except StokerError as error:
            await self._abort(error)
        except Exception as error:
            reference = new_id()
            LOG.exception("operation %s failed unexpectedly, reference %s", self.operation.id, reference)
            await self._abort(Bug(f"Internal error; quote reference {reference} ({type(error).__name__})"))
        finally:
            self.progress.planned.set()
            self.progress.done.set()

    async def _prepare(self) -> None:
        action = self.operation.action
        if action == REMOVE_SNAPSHOT:
            self.planning.plan = plan_removal(action, [])
            return
        made_from = self.operation.inputs if action in FORWARD else NOTHING
        inputs = await self.load(self.stack.inputs if made_from == NOTHING else made_from)
        self._position = max((state.row.position for state in self.states.values()), default=0)
        states = list(self.states.values())
        if states:
            self.objects.late = await self.services.database.read(late_requests.expected, self.stack.id)
        self.planning.earlier = namesakes(states)
        for state in states:
            self.services.values.rest(state)
        if action in VERBS:
            wanted = await self._bind_definition(inputs)
            await load_copies(self)
            not_created = not_created_checks(wanted, states) if action == "CHECK" else ()
            self.planning.plan = plan_verb(action, states, order=VERBS[action], not_created=not_created)
        elif action in REMOVES or self.operation.inputs == NOTHING:
            if action == "ABANDON":
                await keep_document(self)
            self.planning.plan = plan_removal(action, states)
        elif action in FORWARD:
            wanted = await self._bind_definition(inputs)
            wanted.restore = await load_copies(self)
            if action == "ADOPT":
                self.planning.adopted = await load_adopted(self)
            if self.operation.observe:
                await observe(self, states)
            await examine(self, states)
            former = await self._former()
            above = await self._secrets_above()
            policies = Policies.of(self.services, self.stack, action)
            work = partial(plan_forward, action, wanted, states, self.scope, policies, former, above)
            self.planning.plan = await self.evaluate(work, len(wanted.definition.resources))
        else:
            raise Bug(f"there is no way to run {action}")

    async def _ask_plugins(self) -> None:
        """Call the lifecycle plug-ins, while nothing has been done yet. Raises OperationRefused."""
        try:
            await self._lifecycle.before(self)
        except OperationRefused:
            self.progress.refused = self.operation.epoch == 1
            raise

    async def _secrets_above(self) -> frozenset[str]:
        """Return the secrets of the stacks above: from the plan of the parent operation, or from the database."""
        above = self.parts.runs.get(self.stack.parent_id or "")
        if above is not None and above.has_plan:
            return above.planned_secrets.union(generated_secrets(above))
        return frozenset(await secrets_above(self.services, self.stack))

    async def load(self, inputs_id: str) -> LoadedInputs:
        """Load inputs like `StackContext.load`; skip the resources of a new stack, which has none."""
        operation = self.operation
        if operation.action != "CREATE" or operation.former_inputs is not None or operation.epoch > 1:
            return await super().load(inputs_id)
        self.inputs = await self.services.loader.load(inputs_id)
        return self.inputs

    def _keep_plan(self) -> None:
        """Store the plan for the history: that of an earlier run of the operation, if there was one.

        Steps without effect are only counted.
        """
        plan = self.planning.plan
        if self.operation.plan is not None or plan is None:
            return
        acting = tuple(step for step in plan.steps if step.kind is not Kind.KEEP)
        shown = {**replace(plan, steps=acting).to_data(), "summary": plan.summary()}
        self.operation.plan = self.services.sealer.seal(shown)
        self._unsaved_plan = True

    async def _bind_definition(self, inputs: LoadedInputs) -> Wanted:
        loader = self.services.loader
        exports = await loader.exports(self.stack.project_id, inputs.template)

        def bound() -> Wanted:
            definition = loader.bind(self.stack, inputs, strict=False, exports=exports)
            return Wanted.of(self.services, definition, inputs)

        wanted = self.planning.wanted = await self.evaluate(bound)
        wanted.since = self.operation.created_at
        if inputs.template.uses("Fn::GetAZs"):
            await self.load_zones()
        self.scope.parent = await self.services.database.read(facade_of, self.services, self.stack, inputs)
        self.planning.attribute_keys = wanted.keys_for_resources()
        return wanted

    async def _former(self) -> Definition | None:
        """Return the previous definition of the stack if it has hidden values that the plan must not show."""
        identifier = self.operation.former_inputs
        if not identifier or identifier == self.operation.inputs:
            return None
        inputs = await self.services.loader.load(identifier)
        if not inputs.template.hides:
            return None
        return await self.services.bind(self.stack, inputs)

    async def _execute(self) -> None:
        assert self.planning.plan is not None
        deadline = self.operation.deadline
        timer = None
        if deadline is not None:
            clock = self.services.clock
            timer = clock.call_later(max(deadline - clock.now(), 0.0), lambda: self.stop(Stop.EXPIRED))
        try:
            await self._remove_copies_first()
            making, removing = self.planning.plan.halves()
            await self._carry_out(making)
            if not self._ends_early():
                await self._check_exports()
                await self._carry_out(removing)
            if left_over := await self._left_over():
                await self._carry_out(plan_removal(self.operation.action, left_over))
            if self.operation.action == "DELETE" and not self._ends_early():  # an abandoned stack keeps its users
                await remove_user_project(self)
        finally:
            if timer is not None:
                timer.cancel()

    def _ends_early(self) -> bool:
        """Return whether no more steps are started."""
        return bool(self.progress.failures) or self.progress.stopping is not None or self.progress.cancelled

    async def _check_exports(self) -> None:
        """Fail before anything is removed, if an export that another stack imports would change.

        Rollbacks are not checked: they restore the previous state as far as possible. Raises StackValidationFailed.
        """
        wanted = self.planning.wanted
        if wanted is None or self.operation.action not in DEFINES:
            return
        names = [name for name, _ in wanted.definition.exports()]
        if not names or not await self.services.database.read(exchange.importers, self.stack.project_id, names):
            return
        await self._refresh_outputs()
        if self._ends_early():
            return
        values = reached_values(self, wanted)
        await self.services.database.read(refuse_changes, self.services, self.stack, values)

    async def _carry_out(self, plan: Plan) -> None:
        """Return when all steps have ended, or all that could be started."""
        self._graph = StepGraph.of(plan)
        self._idle.clear()
        self._start(self._graph.ready())
        if self._active:
            await self._idle.wait()

    async def _remove_copies_first(self) -> None:
        """Remove the copies of a deleted stack's snapshots before its resources.

        The copy of a server can consist of snapshots of its volumes, which cannot be deleted as long as these exist.
        """
        if self.operation.action == "DELETE" and (copies := await load_idle_copies(self)):
            await self._carry_out(plan_removal(self.operation.action, copies))

    async def _left_over(self) -> list[ResourceState]:
        """Return what remains to be removed after the plan: copies of snapshots, which nested stacks can create as long
        as they exist; and resources that steps have replaced although the plan meant to keep them.
        """
        if self._ends_early():
            return []
        if self.operation.action in ("DELETE", REMOVE_SNAPSHOT):
            with contextlib.suppress(Stopped):
                return await load_copies_to_remove(self)
        if self.planning.wanted is None or self.operation.action not in FORWARD:
            return []
        mine = [state for state in self.states.values() if state.row.stack_id == self.stack.id]
        return [state for state in mine if not self.serves(state)]

    def _start(self, ready: Iterable[Step]) -> None:
        """Start steps; kept resources release their dependents immediately."""
        pending = deque(ready)
        while pending and self.progress.stopping is None and not self.progress.cancelled:
            step = pending.popleft()
            if step.kind is Kind.KEEP and self._runner.keep_as_is(step):
                pending.extend(self._graph.finished(step.key))
                continue
            self._active += 1
            task = asyncio.create_task(self.services.turns.taken(self.turn, partial(self._guard, step)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _guard(self, step: Step) -> None:
        LOST.set(lambda: self.progress.stopping is Stop.LOST)
        try:
            await self._runner.run(step)
        except Failure as failure:
            self.progress.failures.append(failure.bare())
        except (Stopped, Fenced):
            self.progress.stopping = self.progress.stopping or Stop.SUPERSEDED
        except Exception as error:
            reference = new_id()
            LOG.exception("step %r of operation %s failed unexpectedly, %s", step.key, self.operation.id, reference)
            self.progress.failures.append(Failure.of(Bug(str(error), reference), step.name))
        else:
            self._start(self._graph.finished(step.key))
        self._active -= 1
        if not self._active:
            self._idle.set()

    async def _refresh_outputs(self) -> None:
        """Record the attributes for outputs, now that all steps they can depend on have ended.

        For example, a server can receive an address from a later resource. If no step had an effect, only attributes
        without a recorded value are read.
        """
        assert self.planning.plan is not None
        if self.planning.wanted is None or self._ends_early():
            return
        acted = any(step.kind is not Kind.KEEP for step in self.planning.plan.steps)
        wanted: list[tuple[ResourceState, set[AttributeKey]]] = []
        for name, keys in self.planning.wanted.keys_for_outputs().items():
            if (state := self.current.get(name)) is not None:
                recorded = {} if acted else state.stored.attributes
                if unread := {key for key in keys if attribute_text(key) not in recorded}:
                    wanted.append((state, unread))
        try:
            found = await asyncio.gather(*(self._runner.performer.read(state, keys) for state, keys in wanted))
        except Stopped:
            return
        for (state, _), values in zip(wanted, found, strict=True):
            state.stored.attributes |= {attribute_text(key): value for key, value in values.items()}
        if wanted:
            await self.commit(Batch().change(*(state.seal() for state, _ in wanted)))

    def stop(self, why: Stop) -> None:
        """Start no more steps; end waiting steps immediately, and others after their current call."""
        if self.progress.stopping is None:
            self.progress.stopping = why
            self.wake_all()
            if not self._active:
                self._idle.set()

    def cancel(self) -> None:
        """Start no more steps; finish those in progress, and fail those that are held by a hook."""
        self.progress.cancelled = True
        self.wake_all()
        if not self._active:
            self._idle.set()

    def abandon(self) -> None:
        """Stop immediately, even during a call: another engine has resumed the operation from the record.

        Only calls that create an object are finished, so that their results are known.
        """
        if self.progress.stopping is not Stop.LOST:
            self.progress.stopping = Stop.LOST
            making = set(self.objects.making.values())
            for task in self._tasks - making:
                task.cancel()
            for task in making:
                self.services.background.spawn(ended(task))
            self.wake_all()
            self._idle.set()

    def release(self) -> int:
        """Release the run's data about its stack when it has ended; return the number of its resources.

        A run and its step runner refer to each other. Otherwise all data would stay in memory until the garbage
        collector collects old objects, which happens rarely.
        """
        number = len(self.states)
        for state in (*self.states.values(), *self.current.values()):
            self.services.values.take(state)
        if self.objects.making:  # a call of a lost run is still in progress, and ends by itself
            return number
        self.states.clear()
        self.current.clear()
        self.nested.begun.clear()
        self.planning, self._graph, self.inputs = Planning(), StepGraph(), None
        self.progress.document = None
        self.progress.failures.clear()
        return number

    async def _finish(self) -> None:
        progress = self.progress
        if progress.stopping is Stop.LOST:
            LOG.info("operation %s of stack %s was taken over by its new owner", self.operation.id, self.stack.name)
        elif progress.cancelled:
            await self._lifecycle.after(FAILED)
            await self._endings.end_cancelled(self.operation, self.stack)
        elif progress.stopping is Stop.SHUTDOWN:
            await self._endings.hand_over(self)
        elif progress.stopping is Stop.SUPERSEDED:
            await self._lifecycle.after(SUPERSEDED)
            await self._endings.end_superseded(self.operation, self.stack)
        elif progress.stopping is not None:
            await self._end(FAILED, progress.stopping.value)
        elif progress.failures:
            told = progress.failures if self.operation.action == "CHECK" else progress.failures[:1]
            failure = Failure.joined(told)
            await self._end(FAILED, self._failure_text(failure), failure)
        else:
            if self.operation.action == "SNAPSHOT" and self.operation.parent_operation is None:
                progress.document = await sealed_document(self)
            done = f"Stack {self.operation.stack_action} completed successfully"
            unchecked = await unchecked_note(self.services, self.stack) if self.operation.action == "CHECK" else ""
            await self._end(COMPLETE, done + unchecked)

    def _failure_text(self, failure: Failure) -> str:
        if self.operation.action == "CHECK":
            return failure.text()
        state = self.current.get(failure.path[0])
        is_defining = self.operation.action not in VERBS
        action = state.row.action if state is not None and is_defining else self.operation.action
        return f"Resource {action} failed: {failure.text()}"

    async def _abort(self, error: StokerError) -> None:
        """Record the error that ended the operation; if that fails, the operation is claimed and run again."""
        try:
            message = error.message if not isinstance(error, TemplateInvalid) else f"{error.kind}: {error.message}"
            await self._end(FAILED, message)
        except Fenced:
            LOG.info("operation %s was taken over by another engine", self.operation.id)
        except Exception:
            LOG.exception("cannot record the end of operation %s; it will be claimed and run again", self.operation.id)

    async def _end(self, status: str, reason: str, failure: Failure | None = None) -> None:
        if status == FAILED:
            names = {failed.path[0] for failed in self.progress.failures}
            about = [self.current[name] for name in names & self.current.keys()]
            message = "" if failure is None else failure.message
            reason, message = await without_secrets(self, [reason, message], about)
            self.progress.failure = None if failure is None else replace(failure, message=message)
        await self._lifecycle.after(status)
        await self._endings.end(self, status, reason)

    @property
    def working(self) -> bool:
        """Return whether the run executes code or waits for a response now, instead of only for time to pass."""
        return self._begun and (not self._active or self._active > len(self.waiting.paused))

    def note_activity(self) -> bool:
        """Note whether the run works or waits in the operation's row; return whether that has changed."""
        noted = self.assignment.claim.epoch if not self.working else None
        changed = self.operation.waiting_epoch != noted
        self.operation.waiting_epoch = noted
        return changed

    def values(self) -> Mapping[str, Any]:
        """Return the current values of the run for observers."""
        return {
            "operation": self.operation.id,
            "stack": self.stack.name,
            "action": self.operation.action,
            "active": self._active,
            "waiting": len(self.waiting.paused),
        }


async def ended(task: asyncio.Task[Any]) -> None:
    """Return when a task has ended, with any result."""
    await asyncio.wait([task])
