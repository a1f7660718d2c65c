"""One run of an operation: plan it, start each step when the steps before it have ended, record the result.

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
from stoker.engine.calls.context import ActingParts
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Plan, Step, StepGraph
from stoker.engine.planning.verbs import plan_removal
from stoker.engine.records.actions import FORWARD
from stoker.engine.records.beginnings import written_policies
from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import without_secrets
from stoker.engine.running.endings import Endings, check_exports, refresh_outputs
from stoker.engine.running.importing import record_transfers
from stoker.engine.running.lifecycle import Lifecycle
from stoker.engine.running.operation_context import OperationContext, Planning
from stoker.engine.running.preparation import VERBS, check_before_first_change, prepare
from stoker.engine.running.stack_documents import load_copies_to_remove, load_idle_copies, sealed_document
from stoker.engine.running.steps import StepRunner
from stoker.engine.running.stopping import LOST, RESOURCE, Stop, Stopped
from stoker.engine.running.unchecked import unchecked_note
from stoker.engine.running.user_projects import remove_user_project
from stoker.plugins.lifecycle import OperationRefused
from stoker.store.journal import waits_for_space
from stoker.store.records import COMPLETE, FAILED, REMOVE_SNAPSHOT, SUPERSEDED, Operation, Stack

LOG = logging.getLogger(__name__)

Result = TypeVar("Result")

_EVALUATIONS = 4
"""Number of evaluations of the template in an operation, compared with one in the check of a request."""


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
        self._schedule = Schedule(self)
        self._begun = False

    # -- from start to end -----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Run the operation; never raises."""
        waits_for_space.set(True)
        self._begun = True
        try:
            with opened(Budget(self.services.loader.limits.allowed.times(_EVALUATIONS))):
                await prepare(self)
                self._keep_plan()
                self.progress.planned.set()
                self.parts.runs.planned(self)
                await self._check_first()
                await self._ask_plugins()
                if self.progress.unsaved_transfers is not None:
                    await record_transfers(self)
                if self.planning.removing.skipped:
                    from stoker.engine.running.skipping import record_skipped

                    await record_skipped(self)
                await self._execute()
                await refresh_outputs(self, self._schedule.runner.performer)
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

    async def _check_first(self) -> None:
        """Refuse what policies forbid, and what is known to fail, while nothing has been done yet.

        Raises PolicyDenied, ApprovalRequired or PreflightFailed.
        """
        try:
            whole = None
            written = await written_policies(self.services, self.stack)
            if self.services.settings.plan_policies or written:
                from stoker.engine.running.policies import check_by_policies

                whole = await check_by_policies(self, written)
            await check_before_first_change(self, whole)
        except (PolicyDenied, ApprovalRequired, PreflightFailed):
            self.progress.refused = self.operation.epoch == 1
            raise

    async def _ask_plugins(self) -> None:
        """Call the lifecycle plug-ins, while nothing has been done yet. Raises OperationRefused."""
        try:
            await self._lifecycle.before(self)
        except OperationRefused:
            self.progress.refused = self.operation.epoch == 1
            raise

    def _keep_plan(self) -> None:
        """Store the plan for the history: that of an earlier run of the operation, if there was one.

        Steps without effect are only counted.
        """
        plan = self.planning.plan
        if self.operation.plan is not None or plan is None:
            return
        acting = tuple(step for step in plan.steps if step.has_effect)
        shown = {**replace(plan, steps=acting).to_data(), "summary": plan.summary()}
        self.operation.plan = self.services.sealer.seal(shown)
        self._unsaved_plan = True

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
            await self._schedule.carry_out(making)
            if not self.progress.ends_early:
                await check_exports(self, self._schedule.runner.performer)
                await self._schedule.carry_out(removing)
            if left_over := await self._left_over():
                await self._schedule.carry_out(plan_removal(self.planning.removing, left_over))
            if self.operation.action == "DELETE" and not self.progress.ends_early:  # an abandoned stack keeps its users
                await remove_user_project(self)
        finally:
            if timer is not None:
                timer.cancel()

    async def _remove_copies_first(self) -> None:
        """Remove the copies of a deleted stack's snapshots before its resources.

        The copy of a server can consist of snapshots of its volumes, which cannot be deleted as long as these exist.
        """
        if self.operation.action == "DELETE" and (copies := await load_idle_copies(self)):
            await self._schedule.carry_out(plan_removal(self.planning.removing, copies))

    async def _left_over(self) -> list[ResourceState]:
        """Return what remains to be removed after the plan: copies of snapshots, which nested stacks can create as long
        as they exist; and resources that steps have replaced although the plan meant to keep them.
        """
        if self.progress.ends_early:
            return []
        if self.operation.action in ("DELETE", REMOVE_SNAPSHOT):
            with contextlib.suppress(Stopped):
                return await load_copies_to_remove(self)
        if self.planning.wanted is None or self.operation.action not in FORWARD:
            return []
        mine = [state for state in self.states.values() if state.row.stack_id == self.stack.id]
        return [state for state in mine if not self.serves(state)]

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
            self.services.values.take(state)
        if self.objects.making:  # a call of a lost run is still in progress, and ends by itself
            return number
        self.states.clear()
        self.current.clear()
        self.nested.begun.clear()
        self.planning, self.inputs = Planning(), None
        self._schedule.release()
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
            await self._end(FAILED, _failure_text(self, failure), failure)
        else:
            if self.operation.action == "SNAPSHOT" and self.operation.parent_operation is None:
                progress.document = await sealed_document(self)
            done = f"Stack {self.operation.stack_action} completed successfully"
            unchecked = await unchecked_note(self.services, self.stack) if self.operation.action == "CHECK" else ""
            left = self.progress.left
            behind = f"; left behind: {', '.join(each.named() for each in left)}" if left else ""
            await self._end(COMPLETE, done + unchecked + behind)

    async def _abort(self, error: StokerError) -> None:
        """Record the error that ended the operation; if that fails, the operation is claimed and run again."""
        try:
            message = error.message if not isinstance(error, TemplateInvalid) else f"{error.kind}: {error.message}"
            by_policy = isinstance(error, PolicyDenied | ApprovalRequired)
            await self._end(FAILED, message, Failure(error.kind, (), message) if by_policy else None)
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
        return self._begun and (not self._schedule.active or self._schedule.active > len(self.waiting.paused))

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
        run, pending = self._run, deque(ready)
        while pending and run.progress.stopping is None and not run.progress.cancelled:
            step = pending.popleft()
            if step.kind is Kind.KEEP and self.runner.keep_as_is(step):
                pending.extend(self._graph.finished(step.key))
                continue
            self.active += 1
            task = asyncio.create_task(run.services.turns.taken(run.turn, partial(self._guard, step)))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _guard(self, step: Step) -> None:
        run, progress = self._run, self._run.progress
        LOST.set(lambda: progress.stopping is Stop.LOST)
        RESOURCE.set((run.stack.id, step.name))
        try:
            await self.runner.run(step)
        except Failure as failure:
            progress.failures.append(failure.bare())
        except (Stopped, Fenced):
            progress.stopping = progress.stopping or Stop.SUPERSEDED
        except Exception as error:
            reference = new_id()
            LOG.exception("step %r of operation %s failed unexpectedly, %s", step.key, run.operation.id, reference)
            progress.failures.append(Failure.of(Bug(str(error), reference), step.name))
        else:
            self._start(self._graph.finished(step.key))
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
