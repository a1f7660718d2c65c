"""Executions of workflows: how they begin, go from task to task, pause and end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.rules import Rules
from openstack_emulator.workflow.records import Execution, Task, Workflow, WorkflowSpec
from openstack_emulator.workflow.rules.definitions import Definitions, missing_workflow
from openstack_emulator.workflow.rules.environments import Environments
from openstack_emulator.workflow.rules.expressions import ExpressionError
from openstack_emulator.workflow.rules.flow import (
    ENDED,
    Transition,
    has_requirement_cycle,
    join_state,
    merged,
    outbound,
    required_tasks,
    transitions,
)
from openstack_emulator.workflow.rules.language import COMMANDS, defaults_of, expectations, names_of, start_tasks
from openstack_emulator.workflow.rules.runs import Runs
from openstack_emulator.workflow.rules.tasks import Tasks

MOST_NESTED = 20
"""Levels of workflows that run workflows."""
STATES = ("RUNNING", "PAUSED", "SUCCESS", "ERROR", "CANCELLED")
"""The states that a client can ask for."""


class Executions(Rules):
    """Runs executions, and with `tasks` their tasks."""

    def __init__(self, records: Records, runs: Runs, definitions: Definitions, environments: Environments) -> None:
        super().__init__(records)
        self._runs = runs
        self._definitions = definitions
        self._environments = environments
        self.tasks = Tasks(records, runs, definitions, self)

    # -- beginning -------------------------------------------------------------------------------------------------

    def start(
        self,
        workflow: Workflow,
        project: str,
        values: Mapping[str, Any],
        params: Mapping[str, object],
        description: str = "",
        key: str | None = None,
        task: Task | None = None,
        index: int = 0,
    ) -> Execution:
        """Start a workflow; for a task, as its child. Raises ApiError for invalid input and parameters."""
        spec = workflow.spec
        check_input(spec, values)
        target = _target(spec, params)
        env = self._environments.variables(params.get("env"), project)
        parent = None if task is None else self._runs.execution_of(task)
        namespace = workflow.namespace if parent is None else _namespace(parent)
        moment, identifier = self._runs.moment(), key or new_id()
        execution = Execution(
            id=identifier,
            workflow_id=workflow.id,
            workflow_name=workflow.name,
            workflow_namespace=workflow.namespace,
            description=description,
            project_id=project,
            params={**params, "namespace": params.get("namespace", namespace), "env": params.get("env", {})},
            input={**defaults_of(spec.input), **values},
            output={},
            published_global={},
            state="RUNNING",
            state_info=None,
            task_execution_id=None if task is None else task.id,
            root_execution_id=None if parent is None else parent.root_execution_id or parent.id,
            source_execution_id=None,
            tags=spec.tags,
            accepted=True,
            created_at=moment,
            updated_at=moment,
            index=index,
            depth=0 if parent is None else parent.depth + 1,
            spec=spec,
            env=env if parent is None else {**parent.env, **env},
            data={},
        )
        self._runs.executions.add(execution)
        try:
            execution.env = self._runs.evaluate(execution.env, execution, {})
            execution.input = self._runs.evaluate(execution.input, execution, execution.input)
            variables = self._runs.evaluate(spec.vars, execution, execution.input)
            execution.data = {**execution.input, **variables}
            self._runs.executions.save(execution)
            self._begin(execution, spec, target)
        except ExpressionError as error:
            self._end(execution, "ERROR", str(error))
        return execution

    def start_for_task(self, task: Task, index: int, name: str, inputs: Mapping[str, object]) -> None:
        """Start a workflow that a task runs: one of the same workbook, or of the project. Raises ApiError."""
        parent = self._runs.execution_of(task)
        if parent.depth >= MOST_NESTED:
            raise bad_request(f"Workflows must not run each other on more than {MOST_NESTED} levels.")
        book = parent.workflow_name.rpartition(".")[0]
        for known in dict.fromkeys((f"{book}.{name}" if book else name, name)):
            found = self._definitions.find_workflow(parent.project_id, known, _namespace(parent))
            if found is not None:
                declared = names_of(found.spec.input)
                params = {key: value for key, value in inputs.items() if key == "task_name" and key not in declared}
                values = {key: value for key, value in inputs.items() if key not in params}
                self.start(found, parent.project_id, values, params, task=task, index=index)
                return
        raise missing_workflow(name)

    def _begin(self, execution: Execution, spec: WorkflowSpec, target: str | None) -> None:
        if target is None:
            tasks = [self.tasks.create(execution, name, execution.data) for name in start_tasks(spec)]
        else:
            tasks = self._ready(execution)
        for task in tasks:
            if execution.state == "RUNNING":
                self.tasks.prepare(task)

    # -- from task to task ---------------------------------------------------------------------------------------------

    def task_ended(self, task: Task) -> None:
        """Continue the execution of a task that has ended, unless it is paused."""
        execution = self._runs.execution_of(task)
        if execution.state == "RUNNING":
            self._follow(execution, task)

    def _follow(self, execution: Execution, task: Task) -> None:
        task.processed = True
        self._runs.tasks.save(task)
        if task.state == "CANCELLED":
            self.stop(execution, "CANCELLED", f"Task {task.name} was cancelled.")
            return
        if execution.spec.type == "reverse":
            tasks = self._ready(execution) if task.state == "SUCCESS" else []
        else:
            tasks = self._transit(execution, task)
        for other in tasks:
            if execution.state in ("RUNNING", "PAUSED"):
                self.tasks.prepare(other)
        self._check_joins(execution)
        self._check_end(execution)

    def _ready(self, execution: Execution) -> list[Task]:
        """Create the tasks of a reverse workflow whose requirements are met."""
        spec, known = execution.spec, {task.name: task for task in self._runs.tasks_of(execution)}
        tasks = []
        for name in sorted(required_tasks(spec, execution.params["task_name"]) - known.keys()):
            needs = [known.get(required) for required in spec.tasks[name].get("requires", [])]
            met = [needed for needed in needs if needed is not None and needed.state == "SUCCESS"]
            if len(met) == len(needs):
                data = merged(execution.data, *(outbound(task) for task in met))
                tasks.append(self.tasks.create(execution, name, data))
        return tasks

    def _transit(self, execution: Execution, task: Task) -> list[Task]:
        """Take the transitions of a task of a direct workflow; return the tasks that are new."""

        def holds(condition: object) -> bool:
            return bool(self._runs.of_task(task, condition))

        tasks: list[Task] = []
        try:
            taken = transitions(execution.spec, task, holds)
            for transition in taken:
                task.next = [*task.next, transition.to]
                self._runs.tasks.save(task)
                if transition.to in COMMANDS:
                    self._apply_command(execution, task, transition)
                    if execution.state in ENDED:
                        break
                else:
                    tasks += self._reached(execution, transition.to, task)
        except (ExpressionError, ApiError) as error:
            task.state, task.state_info = "ERROR", str(error)
            self._runs.changed(self._runs.tasks, task)
            self._end(execution, "ERROR", f"Failed to handle the end of task {task.name}: {error}")
        return tasks

    def _apply_command(self, execution: Execution, task: Task, transition: Transition) -> None:
        """Carry out a command of the engine."""
        info = None if transition.message is None else str(self._runs.of_task(task, transition.message))
        if transition.to == "pause":
            self.pause(execution, info)
        elif transition.to != "noop":
            state = "SUCCESS" if transition.to == "succeed" else "ERROR"
            default = f"Workflow {'succeeded' if state == 'SUCCESS' else 'failed'} by task '{task.name}'"
            self._end(execution, state, info or default)

    def _reached(self, execution: Execution, name: str, task: Task) -> list[Task]:
        """Create a task that a transition leads to; a join is created once, and waits."""
        if execution.spec.tasks[name].get("join") is None:
            return [self.tasks.create(execution, name, outbound(task))]
        if not any(task.name == name for task in self._runs.tasks_of(execution)):
            self.tasks.create(execution, name, execution.data, "WAITING")
        return []

    def _check_joins(self, execution: Execution) -> None:
        """Begin the joins that enough tasks have reached; fail those that cannot be reached any more."""
        spec = execution.spec
        for join in self._runs.tasks_of(execution):
            if join.state != "WAITING" or execution.state not in ("RUNNING", "PAUSED"):
                continue
            state, arrived = join_state(spec, join.name, self._runs.tasks_of(execution))
            if state == "RUNNING":
                data = merged(execution.data, *(outbound(task) for task in arrived))
                join.state, join.data = "IDLE", data
                self._runs.tasks.save(join)
                self.tasks.prepare(join)
            elif state == "ERROR":
                join.state, join.finished_at = "ERROR", self._runs.moment()
                join.state_info = "The task cannot be reached by enough of the tasks that it joins."
                self._runs.changed(self._runs.tasks, join)
                self.task_ended(join)

    # -- ending ----------------------------------------------------------------------------------------------------

    def _check_end(self, execution: Execution) -> None:
        """End an execution none of whose tasks is in progress."""
        tasks = self._runs.tasks_of(execution)
        if execution.state != "RUNNING" or any(task.state not in ENDED or not task.processed for task in tasks):
            return
        failed = [task for task in tasks if task.state == "ERROR" and not task.next]
        if not failed:
            self._end(execution, "SUCCESS", None)
            return
        names = ", ".join(task.name for task in failed)
        lines = "".join(f"\n  {task.name} [task_ex_id={task.id}] -> {task.state_info}\n" for task in failed)
        self._end(execution, "ERROR", f"Failure caused by error in tasks: {names}\n{lines}")

    def _end(self, execution: Execution, state: str, info: str | None) -> None:
        """Set the last state of an execution, and its output; notify the task that runs it."""
        try:
            output = self._output(execution, state, info)
        except ExpressionError as error:
            state, info = "ERROR", str(error)
            output = {"result": info}
        execution.output = output
        self._set_state(execution, state, info)
        task = self._runs.tasks.get(execution.task_execution_id or "")
        if task is not None and execution.accepted:
            self.tasks.child_ended(task)

    def _output(self, execution: Execution, state: str, info: str | None) -> dict[str, Any]:
        """Return the declared output; without one, everything that tasks have published. Raises ExpressionError."""
        spec, tasks = execution.spec, self._runs.tasks_of(execution)
        ended = [task for task in tasks if task.state in ENDED]
        data = merged(execution.data, *(outbound(task) for task in ended))
        if state != "SUCCESS":
            return {"result": info, **self._runs.evaluate(spec.output_on_error, execution, data)}
        if spec.output is None:
            return merged(*(task.published for task in ended))
        output = self._runs.evaluate(spec.output, execution, data)
        return output if isinstance(output, dict) else {"result": output}

    def _set_state(self, execution: Execution, state: str, info: str | None) -> None:
        """Set the state of an execution and the reason of it, save it, and note the time."""
        execution.state, execution.state_info = state, info
        self._runs.changed(self._runs.executions, execution)

    # -- requests of clients -----------------------------------------------------------------------------------------

    def change_state(self, execution: Execution, state: str, info: str | None = None) -> None:
        """Set the state as a client asks. Raises ApiError 400 for a state that the execution cannot enter."""
        before = execution.state
        allowed = {"PAUSED": {"RUNNING"}, "RUNNING": {"PAUSED"}}.get(state, {"IDLE", "RUNNING", "PAUSED"})
        if state not in STATES:
            raise bad_request(f"Cannot change state to {state}. Allowed states are: '{', '.join(STATES)}")
        if before not in allowed and before != state:
            raise bad_request(
                f"Can't change workflow execution state from {before} to {state}. "
                f"[workflow={execution.workflow_name}, execution_id={execution.id}]"
            )
        if before == state:
            return
        if state == "PAUSED":
            self.pause(execution, info)
        elif state == "RUNNING":
            self.resume(execution)
        else:
            self.stop(execution, state, info)

    def pause(self, execution: Execution, info: str | None = None) -> None:
        """Start no more tasks; those in progress go on. So for the executions of its tasks."""
        if execution.state == "RUNNING":
            self._set_state(execution, "PAUSED", info)
            for child in self._nested(execution):
                self.pause(child)

    def resume(self, execution: Execution) -> None:
        """Continue a paused execution: after the tasks that have ended meanwhile, and with those that wait."""
        if execution.state != "PAUSED":
            return
        self._set_state(execution, "RUNNING", None)
        for child in self._nested(execution):
            self.resume(child)
        for task in self._runs.tasks_of(execution):
            if execution.state == "RUNNING" and task.state in ENDED and not task.processed:
                self._follow(execution, task)
            elif task.state == "IDLE":
                self.tasks.begin_task(task.id, task.attempt)
            elif task.state == "RUNNING":
                self.tasks.child_ended(task)
        self._check_end(execution)

    def stop(self, execution: Execution, state: str, info: str | None) -> None:
        """End an execution, and the executions of its tasks, whatever its tasks do."""
        if execution.state in ENDED:
            return
        for child in self._nested(execution):
            if child.state not in ENDED:
                child.accepted = False
                self._runs.changed(self._runs.executions, child)
                self.stop(child, "CANCELLED", info)
        self._end(execution, state, info)

    def rerun(self, task: Task, reset: bool, env: object) -> None:
        """Run a failed task again: all of its children, or those that failed. Raises ApiError 400."""
        execution = self._runs.execution_of(task)
        if task.state != "ERROR":
            raise bad_request(
                "The current task execution must be in ERROR for rerun. Only updating task to rerun is supported."
            )
        if env is not None and not isinstance(env, dict):
            raise bad_request("The environment must be an object.")
        execution.state, execution.state_info, execution.output = "RUNNING", None, {}
        if env:
            execution.env = {**execution.env, **env}
        self._runs.executions.save(execution)
        self.tasks.discard_children(task, every=reset)
        task.state, task.state_info, task.finished_at = "IDLE", None, None
        task.processed, task.next = False, []
        task.attempt += 1
        self._runs.changed(self._runs.tasks, task)
        self.tasks.begin_task(task.id, task.attempt)

    def remove(self, execution: Execution, force: bool) -> None:
        """Delete an execution with its tasks and their children. Raises ApiError 403 for one in progress."""
        if execution.state not in ENDED and not force:
            raise ApiError(
                403,
                "Only completed executions can be deleted. Use --force to override this. "
                f"Execution {execution.id} is in {execution.state} state",
            )
        for child in self._nested(execution):
            self.remove(child, True)
        for task in self._runs.tasks_of(execution):
            for action in self._runs.actions.select(task_execution_id=task.id):
                self._runs.actions.remove(action)
            self._runs.tasks.remove(task)
        self._runs.executions.remove(execution)

    def _nested(self, execution: Execution) -> list[Execution]:
        """Return the executions that tasks of an execution run."""
        return [
            child
            for task in self._runs.tasks_of(execution)
            for child in self._runs.executions.select(task_execution_id=task.id)
        ]


def check_input(spec: WorkflowSpec, values: Mapping[str, Any]) -> None:
    """Compare the input of a workflow with its declaration. Raises ApiError 400."""
    declared, defaults = names_of(spec.input), defaults_of(spec.input)
    missing = [name for name in declared if name not in values and name not in defaults]
    if problems := expectations(missing, values.keys() - set(declared)):
        kind = f"{spec.type.capitalize()}WorkflowSpec"
        raise bad_request(f"Invalid input [name={spec.name}, class={kind}, {problems}]")


def _namespace(execution: Execution) -> str:
    """Return the namespace that an execution was started in, in which its tasks look for workflows first."""
    namespace: str = execution.params.get("namespace", execution.workflow_namespace)
    return namespace


def _target(spec: WorkflowSpec, params: Mapping[str, object]) -> str | None:
    """Return the task that a reverse workflow is to reach; None for a direct one. Raises ApiError 400."""
    if spec.type == "direct":
        return None
    name = params.get("task_name")
    if name not in spec.tasks:
        raise bad_request(f"A reverse workflow requires the parameter 'task_name' with one of its tasks, not {name!r}")
    if has_requirement_cycle(spec, str(name)):
        raise bad_request(f"The requirements of task '{name}' are circular")
    return str(name)
