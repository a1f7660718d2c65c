"""Executions of workflows: how they begin, go from task to task, pause and end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.store import Record
from openstack_emulator.workflow.definitions import Definitions, missing_workflow
from openstack_emulator.workflow.environments import Environments
from openstack_emulator.workflow.expressions import ExpressionError
from openstack_emulator.workflow.flow import (
    ENDED,
    has_requirement_cycle,
    join_state,
    merged,
    outbound,
    required_tasks,
    transitions,
)
from openstack_emulator.workflow.language import COMMANDS, Spec, defaults_of, expectations, names_of, start_tasks
from openstack_emulator.workflow.runs import Runs
from openstack_emulator.workflow.tasks import Tasks

MOST_NESTED = 20
"""Levels of workflows that run workflows."""
STATES = ("RUNNING", "PAUSED", "SUCCESS", "ERROR", "CANCELLED")
"""The states that a client can ask for."""


class Executions(Component):
    """Executions: `{id, workflow_id, state, input, params, output, …}`, with the definition as it was at the start."""

    def __init__(
        self, records: Records, runs: Runs, definitions: Definitions, environments: Environments, tasks: Tasks
    ) -> None:
        super().__init__(records)
        self._runs = runs
        self._definitions = definitions
        self._environments = environments
        self._tasks = tasks
        tasks.ended = self.task_ended
        tasks.pause = self.pause
        tasks.start_workflow = self.start_for_task

    # -- beginning -------------------------------------------------------------------------------------------------

    def start(
        self,
        workflow: Record,
        project: str,
        given: Mapping[str, Any],
        params: Mapping[str, Any],
        description: str = "",
        key: str | None = None,
        task: Record | None = None,
        index: int = 0,
    ) -> Record:
        """Start a workflow; for a task, as its child. Raises ApiError for invalid input and parameters."""
        spec = workflow["_spec"]
        check_input(spec, given)
        target = _target(spec, params)
        env = self._environments.variables(params.get("env"), project)
        parent = None if task is None else self._runs.execution_of(task)
        namespace = workflow["namespace"] if parent is None else _namespace(parent)
        moment, identifier = self._runs.moment(), key or new_id()
        execution = {
            "id": identifier,
            "workflow_id": workflow["id"],
            "workflow_name": workflow["name"],
            "workflow_namespace": workflow["namespace"],
            "description": description,
            "project_id": project,
            "params": {**params, "namespace": params.get("namespace", namespace), "env": params.get("env", {})},
            "input": {**defaults_of(spec["input"]), **given},
            "output": {},
            "published_global": {},
            "state": "RUNNING",
            "state_info": None,
            "task_execution_id": None if task is None else task["id"],
            "root_execution_id": None if parent is None else parent["root_execution_id"] or parent["id"],
            "source_execution_id": None,
            "tags": spec["tags"],
            "accepted": True,
            "created_at": moment,
            "updated_at": moment,
            "_index": index,
            "_depth": 0 if parent is None else parent["_depth"] + 1,
            "_spec": spec,
            "_env": env if parent is None else {**parent["_env"], **env},
            "_data": {},
        }
        self._runs.executions.add(execution)
        try:
            execution["_env"] = self._runs.evaluate(execution["_env"], execution, {})
            execution["input"] = self._runs.evaluate(execution["input"], execution, execution["input"])
            variables = self._runs.evaluate(spec["vars"], execution, execution["input"])
            self._runs.executions.update(execution, _data={**execution["input"], **variables})
            self._begin(execution, spec, target)
        except ExpressionError as error:
            self._end(execution, "ERROR", str(error))
        return execution

    def start_for_task(self, task: Record, index: int, name: str, given: Mapping[str, Any]) -> None:
        """Start a workflow that a task runs: one of the same workbook, or of the project. Raises ApiError."""
        parent = self._runs.execution_of(task)
        if parent["_depth"] >= MOST_NESTED:
            raise bad_request(f"Workflows must not run each other on more than {MOST_NESTED} levels.")
        book = parent["workflow_name"].rpartition(".")[0]
        for known in dict.fromkeys((f"{book}.{name}" if book else name, name)):
            found = self._definitions.find_workflow(parent["project_id"], known, _namespace(parent))
            if found is not None:
                declared = names_of(found["_spec"]["input"])
                params = {key: value for key, value in given.items() if key == "task_name" and key not in declared}
                values = {key: value for key, value in given.items() if key not in params}
                self.start(found, parent["project_id"], values, params, task=task, index=index)
                return
        raise missing_workflow(name)

    def _begin(self, execution: Record, spec: Spec, target: str | None) -> None:
        if target is None:
            made = [self._tasks.create(execution, name, execution["_data"]) for name in start_tasks(spec)]
        else:
            made = self._ready(execution)
        for task in made:
            if execution["state"] == "RUNNING":
                self._tasks.prepare(task)

    # -- from task to task ---------------------------------------------------------------------------------------------

    def task_ended(self, task: Record) -> None:
        """Continue the execution of a task that has ended, unless it is paused."""
        execution = self._runs.execution_of(task)
        if execution["state"] == "RUNNING":
            self._follow(execution, task)

    def _follow(self, execution: Record, task: Record) -> None:
        self._runs.tasks.update(task, processed=True)
        if task["state"] == "CANCELLED":
            self.stop(execution, "CANCELLED", f"Task {task['name']} was cancelled.")
            return
        if execution["_spec"]["type"] == "reverse":
            made = self._ready(execution) if task["state"] == "SUCCESS" else []
        else:
            made = self._transit(execution, task)
        for one in made:
            if execution["state"] in ("RUNNING", "PAUSED"):
                self._tasks.prepare(one)
        self._check_joins(execution)
        self._check_end(execution)

    def _ready(self, execution: Record) -> list[Record]:
        """Create the tasks of a reverse workflow whose requirements are met."""
        spec, known = execution["_spec"], {task["name"]: task for task in self._runs.tasks_of(execution)}
        made = []
        for name in sorted(required_tasks(spec, execution["params"]["task_name"]) - known.keys()):
            needs = [known.get(one) for one in spec["tasks"][name].get("requires", [])]
            met = [one for one in needs if one is not None and one["state"] == "SUCCESS"]
            if len(met) == len(needs):
                data = merged(execution["_data"], *(outbound(one) for one in met))
                made.append(self._tasks.create(execution, name, data))
        return made

    def _transit(self, execution: Record, task: Record) -> list[Record]:
        """Take the transitions of a task of a direct workflow; return the tasks that are new."""

        def holds(condition: Any) -> bool:
            return bool(self._runs.of_task(task, condition))

        made: list[Record] = []
        try:
            taken = transitions(execution["_spec"], task, holds)
            for one in taken:
                self._runs.tasks.update(task, _next=[*task["_next"], one["to"]])
                if one["to"] in COMMANDS:
                    self._obey(execution, task, one)
                    if execution["state"] in ENDED:
                        break
                else:
                    made += self._reached(execution, one["to"], task)
        except (ExpressionError, ApiError) as error:
            self._runs.change(self._runs.tasks, task, state="ERROR", state_info=str(error))
            self._end(execution, "ERROR", f"Failed to handle the end of task {task['name']}: {error}")
        return made

    def _obey(self, execution: Record, task: Record, transition: Spec) -> None:
        """Carry out a command of the engine."""
        info = None if transition["msg"] is None else str(self._runs.of_task(task, transition["msg"]))
        if transition["to"] == "pause":
            self.pause(execution, info)
        elif transition["to"] != "noop":
            state = "SUCCESS" if transition["to"] == "succeed" else "ERROR"
            default = f"Workflow {'succeeded' if state == 'SUCCESS' else 'failed'} by task '{task['name']}'"
            self._end(execution, state, info or default)

    def _reached(self, execution: Record, name: str, task: Record) -> list[Record]:
        """Create a task that a transition leads to; a join is created once, and waits."""
        if execution["_spec"]["tasks"][name].get("join") is None:
            return [self._tasks.create(execution, name, outbound(task))]
        if not any(one["name"] == name for one in self._runs.tasks_of(execution)):
            self._tasks.create(execution, name, execution["_data"], "WAITING")
        return []

    def _check_joins(self, execution: Record) -> None:
        """Begin the joins that enough tasks have reached; fail those that cannot be reached any more."""
        spec = execution["_spec"]
        for join in self._runs.tasks_of(execution):
            if join["state"] != "WAITING" or execution["state"] not in ("RUNNING", "PAUSED"):
                continue
            state, arrived = join_state(spec, join["name"], self._runs.tasks_of(execution))
            if state == "RUNNING":
                data = merged(execution["_data"], *(outbound(task) for task in arrived))
                self._runs.tasks.update(join, state="IDLE", _data=data)
                self._tasks.prepare(join)
            elif state == "ERROR":
                moment = self._runs.moment()
                info = "The task cannot be reached by enough of the tasks that it joins."
                self._runs.change(self._runs.tasks, join, state="ERROR", state_info=info, finished_at=moment)
                self.task_ended(join)

    # -- ending ----------------------------------------------------------------------------------------------------

    def _check_end(self, execution: Record) -> None:
        """End an execution none of whose tasks is in progress."""
        tasks = self._runs.tasks_of(execution)
        if execution["state"] != "RUNNING" or any(
            task["state"] not in ENDED or not task["processed"] for task in tasks
        ):
            return
        failed = [task for task in tasks if task["state"] == "ERROR" and not task["_next"]]
        if not failed:
            self._end(execution, "SUCCESS", None)
            return
        names = ", ".join(task["name"] for task in failed)
        lines = "".join(f"\n  {task['name']} [task_ex_id={task['id']}] -> {task['state_info']}\n" for task in failed)
        self._end(execution, "ERROR", f"Failure caused by error in tasks: {names}\n{lines}")

    def _end(self, execution: Record, state: str, info: str | None) -> None:
        """Set the last state of an execution, and its output; notify the task that runs it."""
        try:
            output = self._output(execution, state, info)
        except ExpressionError as error:
            state, info = "ERROR", str(error)
            output = {"result": info}
        self._runs.change(self._runs.executions, execution, state=state, state_info=info, output=output)
        task = self._runs.tasks.get(execution["task_execution_id"] or "")
        if task is not None and execution["accepted"]:
            self._tasks.child_ended(task)

    def _output(self, execution: Record, state: str, info: str | None) -> dict[str, Any]:
        """Return the declared output; without one, everything that tasks have published. Raises ExpressionError."""
        spec, tasks = execution["_spec"], self._runs.tasks_of(execution)
        ended = [task for task in tasks if task["state"] in ENDED]
        data = merged(execution["_data"], *(outbound(task) for task in ended))
        if state != "SUCCESS":
            return {"result": info, **self._runs.evaluate(spec["output-on-error"], execution, data)}
        if spec["output"] is None:
            return merged(*(task["published"] for task in ended))
        output = self._runs.evaluate(spec["output"], execution, data)
        return output if isinstance(output, dict) else {"result": output}

    # -- requests of clients -----------------------------------------------------------------------------------------

    def change_state(self, execution: Record, state: str, info: str | None = None) -> None:
        """Set the state as a client asks. Raises ApiError 400 for a state that the execution cannot enter."""
        before = execution["state"]
        allowed = {"PAUSED": {"RUNNING"}, "RUNNING": {"PAUSED"}}.get(state, {"IDLE", "RUNNING", "PAUSED"})
        if state not in STATES:
            raise bad_request(f"Cannot change state to {state}. Allowed states are: '{', '.join(STATES)}")
        if before not in allowed and before != state:
            raise bad_request(
                f"Can't change workflow execution state from {before} to {state}. "
                f"[workflow={execution['workflow_name']}, execution_id={execution['id']}]"
            )
        if before == state:
            return
        if state == "PAUSED":
            self.pause(execution, info)
        elif state == "RUNNING":
            self.resume(execution)
        else:
            self.stop(execution, state, info)

    def pause(self, execution: Record, info: str | None = None) -> None:
        """Start no more tasks; those in progress go on. So for the executions of its tasks."""
        if execution["state"] == "RUNNING":
            self._runs.change(self._runs.executions, execution, state="PAUSED", state_info=info)
            for child in self._nested(execution):
                self.pause(child)

    def resume(self, execution: Record) -> None:
        """Continue a paused execution: after the tasks that have ended meanwhile, and with those that wait."""
        if execution["state"] != "PAUSED":
            return
        self._runs.change(self._runs.executions, execution, state="RUNNING", state_info=None)
        for child in self._nested(execution):
            self.resume(child)
        for task in self._runs.tasks_of(execution):
            if execution["state"] == "RUNNING" and task["state"] in ENDED and not task["processed"]:
                self._follow(execution, task)
            elif task["state"] == "IDLE":
                self._tasks.begin_task(task["id"], task["_attempt"])
            elif task["state"] == "RUNNING":
                self._tasks.child_ended(task)
        self._check_end(execution)

    def stop(self, execution: Record, state: str, info: str | None) -> None:
        """End an execution, and the executions of its tasks, whatever its tasks do."""
        if execution["state"] in ENDED:
            return
        for child in self._nested(execution):
            if child["state"] not in ENDED:
                self._runs.change(self._runs.executions, child, accepted=False)
                self.stop(child, "CANCELLED", info)
        self._end(execution, state, info)

    def rerun(self, task: Record, reset: bool, env: Any) -> None:
        """Run a failed task again: all of its children, or those that failed. Raises ApiError 400."""
        execution = self._runs.execution_of(task)
        if task["state"] != "ERROR":
            raise bad_request(
                "The current task execution must be in ERROR for rerun. Only updating task to rerun is supported."
            )
        if env is not None and not isinstance(env, dict):
            raise bad_request("The environment must be an object.")
        self._runs.executions.update(execution, state="RUNNING", state_info=None, output={})
        if env:
            self._runs.executions.update(execution, _env={**execution["_env"], **env})
        self._tasks.discard_children(task, every=reset)
        changes: dict[str, Any] = {
            "state": "IDLE",
            "state_info": None,
            "processed": False,
            "_next": [],
            "finished_at": None,
        }
        self._runs.change(self._runs.tasks, task, **changes, _attempt=task["_attempt"] + 1)
        self._tasks.begin_task(task["id"], task["_attempt"])

    def remove(self, execution: Record, force: bool) -> None:
        """Delete an execution with its tasks and their children. Raises ApiError 403 for one in progress."""
        if execution["state"] not in ENDED and not force:
            raise ApiError(
                403,
                "Only completed executions can be deleted. Use --force to override this. "
                f"Execution {execution['id']} is in {execution['state']} state",
            )
        for child in self._nested(execution):
            self.remove(child, True)
        for task in self._runs.tasks_of(execution):
            for action in self._runs.actions.select(task_execution_id=task["id"]):
                self._runs.actions.remove(action)
            self._runs.tasks.remove(task)
        self._runs.executions.remove(execution)

    def _nested(self, execution: Record) -> list[Record]:
        """Return the executions that tasks of an execution run."""
        return [
            child
            for task in self._runs.tasks_of(execution)
            for child in self._runs.executions.select(task_execution_id=task["id"])
        ]


def check_input(spec: Spec, given: Mapping[str, Any]) -> None:
    """Compare the input of a workflow with its declaration. Raises ApiError 400."""
    declared, defaults = names_of(spec["input"]), defaults_of(spec["input"])
    missing = [name for name in declared if name not in given and name not in defaults]
    if problems := expectations(missing, given.keys() - set(declared)):
        kind = f"{spec['type'].capitalize()}WorkflowSpec"
        raise bad_request(f"Invalid input [name={spec['name']}, class={kind}, {problems}]")


def _namespace(execution: Record) -> str:
    """Return the namespace that an execution was started in, in which its tasks look for workflows first."""
    namespace: str = execution["params"].get("namespace", execution["workflow_namespace"])
    return namespace


def _target(spec: Spec, params: Mapping[str, Any]) -> str | None:
    """Return the task that a reverse workflow is to reach; None for a direct one. Raises ApiError 400."""
    if spec["type"] == "direct":
        return None
    name = params.get("task_name")
    if name not in spec["tasks"]:
        raise bad_request(f"A reverse workflow requires the parameter 'task_name' with one of its tasks, not {name!r}")
    if has_requirement_cycle(spec, str(name)):
        raise bad_request(f"The requirements of task '{name}' are circular")
    return str(name)
