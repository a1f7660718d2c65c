"""The records of executions, tasks and action executions, and the data that their expressions see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.workflow import expressions
from openstack_emulator.workflow.expressions import Scope
from openstack_emulator.workflow.flow import ENDED
from openstack_emulator.workflow.sharing import SECONDS_FORM


class Runs(Component):
    """Executions have tasks; a task has action executions, or executions of another workflow, as its children."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.executions = records.collection("executions", ("task_execution_id", "workflow_id"), missing_execution)
        self.tasks = records.collection("tasks", ("workflow_execution_id",), missing_task)
        self.actions = records.collection("action_executions", ("task_execution_id",), missing_action)

    def moment(self) -> str:
        """The time of day as Mistral writes it."""
        return self.records.timestamp(SECONDS_FORM)

    def change(self, rows: Collection, row: Record, **changes: Any) -> None:
        """Change a record, and note the time."""
        rows.update(row, **changes, updated_at=self.moment())

    def execution_of(self, task: Record) -> Record:
        """Return the execution that a task belongs to."""
        return self.executions.require(task["workflow_execution_id"])

    def tasks_of(self, execution: Record) -> list[Record]:
        """Return the tasks of an execution, the oldest first."""
        return self.tasks.select(workflow_execution_id=execution["id"])

    def spec_of(self, task: Record) -> dict[str, Any]:
        """Return the declaration of a task."""
        spec: dict[str, Any] = self.execution_of(task)["_spec"]["tasks"][task["name"]]
        return spec

    def children(self, task: Record) -> list[Record]:
        """Return the children of a task that count: those of an earlier attempt do not."""
        rows = self.executions if task["type"] == "WORKFLOW" else self.actions
        return [row for row in rows.select(task_execution_id=task["id"]) if row["accepted"]]

    def result_of(self, task: Record) -> Any:
        """Return the result of a task: that of its child, or a list of those of its items."""
        if self.spec_of(task).get("keep-result") is False:
            return None
        found = sorted(self.children(task), key=lambda row: row["_index"])
        results = [_result(row) for row in found if row["state"] in ENDED]
        return results if task["_items"] is not None else next(iter(results), None)

    # -- expressions -----------------------------------------------------------------------------------------------

    def evaluate(self, value: Any, execution: Record, data: Any, task: Record | None = None) -> Any:
        """Evaluate the expressions in a value. Raises ExpressionError."""
        return expressions.evaluate(value, data, self._scope(execution, task))

    def of_task(self, task: Record, value: Any, item: Mapping[str, Any] | None = None) -> Any:
        """Evaluate the expressions of a task, with what it has published. Raises ExpressionError."""
        data = {**task["_data"], **task["published"], **(item or {})}
        return self.evaluate(value, self.execution_of(task), data, task)

    def _scope(self, execution: Record, own: Record | None) -> Scope:
        def shown(name: str | None) -> Any:
            found = own
            if name is not None:
                named = [task for task in self.tasks_of(execution) if task["name"] == name]
                found = named[-1] if named else None
            return None if found is None else self._in_expressions(found)

        names = ("id", "workflow_id", "input", "params", "created_at", "updated_at", "state")
        facts = {**{name: execution[name] for name in names}, "name": execution["workflow_name"]}
        facts["root_execution_id"] = execution["root_execution_id"]
        facts["spec"] = execution["_spec"]
        return Scope(
            env=execution["_env"],
            execution=facts,
            published=execution["published_global"],
            task=shown,
            tasks=lambda: [self._in_expressions(task) for task in self.tasks_of(execution)],
        )

    def _in_expressions(self, task: Record) -> dict[str, Any]:
        names = ("id", "name", "state", "state_info", "type", "published", "workflow_execution_id")
        return {**{name: task[name] for name in names}, "result": self.result_of(task), "spec": self.spec_of(task)}


def _result(child: Record) -> Any:
    """Return what a child gives to its task: the output of a workflow, or the result of an action."""
    return child["output"].get("result") if "task_name" in child else child["output"]


def missing_execution(key: str) -> ApiError:
    """Return the 404 for an execution."""
    return not_found(f"WorkflowExecution not found [id={key}]")


def missing_task(key: str) -> ApiError:
    """Return the 404 for a task."""
    return not_found(f"Task execution not found [id={key}]")


def missing_action(key: str) -> ApiError:
    """Return the 404 for an action execution."""
    return not_found(f"ActionExecution not found [id={key}]")
