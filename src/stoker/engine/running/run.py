"""One run of an operation: plan it, set ready steps going, record how it ended.

A run lives on the event loop of the engine that claimed its operation. It keeps nothing that cannot be had again from
the store: when its process dies, another engine claims the operation, plans anew from what is recorded, and goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection

from stoker.base.budget import Budget, opened
from stoker.base.errors import Bug, Fenced, StokerError, TemplateInvalid
from stoker.base.ids import new_id
from stoker.engine.notifications.announcer import Sinks
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Plan, Step, StepGraph
from stoker.engine.planning.planner import VerbOrder, Wanted, plan_forward, plan_removal, plan_verb, unmade_checks
from stoker.engine.records.failure import Failure
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.recorded import facade_of
from stoker.engine.records.state import ResourceState, attribute_text, namesakes
from stoker.engine.redaction.stacks import secrets_above, without_secrets
from stoker.engine.running.conclusion import FORWARD, NOTHING, REMOVES, ROLLS_BACK
from stoker.engine.running.exports import reached_values, refuse_changes
from stoker.engine.running.refresh import observe
from stoker.engine.running.stack_context import StackContext
from stoker.engine.running.stack_documents import (
    keep_document,
    load_adopted,
    load_copies,
    load_copies_to_remove,
    sealed_document,
)
from stoker.engine.running.steps import StepRunner
from stoker.engine.running.stopping import LOST, Stop, Stopped
from stoker.plugins.resource import AttributeKey
from stoker.store import exchange
from stoker.store.journal import Batch, Claim, waits_for_space
from stoker.store.records import COMPLETE, FAILED, REMOVE_SNAPSHOT, Event, Operation, Stack
from stoker.template.definition import Definition

if TYPE_CHECKING:
    from stoker.engine.core import Engine

LOG = logging.getLogger(__name__)

Result = TypeVar("Result")

_EVALUATIONS = 4
"""How often an operation evaluates what the check of a request evaluates once: in its plan, in steps, at its end."""

VERBS = {
    "CHECK": VerbOrder.ANY,
    "SUSPEND": VerbOrder.DEPENDENTS_FIRST,
    "RESUME": VerbOrder.REQUIREMENTS_FIRST,
    "SNAPSHOT": VerbOrder.REQUIREMENTS_FIRST,
}


class OperationRun(StackContext):
    """See the module's docstring. `done` is set when the run has ended and everything about it is recorded.

    `former_owner` is the engine that ran the operation before, where it has not handed it over itself.
    `making` has the tasks that make an object whose id is not on disk yet, by the resource's uuid.
    """

    def __init__(self, engine: Engine, operation: Operation, stack: Stack, former_owner: str | None = None) -> None:
        super().__init__(engine, stack, operation)
        self.operation: Operation = operation
        self.former_owner = former_owner
        self.claim: Claim = Claim(operation.id, operation.epoch)
        self.claimed_at = engine.clock.now()
        self.moved: set[str] = set()
        self.earlier: Mapping[str, list[ResourceState]] = {}
        self.making: dict[str, asyncio.Task[Any]] = {}
        self.failures: list[Failure] = []
        self.stopping: Stop | None = None
        self.cancelled = False
        self._unsaved_plan = False
        self.wanted: Wanted | None = None
        self.plan: Plan | None = None
        self.attribute_keys: dict[str, set[AttributeKey]] = {}
        self.copies: dict[str, ResourceState] = {}
        self.snapshot_path: tuple[str, ...] = ()
        self.document: str | None = None
        self.done = asyncio.Event()
        self.follow_up: OperationRun | None = None
        self._graph = StepGraph()
        self._runner = StepRunner(self)
        self._tasks: set[asyncio.Task[None]] = set()
        self._active = 0
        self._idle = asyncio.Event()
        self._paused: dict[str, asyncio.Future[None]] = {}
        self._woken: set[str] = set()
        self._position = 0

    @property
    def key(self) -> str:
        """What only one run at a time works on: the stack, or the snapshot that is removed."""
        return self.operation.stack_id

    # -- from start to end -----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Carry the operation out; never raises."""
        waits_for_space.set(True)
        try:
            with opened(Budget(self.engine.loader.limits.allowed.times(_EVALUATIONS))):
                await self._prepare()
                self._keep_plan()
                await self._execute()
                await self._refresh_outputs()
            await self._finish()
        except Fenced:
            LOG.info("operation %s of stack %s has another owner now", self.operation.id, self.stack.name)
        except StokerError as error:
            await self._abort(error)
        except Exception as error:
            reference = new_id()
            LOG.exception("operation %s failed unexpectedly, reference %s", self.operation.id, reference)
            await self._abort(Bug(f"an unexpected problem of Stoker, reference {reference} ({type(error).__name__})"))
        finally:
            self.done.set()

    async def _prepare(self) -> None:
        action = self.operation.action
        if action == REMOVE_SNAPSHOT:
            self.plan = plan_removal(action, [])
            return
        made_from = self.operation.inputs if action in FORWARD else NOTHING
        inputs = await self.load(self.stack.inputs if made_from == NOTHING else made_from)
        self._position = max((state.row.position for state in self.states.values()), default=0)
        states = list(self.states.values())
        self.earlier = namesakes(states)
        if action in VERBS:
            wanted = await self._bind_definition(inputs)
            await load_copies(self)
            unmade = unmade_checks(wanted, states) if action == "CHECK" else ()
            self.plan = plan_verb(action, states, order=VERBS[action], unmade=unmade)
        elif action in REMOVES or self.operation.inputs == NOTHING:
            if action == "ABANDON":
                await keep_document(self)
            self.plan = plan_removal(action, states)
        elif action in FORWARD:
            wanted = await self._bind_definition(inputs)
            wanted.restore = await load_copies(self)
            if action == "ADOPT":
                self.adopted = await load_adopted(self)
            if self.operation.observe:
                await observe(self, states)
            former = await self._former()
            plan = await self.evaluate(partial(plan_forward, action, wanted, states, self.scope, former))
            self.plan = replace(plan, secrets=plan.secrets | await secrets_above(self.engine, self.stack))
        else:
            raise Bug(f"there is no way to run {action}")

    async def evaluate(self, work: Callable[[], Result]) -> Result:
        """What comes of work that the template makes; it is charged to the operation."""
        return await self.engine.evaluator.evaluate(self.stack.project_id, work)

    async def load(self, inputs_id: str) -> LoadedInputs:
        """As `StackContext.load`, which finds no resources in a stack that nothing has been done to before."""
        operation = self.operation
        if operation.action != "CREATE" or operation.former_inputs is not None or operation.epoch > 1:
            return await super().load(inputs_id)
        self.inputs = await self.engine.loader.load(inputs_id)
        return self.inputs

    def _keep_plan(self) -> None:
        """Keep for the history what the operation set out to do: what an earlier run of it planned, if there was one.

        Steps that do nothing are only counted.
        """
        if self.operation.plan is not None or self.plan is None:
            return
        acting = tuple(step for step in self.plan.steps if step.kind is not Kind.KEEP)
        shown = {**replace(self.plan, steps=acting).to_data(), "summary": self.plan.summary()}
        self.operation.plan = self.engine.sealer.seal(shown)
        self._unsaved_plan = True

    async def _bind_definition(self, inputs: LoadedInputs) -> Wanted:
        loader = self.engine.loader
        exports = await loader.exports(self.stack.project_id, inputs.template)

        def bound() -> Wanted:
            definition = loader.bind(self.stack, inputs, strict=False, exports=exports)
            return self.engine.wanted(definition, inputs)

        self.wanted = await self.evaluate(bound)
        self.wanted.since = self.operation.created_at
        if inputs.template.uses("Fn::GetAZs"):
            await self.load_zones()
        self.scope.parent = await self.engine.database.read(facade_of, self.engine, self.stack, inputs)
        self.attribute_keys = self.wanted.keys_for_resources()
        return self.wanted

    async def _former(self) -> Definition | None:
        """What the stack was to be before, where that hides values that the plan must not show."""
        identifier = self.operation.former_inputs
        if not identifier or identifier == self.operation.inputs:
            return None
        inputs = await self.engine.loader.load(identifier)
        if not inputs.template.hides:
            return None
        return await self.engine.bind(self.stack, inputs)

    async def _execute(self) -> None:
        assert self.plan is not None
        deadline = self.operation.deadline
        timer = None
        if deadline is not None:
            clock = self.engine.clock
            timer = clock.call_later(max(deadline - clock.now(), 0.0), lambda: self.stop(Stop.EXPIRED))
        try:
            making, removing = self.plan.halves()
            await self._carry_out(making)
            if not self._ends_early():
                await self._check_exports()
                await self._carry_out(removing)
            if left_over := await self._left_over():
                await self._carry_out(plan_removal(self.operation.action, left_over))
        finally:
            if timer is not None:
                timer.cancel()

    def _ends_early(self) -> bool:
        """Whether nothing more is begun."""
        return bool(self.failures) or self.stopping is not None or self.cancelled

    async def _check_exports(self) -> None:
        """Fail, while nothing has been removed yet, rather than give what another stack imports another value.

        A rollback is not asked: it comes as near to what was as it can. Raises StackValidationFailed.
        """
        if self.wanted is None or self.operation.action not in ROLLS_BACK:
            return
        names = [name for name, _ in self.wanted.definition.exports()]
        if not names or not await self.engine.database.read(exchange.importers, self.stack.project_id, names):
            return
        await self._refresh_outputs()
        if self._ends_early():
            return
        values = reached_values(self, self.wanted)
        await self.engine.database.read(refuse_changes, self.engine, self.stack, values)

    async def _carry_out(self, plan: Plan) -> None:
        """Return when all steps have ended, or as many as could begin."""
        self._graph = StepGraph.of(plan)
        self._idle.clear()
        self._start(self._graph.ready())
        if self._active:
            await self._idle.wait()

    async def _left_over(self) -> list[ResourceState]:
        """What goes when the plan has been carried out: copies that snapshots hold, which nested stacks may be making
        for as long as they are there; and what steps have replaced that the plan meant to keep.
        """
        if self._ends_early():
            return []
        if self.operation.action in ("DELETE", REMOVE_SNAPSHOT):
            with contextlib.suppress(Stopped):
                return await load_copies_to_remove(self)
        if self.wanted is None or self.operation.action not in FORWARD:
            return []
        mine = [state for state in self.states.values() if state.row.stack_id == self.stack.id]
        return [state for state in mine if not self.serves(state)]

    def serves(self, state: ResourceState) -> bool:
        """Whether a resource is the one that the definition is brought about with."""
        name = state.row.name
        return self.wanted is not None and name in self.wanted.requires and self.current.get(name) is state

    def _start(self, ready: Iterable[Step]) -> None:
        """Set steps going; kept resources release what waits for them on the spot."""
        pending = deque(ready)
        while pending and self.stopping is None and not self.cancelled:
            step = pending.popleft()
            if step.kind is Kind.KEEP and self._runner.keep_as_is(step):
                pending.extend(self._graph.finished(step.key))
                continue
            self._active += 1
            task = asyncio.create_task(self._guard(step))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _guard(self, step: Step) -> None:
        LOST.set(lambda: self.stopping is Stop.LOST)
        try:
            await self._runner.run(step)
        except Failure as failure:
            self.failures.append(failure)
        except (Stopped, Fenced):
            self.stopping = self.stopping or Stop.SUPERSEDED
        except Exception as error:
            reference = new_id()
            LOG.exception("step %r of operation %s failed unexpectedly, %s", step.key, self.operation.id, reference)
            self.failures.append(Failure.of(Bug(str(error), reference), step.name))
        else:
            self._start(self._graph.finished(step.key))
        self._active -= 1
        if not self._active:
            self._idle.set()

    async def _refresh_outputs(self) -> None:
        """Record the attributes that outputs show, now that everything they may tell of has happened.

        An address that a server got by a later resource is an example. When nothing was done only those are read that
        nothing showed before.
        """
        assert self.plan is not None
        if self.wanted is None or self._ends_early():
            return
        acted = any(step.kind is not Kind.KEEP for step in self.plan.steps)
        wanted: list[tuple[ResourceState, set[AttributeKey]]] = []
        for name, keys in self.wanted.keys_for_outputs().items():
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

    # -- waiting and being woken -----------------------------------------------------------------------------

    async def pause(self, uuid: str, seconds: float | None) -> None:
        """Let a step wait `seconds`, or until somebody wakes it. Raises Stopped when the run stops."""
        self.check_stopped()
        if uuid in self._woken:
            self._woken.discard(uuid)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._paused[uuid] = future
        timer = None
        if seconds is not None:
            timer = self.engine.clock.call_later(seconds, lambda: self.wake(uuid))
        try:
            await future
        finally:
            del self._paused[uuid]
            self._woken.discard(uuid)
            if timer is not None:
                timer.cancel()
        self.check_stopped()

    def check_stopped(self) -> None:
        """Raise Stopped when the run has been told to stop."""
        if self.stopping is not None:
            raise Stopped(self.stopping.value)

    def wake(self, uuid: str) -> None:
        """Have a waiting step look again now."""
        future = self._paused.get(uuid)
        if future is None:
            self._woken.add(uuid)
        elif not future.done():
            future.set_result(None)

    def wake_all(self) -> None:
        """Have every waiting step look again now: something in the stack has been told something."""
        for future in self._paused.values():
            if not future.done():
                future.set_result(None)

    def stop(self, why: Stop) -> None:
        """Start no more steps; those that wait leave at once, those in the middle of a call when it has ended."""
        if self.stopping is None:
            self.stopping = why
            self.wake_all()
            if not self._active:
                self._idle.set()

    def cancel(self) -> None:
        """Start no more steps; those under way go on to their end, and those that a hook holds fail."""
        self.cancelled = True
        self.wake_all()
        if not self._active:
            self._idle.set()

    def abandon(self) -> None:
        """Leave everything as it is, in the middle of a call even: another engine has gone on from what is recorded.

        Only calls that make something go on to their end, so that what comes of them is known.
        """
        if self.stopping is not Stop.LOST:
            self.stopping = Stop.LOST
            making = set(self.making.values())
            for task in self._tasks - making:
                task.cancel()
            for task in making:
                self.engine.spawn(ended(task))
            self.wake_all()
            self._idle.set()

    def release(self) -> int:
        """Let go of what the run knew of its stack, once nothing drives it any more; the number of its resources.

        A run and what carries out its steps refer to each other. Without this, everything that it has read would stay
        in memory until the garbage collector looks at objects of that age, which happens rarely.
        """
        number = len(self.states)
        if self.making:  # a call of a run that was lost is still on its way, and ends by itself
            return number
        for known in (self.states, self.current, self.copies, self.children, self.attribute_keys):
            known.clear()
        self.earlier, self.adopted = {}, {}
        self._graph, self.plan, self.wanted, self.inputs, self.document = StepGraph(), None, None, None, None
        self.failures.clear()
        return number

    # -- recording -------------------------------------------------------------------------------------------

    def next_position(self) -> int:
        """Creation order of the next resource row."""
        self._position += 1
        return self._position

    async def commit(self, batch: Batch) -> None:
        """Commit changes under this run's claim; the first commit takes the plan along."""
        batch.claim = self.claim
        if self._unsaved_plan:
            self._unsaved_plan = False
            batch.change(self.operation)
        await self.engine.announcer.commit(batch, self.sinks)

    async def record(self, state: ResourceState, event: Event, *further: Callable[[Connection], None]) -> None:
        """See StackContext; the run's claim protects it here."""
        batch = Batch().change(state.seal()).add(event)
        batch.steps.extend(further)
        await self.commit(batch)

    @property
    def sinks(self) -> Sinks:
        """Where the environment has events sent."""
        return self.inputs.environment.event_sinks if self.inputs is not None else ()

    def event(self, state: ResourceState, reason: str = "state changed") -> Event:
        """An event that tells the state's present action and status."""
        return state.event(reason, self.engine.clock.now())

    def told(self, state: ResourceState) -> tuple[Event, ...]:
        """The event of a resource's present state; what a snapshot holds is no resource of the stack, and has none."""
        return (self.event(state),) if state.row.stack_id == self.stack.id else ()

    async def _finish(self) -> None:
        if self.stopping is Stop.LOST:
            LOG.info("operation %s of stack %s is left to its new owner", self.operation.id, self.stack.name)
        elif self.cancelled:
            await self.engine.end_cancelled(self)
        elif self.stopping is Stop.SHUTDOWN:
            await self.engine.hand_over(self)
        elif self.stopping is Stop.SUPERSEDED:
            await self.engine.end_superseded(self)
        elif self.stopping is not None:
            await self._end(FAILED, self.stopping.value)
        elif self.failures:
            await self._end(FAILED, self._failure_text())
        else:
            if self.operation.action == "DELETE":  # the users of a stack that is abandoned live on
                await self.engine.credentials.remove_user_project(self.stack)
            elif self.operation.action == "SNAPSHOT" and self.operation.parent_operation is None:
                self.document = await sealed_document(self)
            await self._end(COMPLETE, f"Stack {self.operation.stack_action} completed successfully{self._unchecked()}")

    def _unchecked(self) -> str:
        """What a check could not look at, for its result."""
        if self.operation.action != "CHECK":
            return ""
        names = sorted(name for name, state in self.current.items() if not state.type.checkable)
        return f", but there is no check for {', '.join(names)}" if names else ""

    def _failure_text(self) -> str:
        first = self.failures[0]
        if self.operation.action == "CHECK":
            return "; ".join(failure.text() for failure in self.failures)
        action = self.current[first.path[0]].row.action if first.path[0] in self.current else self.operation.action
        return f"Resource {action} failed: {first.text()}"

    async def _abort(self, error: StokerError) -> None:
        """Record what kept the operation from its end; where that fails too, a later run of it records its own."""
        try:
            message = error.message if not isinstance(error, TemplateInvalid) else f"{error.kind}: {error.message}"
            await self._end(FAILED, message)
        except Fenced:
            LOG.info("operation %s has another owner now", self.operation.id)
        except Exception:
            LOG.exception("the end of operation %s cannot be recorded; it is taken on anew", self.operation.id)

    async def _end(self, status: str, reason: str) -> None:
        told = await without_secrets(self, reason) if status == FAILED else reason
        await self.engine.end(self, status, told)

    # -- what steps ask for ----------------------------------------------------------------------------------

    def hooks(self, name: str) -> frozenset[str]:
        """Hooks that the environment sets on a resource."""
        return self.inputs.environment.registry.hooks(name) if self.inputs is not None else frozenset()

    def keys_of(self, name: str) -> set[AttributeKey]:
        """Attributes of a resource that others, or outputs, refer to."""
        return self.attribute_keys.get(name, set())

    def values(self) -> Mapping[str, Any]:
        """What a watcher may see of the run right now."""
        return {
            "operation": self.operation.id,
            "stack": self.stack.name,
            "action": self.operation.action,
            "active": self._active,
            "waiting": len(self._paused),
        }


async def ended(task: asyncio.Task[Any]) -> None:
    """Return when a task has ended, however it has."""
    await asyncio.wait([task])
