"""The records of executions, tasks and action executions, and the data that their expressions see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.workflow.records import ActionExecution, Execution, Task, TimestampedRecord
from openstack_emulator.workflow.rules import expressions
from openstack_emulator.workflow.rules.expressions import Scope
from openstack_emulator.workflow.rules.flow import ENDED
from openstack_emulator.workflow.rules.language import TaskSpec
from openstack_emulator.workflow.rules.sharing import SECONDS_FORM

D = TypeVar("D", bound=TimestampedRecord)


class Runs(Rules):
    """Executions have tasks; a task has action executions, or executions of another workflow, as its children."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.executions = records.table(
            "executions", Execution, "task_execution_id", "workflow_id", missing=missing_execution
        )
        self.tasks = records.table("tasks", Task, "workflow_execution_id", missing=missing_task)
        self.actions = records.table("action_executions", ActionExecution, "task_execution_id", missing=missing_action)

    def moment(self) -> str:
        """The time of day as Mistral writes it."""
        return self.records.timestamp(SECONDS_FORM)

    def changed(self, rows: Table[D], row: D) -> None:
        """Save a record that was changed, and note the time."""
        row.updated_at = self.moment()
        rows.save(row)

    def save_child(self, child: Execution | ActionExecution) -> None:
        """Save a child of a task."""
        if isinstance(child, Execution):
            self.executions.save(child)
        else:
            self.actions.save(child)

    def execution_of(self, task: Task) -> Execution:
        """Return the execution that a task belongs to."""
        return self.executions.require(task.workflow_execution_id)

    def tasks_of(self, execution: Execution) -> list[Task]:
        """Return the tasks of an execution, the oldest first."""
        return self.tasks.select(workflow_execution_id=execution.id)

    def spec_of(self, task: Task) -> TaskSpec:
        """Return the declaration of a task."""
        return self.execution_of(task).spec.tasks[task.name]

    def children(self, task: Task) -> list[Execution] | list[ActionExecution]:
        """Return the children of a task that count: those of an earlier attempt do not."""
        if task.type == "WORKFLOW":
            return [row for row in self.executions.select(task_execution_id=task.id) if row.accepted]
        return [row for row in self.actions.select(task_execution_id=task.id) if row.accepted]

    def result_of(self, task: Task) -> object:
        """Return the result of a task: that of its child, or a list of those of its items."""
        if self.spec_of(task).get("keep-result") is False:
            return None
        children: Sequence[Execution | ActionExecution] = self.children(task)
        found = sorted(children, key=lambda row: row.index)
        results = [_result(row) for row in found if row.state in ENDED]
        return results if task.items is not None else next(iter(results), None)

    # -- expressions -----------------------------------------------------------------------------------------------

    def evaluate(self, value: object, execution: Execution, data: Any, task: Task | None = None) -> Any:
        """Evaluate the expressions in a value. Raises ExpressionError."""
        return expressions.evaluate(value, data, self._scope(execution, task))

    def of_task(self, task: Task, value: object, item: Mapping[str, object] | None = None) -> Any:
        """Evaluate the expressions of a task, with what it has published. Raises ExpressionError."""
        data = {**task.data, **task.published, **(item or {})}
        return self.evaluate(value, self.execution_of(task), data, task)

    def _scope(self, execution: Execution, own: Task | None) -> Scope:
        def shown(name: str | None) -> Any:
            found = own
            if name is not None:
                named = [task for task in self.tasks_of(execution) if task.name == name]
                found = named[-1] if named else None
            return None if found is None else self._in_expressions(found)

        facts = {
            "id": execution.id,
            "workflow_id": execution.workflow_id,
            "input": execution.input,
            "params": execution.params,
            "created_at": execution.created_at,
            "updated_at": execution.updated_at,
            "state": execution.state,
            "name": execution.workflow_name,
            "root_execution_id": execution.root_execution_id,
            "spec": execution.spec.to_json(),
        }
        return Scope(
            env=execution.env,
            execution=facts,
            published=execution.published_global,
            task=shown,
            tasks=lambda: [self._in_expressions(task) for task in self.tasks_of(execution)],
        )

    def _in_expressions(self, task: Task) -> dict[str, object]:
        return {
            "id": task.id,
            "name": task.name,
            "state": task.state,
            "state_info": task.state_info,
            "type": task.type,
            "published": task.published,
            "workflow_execution_id": task.workflow_execution_id,
            "result": self.result_of(task),
            "spec": self.spec_of(task),
        }


def _result(child: Execution | ActionExecution) -> object:
    """Return what a child gives to its task: the output of a workflow, or the result of an action."""
    return child.output.get("result") if isinstance(child, ActionExecution) else child.output


def missing_execution(key: str) -> ApiError:
    """Return the 404 for an execution."""
    return not_found(f"WorkflowExecution not found [id={key}]")


def missing_task(key: str) -> ApiError:
    """Return the 404 for a task."""
    return not_found(f"Task execution not found [id={key}]")


def missing_action(key: str) -> ApiError:
    """Return the 404 for an action execution."""
    return not_found(f"ActionExecution not found [id={key}]")
