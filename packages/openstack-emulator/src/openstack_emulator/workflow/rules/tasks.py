"""The life of a task: its policies, its children, what it publishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.rules import Rules
from openstack_emulator.workflow.records import ActionExecution, Execution, Task
from openstack_emulator.workflow.rules.definitions import Definitions
from openstack_emulator.workflow.rules.expressions import ExpressionError
from openstack_emulator.workflow.rules.flow import ENDED, clauses_after
from openstack_emulator.workflow.rules.language import TaskSpec
from openstack_emulator.workflow.rules.running_actions import RunningActions
from openstack_emulator.workflow.rules.runs import Runs

MOST_ITEMS = 1000
"""Items of `with-items`."""
MOST_TASKS = 1000
"""Tasks of one execution, since a workflow can contain a cycle."""


class Runner(Protocol):
    """What runs the executions that tasks belong to."""

    def task_ended(self, task: Task) -> None:
        """Continue the execution of a task that has ended."""

    def pause(self, execution: Execution) -> None:
        """Pause an execution, because one of its tasks does."""

    def start_for_task(self, task: Task, index: int, name: str, values: Mapping[str, object]) -> None:
        """Start a workflow, by its name, for an item of a task. Raises ApiError."""


class Tasks(Rules):
    """Runs tasks, and with `actions` the actions of tasks.

    runner: what runs their executions.
    """

    def __init__(self, records: Records, runs: Runs, definitions: Definitions, runner: Runner) -> None:
        super().__init__(records)
        self._runs = runs
        self._runner = runner
        self.actions = RunningActions(records, runs, definitions, self.action_ended)
        records.deferrable(self.begin_task, self.time_out_task, self.end_task)

    # -- beginning -------------------------------------------------------------------------------------------------

    def create(self, execution: Execution, name: str, data: Mapping[str, object], state: str = "IDLE") -> Task:
        """Create a task that sees `data`."""
        spec = execution.spec.tasks[name]
        if len(self._runs.tasks_of(execution)) >= MOST_TASKS:
            raise ApiError(413, f"An execution must not have more than {MOST_TASKS} tasks.")
        moment = self._runs.moment()
        return self._runs.tasks.add(
            Task(
                id=new_id(),
                name=name,
                type="WORKFLOW" if "workflow" in spec else "ACTION",
                workflow_name=execution.workflow_name,
                workflow_namespace=execution.workflow_namespace,
                workflow_id=execution.workflow_id,
                workflow_execution_id=execution.id,
                project_id=execution.project_id,
                state=state,
                state_info=None,
                tags=spec.get("tags") or [],
                runtime_context={},
                published={},
                published_global={},
                processed=False,
                created_at=moment,
                updated_at=moment,
                started_at=None,
                finished_at=None,
                data=dict(data),
                items=None,
                next=[],
                attempt=0,
            )
        )

    def prepare(self, task: Task) -> None:
        """Begin a new task, after its `wait-before`."""
        self._guarded(task, self._prepare)

    def begin_task(self, key: str, attempt: int) -> None:
        """Begin an attempt of a task; in a paused execution, it stays idle."""
        task = self._runs.tasks.get(key)
        if task is not None and task.attempt == attempt and task.state not in ENDED:
            self._guarded(task, self._begin)

    def _guarded(self, task: Task, step: Callable[[Task], None]) -> None:
        """Take a step; a task with an expression or a child that is invalid fails."""
        try:
            step(task)
        except (ExpressionError, ApiError) as error:
            # Later: a workflow with a cycle must not recurse on the stack.
            self.after(0.0, self.end_task, task.id, task.attempt, "ERROR", str(error))

    def _prepare(self, task: Task) -> None:
        seconds = self._number(task, "wait-before")
        if seconds:
            self._set_state(task, "DELAYED")
            self.after(seconds, self.begin_task, task.id, task.attempt)
        else:
            self._begin(task)

    def _begin(self, task: Task) -> None:
        execution, spec = self._runs.execution_of(task), self._runs.spec_of(task)
        is_paused = task.runtime_context.get("paused") or execution.state != "RUNNING"
        if not is_paused and self._runs.of_task(task, spec.get("pause-before")) is True:
            task.runtime_context["paused"] = True
            self._runner.pause(execution)
        if execution.state == "PAUSED":
            self._set_state(task, "IDLE")
        if execution.state != "RUNNING":
            return
        task.started_at = task.started_at or self._runs.moment()
        task.state_info = None
        self._set_state(task, "RUNNING")
        timeout = self._number(task, "timeout")
        if timeout:
            self.after(timeout, self.time_out_task, task.id, task.attempt, timeout)
        if "with-items" in spec and task.items is None:
            task.items = self._items(task, spec["with-items"])
            self._runs.tasks.save(task)
        self._start_children(task)

    def _items(self, task: Task, declared: Mapping[str, object]) -> list[dict[str, Any]]:
        lists = {name: self._runs.of_task(task, value) for name, value in declared.items()}
        if not all(isinstance(items, list) for items in lists.values()):
            raise ExpressionError(f"Wrong input for with-items: the values of {', '.join(lists)} must be lists.")
        if len({len(items) for items in lists.values()}) > 1:
            raise ExpressionError("Wrong input for with-items: all lists must have the same length.")
        items = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
        if len(items) > MOST_ITEMS:
            raise ExpressionError(f"with-items has {len(items)} items; at most {MOST_ITEMS} are allowed.")
        return items

    def _start_children(self, task: Task) -> None:
        """Start the children that are missing, as many as `concurrency` allows; end a task without any."""
        items = [{}] if task.items is None else task.items
        if not items:
            self.after(0.0, self.end_task, task.id, task.attempt, "SUCCESS", None)
            return
        children = self._runs.children(task)
        started = {child.index for child in children}
        running = sum(child.state not in ENDED for child in children)
        most = self._number(task, "concurrency") or len(items)
        waiting = [index for index in range(len(items)) if index not in started]
        for index in waiting[: max(int(most) - running, 0)]:
            self._start_child(task, index, items[index])

    def _start_child(self, task: Task, index: int, item: Mapping[str, object]) -> None:
        spec = self._runs.spec_of(task)
        values = self._runs.of_task(task, spec["input"], item)
        if not isinstance(values, Mapping):
            raise ExpressionError(f"The input of task {task.name} must be a map, not {values!r}.")
        if task.type == "WORKFLOW":
            self._runner.start_for_task(task, index, str(self._runs.of_task(task, spec["workflow"], item)), values)
        else:
            name = str(self._runs.of_task(task, spec["action"], item))
            self.actions.start(name, values, task.project_id, task, index)

    # -- ending ----------------------------------------------------------------------------------------------------

    def action_ended(self, action: ActionExecution) -> None:
        """Continue the task of an action that has ended."""
        task = self._runs.tasks.get(action.task_execution_id or "")
        if task is not None and action.accepted:
            self.child_ended(task)

    def child_ended(self, task: Task) -> None:
        """Continue a task one of whose children has ended."""
        if task.state != "RUNNING" or self._runs.execution_of(task).state in ENDED:
            return
        children = self._runs.children(task)
        expected = 1 if task.items is None else len(task.items)
        if len(children) < expected or any(child.state not in ENDED for child in children):
            self._guarded(task, self._start_children)
            return
        states = {child.state for child in children}
        state = next((failure for failure in ("CANCELLED", "ERROR") if failure in states), "SUCCESS")
        self._settle(task, state, next((child.state_info for child in children if child.state == state), None))

    def time_out_task(self, key: str, attempt: int, seconds: float) -> None:
        """Fail an attempt of a task that has not ended in time."""
        task = self._runs.tasks.get(key)
        if task is not None and task.attempt == attempt and task.state not in ENDED:
            self._end(task, "ERROR", f"Task timed out [timeout(s)={seconds:g}].")

    def _settle(self, task: Task, state: str, info: str | None) -> None:
        """Apply the policies `fail-on`, `retry` and `wait-after` to a task whose children have ended."""

        def apply(task: Task) -> None:
            end, why, spec = state, info, self._runs.spec_of(task)
            if end == "SUCCESS" and self._runs.of_task(task, spec.get("fail-on")) is True:
                end, why = "ERROR", "Failed by 'fail-on' policy"
            if self._retries(task, spec, end):
                return
            seconds = self._number(task, "wait-after")
            if seconds:
                self._set_state(task, "DELAYED")
                self.after(seconds, self.end_task, task.id, task.attempt, end, why)
            else:
                self._end(task, end, why)

        self._guarded(task, apply)

    def _retries(self, task: Task, spec: TaskSpec, state: str) -> bool:
        """Schedule another attempt, if the policy `retry` demands it. Raises ExpressionError."""
        retry = spec.get("retry")
        if retry is None or state not in ("SUCCESS", "ERROR"):
            return False
        clause = "break-on" if state == "ERROR" else "continue-on"
        holds = clause in retry and self._runs.of_task(task, retry[clause]) is True
        done, count = task.runtime_context.get("retries", 0), _number(self._runs.of_task(task, retry["count"]))
        if holds is (state == "ERROR") or done >= count:
            return False
        delay = _number(self._runs.of_task(task, retry.get("delay", 0)))
        task.runtime_context["retries"] = done + 1
        self.discard_children(task, every=True)
        task.attempt += 1
        self._set_state(task, "DELAYED")
        self.after(delay, self.begin_task, task.id, task.attempt)
        return True

    def discard_children(self, task: Task, every: bool) -> None:
        """Let the children of a task no longer count: all of them, or those that have failed."""
        for child in self._runs.children(task):
            if every or child.state != "SUCCESS":
                child.accepted = False
                self._runs.save_child(child)

    def end_task(self, key: str, attempt: int, state: str, info: str | None) -> None:
        """End an attempt of a task that is still in progress."""
        task = self._runs.tasks.get(key)
        if task is not None and task.attempt == attempt and task.state not in ENDED:
            self._end(task, state, info)

    def _end(self, task: Task, state: str, info: str | None) -> None:
        task.state_info, task.finished_at = info, self._runs.moment()
        self._set_state(task, state)
        try:
            self._publish(task)
        except ExpressionError as error:
            task.state_info = str(error)
            self._set_state(task, "ERROR")
        self._runner.task_ended(task)

    def _publish(self, task: Task) -> None:
        """Publish what the task's clauses for its state declare. Raises ExpressionError."""
        declared = self._runs.spec_of(task)["publishing"]
        execution = self._runs.execution_of(task)
        for clause in clauses_after(task.state):
            scopes = self._runs.of_task(task, declared.get(clause, {}))
            task.published = {**task.published, **(scopes.get("branch") or {})}
            task.published_global = {**task.published_global, **(scopes.get("global") or {})}
        self._runs.tasks.save(task)
        if task.published_global:
            execution.published_global = {**execution.published_global, **task.published_global}
            self._runs.executions.save(execution)

    def _set_state(self, task: Task, state: str) -> None:
        """Set the state of a task, save it, and note the time."""
        task.state = state
        self._runs.changed(self._runs.tasks, task)

    # -- policies ----------------------------------------------------------------------------------------------------

    def _number(self, task: Task, policy: str) -> float:
        """Return the number of a policy, 0 without one. Raises ExpressionError."""
        return _number(self._runs.of_task(task, self._runs.spec_of(task).get(policy) or 0))


def _number(value: Any) -> float:
    """Return the value of a policy. Raises ExpressionError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ExpressionError(f"Invalid data type in the policy: {value!r} is not a number") from None
    if not 0 <= number < float("inf"):
        raise ExpressionError(f"Invalid value of the policy: {value!r} is not a positive number")
    return number
