"""Records as clients see them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import Any

from openstack_emulator.core.typed import TypedRecord, to_public
from openstack_emulator.workflow.records import (
    ActionExecution,
    ActionSpec,
    AdhocAction,
    Environment,
    Execution,
    Task,
    Trigger,
    Workbook,
    Workflow,
    WorkflowSpec,
)
from openstack_emulator.workflow.rules.actions import ACTIONS
from openstack_emulator.workflow.rules.language import defaults_of, names_of
from openstack_emulator.workflow.rules.runs import Runs

_OPTIONAL = frozenset({"description", "source_execution_id"})
"""Fields that are left out where they have no value."""
EXECUTION_MAPS = ("input", "output", "params", "published_global")
"""Fields of an execution that contain JSON in a string."""


def _shown(row: TypedRecord) -> dict[str, object]:
    return {name: value for name, value in to_public(row).items() if value is not None or name not in _OPTIONAL}


def made(shown: dict[str, object]) -> dict[str, Any]:
    """Return a record as the answer to its creation shows it: without the time of a change that has not been made."""
    return {name: value for name, value in shown.items() if value is not None or name != "updated_at"}


def _without(shown: dict[str, object], names: Collection[str]) -> dict[str, object]:
    return {name: value for name, value in shown.items() if name not in names}


def _input_of(spec: WorkflowSpec | ActionSpec) -> str:
    """Return the parameters of a definition as one string."""
    defaults = defaults_of(spec.input)
    names = [f"{name}={_default(defaults[name])}" if name in defaults else name for name in names_of(spec.input)]
    return ", ".join(names)


def _default(value: object) -> str:
    """Return a default value; numbers are shown as strings."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return json.dumps(str(value) if number else value)


def workflow(row: Workflow) -> dict[str, object]:
    """Return a workflow with its parameters."""
    output = row.spec.output
    names = sorted(output) if isinstance(output, dict) else []
    interface = {"input": row.spec.input, "output": names}
    shown = {name: value for name, value in _shown(row).items() if name != "description"}
    checksum = hashlib.md5(row.definition.encode(), usedforsecurity=False).hexdigest()
    return {**shown, "checksum": checksum, "input": _input_of(row.spec), "interface": json.dumps(interface)}


def made_workflow(row: Workflow) -> dict[str, object]:
    """Return a workflow as the answer to its creation shows it: the interface is an object."""
    shown = made(workflow(row))
    return {**shown, "interface": json.loads(shown["interface"])}


def workbook(row: Workbook) -> dict[str, object]:
    """Return a workbook."""
    return _shown(row)


def system_action(name: str) -> dict[str, object]:
    """Return an action of the service."""
    action = ACTIONS[name]
    return {
        "id": name,
        "name": name,
        "namespace": "",
        "project_id": None,
        "scope": "public",
        "description": action.description,
        "tags": [],
        "definition": None,
        "created_at": None,
        "updated_at": None,
        "input": action.signature,
        "is_system": True,
    }


def adhoc_action(row: AdhocAction) -> dict[str, object]:
    """Return an ad-hoc action with its parameters."""
    return {**_shown(row), "input": _input_of(row.spec), "is_system": False}


def execution(row: Execution) -> dict[str, object]:
    """Return an execution; the maps are JSON in strings."""
    encoded = {name: json.dumps(row.get(name)) for name in EXECUTION_MAPS}
    return {**{name: value for name, value in _shown(row).items() if name != "accepted"}, **encoded}


def started_execution(row: Execution) -> dict[str, object]:
    """Return an execution as the answers show it that start it or change its state."""
    return _without(execution(row), ("published_global",))


def described_execution(row: Execution) -> dict[str, object]:
    """Return an execution as the answer to a new description shows it: without its maps."""
    return _without(execution(row), EXECUTION_MAPS)


def task(runs: Runs, row: Task) -> dict[str, object]:
    """Return a task with its result; the maps are JSON in strings."""
    encoded = {name: json.dumps(row.get(name)) for name in ("runtime_context", "published")}
    shown = _without(to_public(row), ("published_global",))
    return {**shown, **encoded, "result": json.dumps(runs.result_of(row))}


def action_execution(row: ActionExecution) -> dict[str, object]:
    """Return an action execution; input and output are JSON in strings."""
    encoded = {name: json.dumps(row.get(name)) for name in ("input", "output")}
    return {**_without(to_public(row), ("task_name",)), **encoded}


def executed_action(row: ActionExecution, saved: bool) -> dict[str, object]:
    """Return an action execution as the answer with its result shows it; one that is not saved has no identity."""
    unknown = {"updated_at": None}
    if saved:
        return {**action_execution(row), **unknown, "accepted": False}
    unknown |= {"id": None, "project_id": None, "created_at": None, "accepted": None}
    return {**action_execution(row), **unknown}


def trigger(row: Trigger) -> dict[str, object]:
    """Return a cron trigger or an event trigger; input and parameters are JSON in strings."""
    return {**_shown(row), **{name: json.dumps(row.get(name)) for name in ("workflow_input", "workflow_params")}}


def environment(row: Environment) -> dict[str, Any]:
    """Return an environment; the variables are JSON in a string."""
    shown = _without(_shown(row), ("variables",))
    return shown if row.variables is None else {**shown, "variables": json.dumps(row.variables)}
