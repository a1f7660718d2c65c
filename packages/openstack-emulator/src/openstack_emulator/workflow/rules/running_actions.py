"""Action executions: the running of actions, for tasks or by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.outgoing import RequestSender
from openstack_emulator.core.rules import Rules
from openstack_emulator.workflow.records import ActionExecution, ActionSpec, Task
from openstack_emulator.workflow.rules import actions, expressions
from openstack_emulator.workflow.rules.actions import ActionError
from openstack_emulator.workflow.rules.definitions import Definitions
from openstack_emulator.workflow.rules.expressions import ExpressionError, Scope
from openstack_emulator.workflow.rules.flow import ENDED
from openstack_emulator.workflow.rules.language import defaults_of, expectations, names_of
from openstack_emulator.workflow.rules.runs import Runs

ACTION_SECONDS = 0.1
"""The time that an action takes at least."""
STATES = ("IDLE", "RUNNING", "SUCCESS", "ERROR", "PAUSED", "CANCELLED")
INTERRUPTED = "The emulator was stopped while the action waited for a response."


class RunningActions(Rules):
    """Runs actions.

    ended: is called with each action execution of a task that has ended.
    """

    def __init__(
        self,
        records: Records,
        runs: Runs,
        definitions: Definitions,
        ended: Callable[[ActionExecution], None],
    ) -> None:
        super().__init__(records)
        self._runs = runs
        self._definitions = definitions
        self._ended = ended
        self._awaited: dict[str, asyncio.Future[None]] = {}
        records.deferrable(self.run_action, self.end_action)

    def start(
        self, name: str, values: Mapping[str, object], project: str, task: Task | None, index: int = 0
    ) -> ActionExecution:
        """Create an action execution and run it soon; without a task, it belongs to no workflow."""
        action = self.create(name, values, project, task, index)
        self.after(ACTION_SECONDS, self.run_action, action.id)
        return action

    def check_input(self, name: str, values: Mapping[str, Any], project: str) -> None:
        """Compare the input of an action of a project with its parameters. Raises ActionError."""
        found = self._definitions.find_action(project, name)
        if found is None:
            actions.check_input(name, values)
        else:
            self._adhoc_input(found.spec, values)

    def create(
        self, name: str, values: Mapping[str, Any], project: str, task: Task | None, index: int = 0
    ) -> ActionExecution:
        """Create an action execution that does not run yet."""
        execution = None if task is None else self._runs.execution_of(task)
        moment = self._runs.moment()
        return self._runs.actions.add(
            ActionExecution(
                id=new_id(),
                name=name,
                workflow_name=None if execution is None else execution.workflow_name,
                workflow_namespace="" if execution is None else execution.workflow_namespace,
                task_name=None if task is None else task.name,
                task_execution_id=None if task is None else task.id,
                description="",
                project_id=project,
                state="RUNNING",
                state_info=None,
                tags=None,
                accepted=True,
                input=dict(values),
                output={},
                created_at=moment,
                updated_at=moment,
                index=index,
                waits=False,
            )
        )

    async def run_to_end(self, action: ActionExecution) -> None:
        """Run an action that ends by itself, and wait until it has ended."""
        ended = self._awaited[action.id] = asyncio.get_running_loop().create_future()
        self.run_action(action.id)
        await ended

    def run_action(self, key: str) -> None:
        """Run an action, unless it has ended or its execution was deleted."""
        action = self._runs.actions.get(key)
        if action is None or action.state != "RUNNING":
            return
        try:
            name, values = self._based(action)
            result = actions.run(name, values)
        except (ActionError, ExpressionError) as error:
            self.set_state(action, "ERROR", str(error))
            return
        if result.fetch is not None:
            action.waits = True
            self._runs.actions.save(action)
            self._fetch(key, result.fetch, result.asynchronous)
        elif result.seconds:
            self.after(result.seconds, self.end_action, key, "SUCCESS", result.output)
        elif not result.asynchronous:
            self.set_state(action, "SUCCESS", result.output)

    def end_action(self, key: str, state: str, output: object) -> None:
        """Set the state of an action that is still running."""
        action = self._runs.actions.get(key)
        if action is not None and action.state == "RUNNING":
            self.set_state(action, state, output)

    def set_state(self, action: ActionExecution, state: str, output: object) -> None:
        """Set the state and the result of an action, and notify its task when it has ended."""
        info = None
        if state == "SUCCESS":
            try:
                output = self._transformed(action, output)
            except ExpressionError as error:
                state, output = "ERROR", str(error)
        if state == "ERROR":
            info = str(output)
        action.state, action.state_info = state, info
        action.output = {"result": output}
        action.waits = False
        self._runs.changed(self._runs.actions, action)
        if state in ENDED and action.task_execution_id is not None:
            self._ended(action)
        if state in ENDED and (awaited := self._awaited.pop(action.id, None)) is not None:
            awaited.set_result(None)

    def change(self, action: ActionExecution, state: str, output: object) -> None:
        """Let a client set the state of an action that is in progress. Raises ApiError 400."""
        if state not in STATES:
            raise bad_request(f"Expected one of {', '.join(STATES)}, got {state}")
        if action.state in ENDED:
            raise bad_request(f"The action execution {action.id} has ended already, in state {action.state}.")
        self.set_state(action, state, output)

    def resume_after_restart(self) -> None:
        """End actions that waited for a response when the emulator was stopped."""
        for action in self._runs.actions:
            if action.waits and action.state == "RUNNING":
                self.after(0.0, self.end_action, action.id, "ERROR", INTERRUPTED)

    def _fetch(self, key: str, fetch: Callable[[RequestSender], object], asynchronous: bool) -> None:
        """Call a function that blocks on another thread, and end the action with its result on this one."""

        def done(future: asyncio.Future[object]) -> None:
            if future.cancelled():
                return
            error = future.exception()
            if isinstance(error, ActionError):
                self.end_action(key, "ERROR", str(error))
            elif error is not None:
                self.end_action(key, "ERROR", f"{type(error).__name__}: {error}")
            elif not asynchronous:
                self.end_action(key, "SUCCESS", future.result())
            elif (action := self._runs.actions.get(key)) is not None:
                action.waits = False
                self._runs.actions.save(action)
            self.cloud.store.flush()

        asyncio.get_running_loop().run_in_executor(None, fetch, self.cloud.request_sender).add_done_callback(done)

    # -- ad-hoc actions --------------------------------------------------------------------------------------------

    def _adhoc(self, action: ActionExecution) -> ActionSpec | None:
        """Return the declaration of an ad-hoc action: of the same workbook, or of the project."""
        book = (action.workflow_name or "").rpartition(".")[0]
        for name in dict.fromkeys((f"{book}.{action.name}" if book else action.name, action.name)):
            found = self._definitions.find_action(action.project_id, name)
            if found is not None:
                return found.spec
        return None

    def _based(self, action: ActionExecution) -> tuple[str, Mapping[str, object]]:
        """Return the action of the service to run, and its input. Raises ActionError, ExpressionError."""
        spec = self._adhoc(action)
        if spec is None:
            return action.name, action.input
        values = self._adhoc_input(spec, action.input)
        return spec.base, expressions.evaluate(spec.base_input, values, NO_SCOPE)

    @staticmethod
    def _adhoc_input(spec: ActionSpec, values: Mapping[str, object]) -> dict[str, object]:
        """Return the input of an ad-hoc action with its defaults. Raises ActionError."""
        complete, names = {**defaults_of(spec.input), **values}, names_of(spec.input)
        if problems := expectations([name for name in names if name not in complete], values.keys() - set(names)):
            raise ActionError(f"Invalid input [name={spec.name}, {problems}]")
        return complete

    def _transformed(self, action: ActionExecution, output: Any) -> object:
        """Return the output of an action, as an ad-hoc action declares it. Raises ExpressionError."""
        spec = self._adhoc(action)
        if spec is None or spec.output is None:
            return output
        return expressions.evaluate(spec.output, output, NO_SCOPE)


NO_SCOPE = Scope(env={}, execution={}, published={}, task=lambda name: None, tasks=list)
"""The scope of expressions in an ad-hoc action, which belong to no execution."""
