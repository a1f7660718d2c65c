"""One run of an operation: plan it, start each step when the steps before it have ended, record the result.

A run lives on the event loop of the engine that claimed its operation. All its data can be read from the database: when
its process dies, another engine claims the operation, makes a new plan from the record, and continues.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar, cast

from stoker.base.budget import Budget, opened
from stoker.base.errors import (
    ApprovalRequired,
    Bug,
    Fenced,
    PolicyDenied,
    PreflightFailed,
    StokerError,
    TemplateInvalid,
)
from stoker.base.ids import new_id
from stoker.engine.calls.context import ActionComponents
from stoker.engine.planning.action_order import plan_removal
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step, StepGraph
from stoker.engine.records.actions import FORWARD
from stoker.engine.records.beginnings import written_policies
from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import without_secrets
from stoker.engine.running.completion import OperationCompletion, check_exports, refresh_outputs
from stoker.engine.running.imports import record_transfers
from stoker.engine.running.lifecycle import Lifecycle
from stoker.engine.running.operation_context import OperationContext, PlanningResult
from stoker.engine.running.preparation import VERBS, check_before_first_change, prepare
from stoker.engine.running.stack_documents import load_copies_to_remove, load_idle_copies, sealed_document
from stoker.engine.running.steps import StepRunner
from stoker.engine.running.stop import LOST, RESOURCE, Stop, Stopped
from stoker.engine.running.unchecked import unchecked_note
from stoker.engine.running.user_projects import remove_user_project
from stoker.engine.scheduling import StartPriority
from stoker.plugins.lifecycle import OperationRefused
from stoker.store.journal import Batch, waits_for_space
from stoker.store.records import COMPLETE, FAILED, REMOVE_SNAPSHOT, SUPERSEDED, Operation, Stack

LOG = logging.getLogger(__name__)

Result = TypeVar("Result")

_EVALUATIONS = 4
"""Number of evaluations of the template in an operation, compared with one in the check of a request."""


class OperationRun(OperationContext):
    """A run as those see it who start it, stop it and ask what it does; `endings` records how it ends."""

    def __init__(
        self,
        components: ActionComponents,
        endings: OperationCompletion,
        operation: Operation,
        stack: Stack,
        former_owner: str | None = None,
    ) -> None:
        super().__init__(components, operation, stack, former_owner)
        self._schedule = Schedule(self)
        self._execution = Execution(self, endings, self._schedule)

    async def run(self) -> None:
        """Run the operation; never raises."""
        await self._execution.carry_out()

    def stop(self, why: Stop) -> None:
        """Start no more steps; end waiting steps immediately, and others after their current call."""
        if self.progress.stopping is None:
            self.progress.stopping = why
            self.wake_all()
            self._schedule.end_if_idle()

    def cancel(self) -> None:
        """Start no more steps; finish those in progress, and fail those that are held by a hook."""
        self.progress.cancelled = True
        self.wake_all()
        self._schedule.end_if_idle()

    def abandon(self) -> None:
        """Stop immediately, even during a call: another engine has resumed the operation from the record.

        Only calls that create an object are finished, so that their results are known.
        """
        if self.progress.stopping is not Stop.LOST:
            self.progress.stopping = Stop.LOST
            making = set(self.objects.making.values())
            self._schedule.cancel(besides=making)
            for task in making:
                self.services.background.spawn(ended(task))
            self.wake_all()
            self._schedule.end()

    def release(self) -> int:
        """Release the run's data about its stack when it has ended; return the number of its resources.

        A run and its step runner refer to each other. Otherwise all data would stay in memory until the garbage
        collector collects old objects, which happens rarely.
        """
        number = len(self.states)
        for state in (*self.states.values(), *self.current.values()):
            self.services.memory.values.take(state)
        if self.objects.making:  # a call of a lost run is still in progress, and ends by itself
            return number
        self.states.clear()
        self.current.clear()
        self.nested.begun.clear()
        self.nested.lacking.clear()
        self.planning, self.inputs = PlanningResult(), None
        self._schedule.release()
        self.progress.document, self.progress.unsaved_outputs = None, []
        self.progress.failures.clear()
        return number

    @property
    def working(self) -> bool:
        """Return whether the run executes code or waits for a response now, instead of only for time to pass."""
        return self._execution.begun and (not self._schedule.active or self._schedule.active > len(self.waiting.paused))

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
            "active": self._schedule.active,
            "waiting": len(self.waiting.paused),
        }


class Execution:
    """What a run does, from start to end. `begun` is true from the start on."""

    def __init__(self, run: OperationRun, endings: OperationCompletion, schedule: Schedule) -> None:
        self.begun = False
        self._run = run
        self._endings = endings
        self._lifecycle = Lifecycle(run.services.types.registry.lifecycle)
        self._schedule = schedule

    async def carry_out(self) -> None:
        """Run the operation; never raises."""
        run = self._run
        waits_for_space.set(True)
        self.begun = True
        try:
            with opened(Budget(run.services.loader.limits.allowed.times(_EVALUATIONS))):
                await prepare(run)
                self._keep_plan()
                run.progress.planned.set()
                run.components.runs.planned(run)
                await self._check_first()
                await self._call_plugins_before()
                if run.progress.unsaved_transfers is not None:
                    await record_transfers(run)
                if run.planning.removal_options.skipped:
                    from stoker.engine.running.skipped_resources import record_skipped

                    await record_skipped(run)
                await self._execute()
                await self._read_outputs()
            await self._finish()
        except Fenced:
            LOG.info("operation %s of stack %s was taken over by another engine", run.operation.id, run.stack.name)
        except StokerError as error:
            await self._abort(error)
        except Exception as error:
            reference = new_id()
            LOG.exception("operation %s failed unexpectedly, reference %s", run.operation.id, reference)
            await self._abort(Bug(f"Internal error; quote reference {reference} ({type(error).__name__})"))
        finally:
            run.progress.planned.set()
            run.progress.done.set()

    async def _check_first(self) -> None:
        """Refuse what policies forbid, and what is known to fail, while nothing has been done yet.

        Raises PolicyDenied, ApprovalRequired or PreflightFailed.
        """
        run = self._run
        try:
            whole = None
            written = run.planning.written = await self._written_policies()
            if run.services.settings.plan_policies or written:
                from stoker.engine.running.policies import check_by_policies

                whole = await check_by_policies(run, written)
            await check_before_first_change(run, whole)
        except (PolicyDenied, ApprovalRequired, PreflightFailed):
            run.progress.refused = run.operation.epoch == 1
            raise

    async def _written_policies(self) -> Mapping[str, str]:
        """Return the policies on plans of the project and the tree, as the request has read them, or as the operation
        above has them if it runs here.
        """
        run = self._run
        known = run.planning.written
        above = run.components.runs.get(run.stack.parent_id or "")
        if isinstance(above, OperationContext) and above.operation.id == run.operation.parent_operation:
            known = above.planning.written
        return known if known is not None else await written_policies(run.services, run.stack)

    async def _call_plugins_before(self) -> None:
        """Call the lifecycle plug-ins, while nothing has been done yet. Raises OperationRefused."""
        if not self._lifecycle.plugins:
            return
        run = self._run
        try:
            await self._lifecycle.before(run)
        except OperationRefused:
            run.progress.refused = run.operation.epoch == 1
            raise

    async def _read_outputs(self) -> None:
        """Read the attributes for outputs, which are recorded with the end of the operation."""
        run = self._run
        read = await refresh_outputs(run, self._schedule.runner.performer)
        if read and run.progress.ends_early:  # others may continue from here
            await run.commit(Batch().change(*(state.seal() for state in read)))
        else:
            run.progress.unsaved_outputs = read

    def _keep_plan(self) -> None:
        """Store the plan for the history: that of an earlier run of the operation, if there was one.

        Steps without effect are only counted.
        """
        run = self._run
        plan = run.planning.plan
        if run.operation.plan is not None or plan is None:
            return
        acting = tuple(step for step in plan.steps if step.has_effect)
        shown = {**replace(plan, steps=acting).to_stored(), "summary": plan.summary()}
        run.operation.plan = run.services.sealer.seal(shown)
        run.progress.unsaved_plan = True

    async def _execute(self) -> None:
        run = self._run
        assert run.planning.plan is not None
        deadline = run.operation.deadline
        timer = None
        if deadline is not None:
            clock = run.services.clock
            timer = clock.call_later(max(deadline - clock.now(), 0.0), lambda: run.stop(Stop.EXPIRED))
        try:
            await self._remove_copies_first()
            changes, removals = run.planning.plan.halves()
            await self._schedule.carry_out(changes)
            if not run.progress.ends_early:
                await check_exports(run, self._schedule.runner.performer)
                await self._schedule.carry_out(removals)
            if left_over := await self._left_over():
                await self._schedule.carry_out(plan_removal(run.planning.removal_options, left_over))
            if run.operation.action == "DELETE" and not run.progress.ends_early:  # an abandoned stack keeps its users
                await remove_user_project(run)
        finally:
            if timer is not None:
                timer.cancel()

    async def _remove_copies_first(self) -> None:
        """Remove the copies of a deleted stack's snapshots before its resources.

        The copy of a server can consist of snapshots of its volumes, which cannot be deleted as long as these exist.
        """
        run = self._run
        if run.operation.action == "DELETE" and (copies := await load_idle_copies(run)):
            await self._schedule.carry_out(plan_removal(run.planning.removal_options, copies))

    async def _left_over(self) -> list[ResourceState]:
        """Return what remains to be removed after the plan: copies of snapshots, which nested stacks can create as long
        as they exist; and resources that steps have replaced although the plan meant to keep them.
        """
        run = self._run
        if run.progress.ends_early:
            return []
        if run.operation.action in ("DELETE", REMOVE_SNAPSHOT):
            with contextlib.suppress(Stopped):
                return await load_copies_to_remove(run)
        if run.planning.desired is None or run.operation.action not in FORWARD:
            return []
        mine = [state for state in run.states.values() if state.row.stack_id == run.stack.id]
        return [state for state in mine if not run.serves(state)]

    async def _finish(self) -> None:
        run = self._run
        progress = run.progress
        if progress.stopping is Stop.LOST:
            LOG.info("operation %s of stack %s was taken over by its new owner", run.operation.id, run.stack.name)
        elif progress.cancelled:
            await self._call_plugins_after(FAILED)
            await self._endings.end_cancelled(run.operation, run.stack)
        elif progress.stopping is Stop.SHUTDOWN:
            await self._endings.hand_over(run)
        elif progress.stopping is Stop.SUPERSEDED:
            await self._call_plugins_after(SUPERSEDED)
            await self._endings.end_superseded(run.operation, run.stack)
        elif progress.stopping is not None:
            await self._end(FAILED, progress.stopping.value)
        elif progress.failures:
            failures = progress.failures if run.operation.action == "CHECK" else progress.failures[:1]
            failure = Failure.joined(failures)
            await self._end(FAILED, _failure_text(run, failure), failure)
        else:
            if run.operation.action == "SNAPSHOT" and run.operation.parent_operation is None:
                progress.document = await sealed_document(run)
            done = f"Stack {run.operation.stack_action} completed successfully"
            unchecked = await unchecked_note(run.services, run.stack) if run.operation.action == "CHECK" else ""
            left = run.progress.left
            behind = f"; left behind: {', '.join(each.named() for each in left)}" if left else ""
            await self._end(COMPLETE, done + unchecked + behind)

    async def _abort(self, error: StokerError) -> None:
        """Record the error that ended the operation; if that fails, the operation is claimed and run again."""
        run = self._run
        try:
            message = error.message if not isinstance(error, TemplateInvalid) else f"{error.kind}: {error.message}"
            by_policy = isinstance(error, PolicyDenied | ApprovalRequired)
            await self._end(FAILED, message, Failure(error.kind, (), message) if by_policy else None)
        except Fenced:
            LOG.info("operation %s was taken over by another engine", run.operation.id)
        except Exception:
            LOG.exception("cannot record the end of operation %s; it will be claimed and run again", run.operation.id)

    async def _end(self, status: str, reason: str, failure: Failure | None = None) -> None:
        run = self._run
        if status == FAILED:
            names = {failed.path[0] for failed in run.progress.failures}
            about = [run.current[name] for name in names & run.current.keys()]
            message = "" if failure is None else failure.message
            reason, message = await without_secrets(run, [reason, message], about)
            run.progress.failure = None if failure is None else replace(failure, message=message)
        await self._call_plugins_after(status)
        await self._endings.end(run, status, reason)

    async def _call_plugins_after(self, status: str) -> None:
        """Call the lifecycle plug-ins after the operation, if there are any."""
        if self._lifecycle.plugins:
            await self._lifecycle.after(status)


async def ended(task: asyncio.Task[object]) -> None:
    """Return when a task has ended, with any result."""
    await asyncio.wait([task])


def _failure_text(run: OperationContext, failure: Failure) -> str:
    """Return the status reason of an operation that failed because of a resource."""
    if run.operation.action == "CHECK":
        return failure.text()
    state = run.current.get(failure.path[0])
    is_defining = run.operation.action not in VERBS
    action = state.row.action if state is not None and is_defining else run.operation.action
    return f"Resource {action} failed: {failure.text()}"


class Schedule:
    """Runs one plan at a time. `tasks` are those of the steps in progress, and `active` is their number."""

    def __init__(self, run: OperationContext) -> None:
        self.runner = StepRunner(run)
        self.tasks: set[asyncio.Task[None]] = set()
        self.active = 0
        self._run = run
        self._graph = StepGraph()
        self._idle = asyncio.Event()

    async def carry_out(self, plan: Plan) -> None:
        """Return when all steps have ended, or all that could be started."""
        self._graph = StepGraph.of(plan)
        self._idle.clear()
        self._start(self._graph.ready())
        if self.active:
            await self._idle.wait()

    def _start(self, ready: Iterable[Step]) -> None:
        """Start steps; kept resources release their dependents immediately."""
        run, pending, effective = self._run, deque(ready), list[Step]()
        if run.progress.stopping is not None or run.progress.cancelled:
            return
        while pending:
            step = pending.popleft()
            if step.kind is StepKind.KEEP and self.runner.keep_as_is(step):
                pending.extend(self._graph.finished(step.key))
            else:
                effective.append(step)
        for steps in self.runner.joined(effective):
            self.active += 1
            run.services.scheduler.begin(run.turn, partial(self._begin, steps, copy_context()), StartPriority.STEP)

    def _begin(self, steps: Sequence[Step], context: Context) -> None:
        run = self._run
        work = run.services.scheduler.run(run.turn, partial(self._guard, steps))
        self.tasks.add(asyncio.get_running_loop().create_task(work, context=context))

    async def _guard(self, steps: Sequence[Step]) -> None:
        try:
            await self._carry_out(steps)
        finally:
            self.tasks.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def _carry_out(self, steps: Sequence[Step]) -> None:
        run, progress, step = self._run, self._run.progress, steps[0]
        LOST.set(lambda: progress.stopping is Stop.LOST)
        RESOURCE.set((run.stack.id, step.name))
        try:
            await self.runner.run(steps)
        except Failure as failure:
            progress.failures.append(failure.bare())
        except (Stopped, Fenced):
            progress.stopping = progress.stopping or Stop.SUPERSEDED
        except Exception as error:
            reference = new_id()
            LOG.exception("step %r of operation %s failed unexpectedly, %s", step.key, run.operation.id, reference)
            progress.failures.append(Failure.of(Bug(str(error), reference), step.name))
        else:
            self._start(chain.from_iterable(self._graph.finished(each.key) for each in steps))
        self.active -= 1
        self.end_if_idle()

    def end_if_idle(self) -> None:
        """Make `carry_out` return if no step is in progress."""
        if not self.active:
            self._idle.set()

    def end(self) -> None:
        """Make `carry_out` return, although steps may be in progress."""
        self._idle.set()

    def cancel(self, besides: set[asyncio.Task[object]]) -> None:
        """Cancel all steps in progress but some."""
        for task in self.tasks - besides:
            task.cancel()

    def release(self) -> None:
        """Release the steps of the plan."""
        self._graph = StepGraph()
