"""The properties of a workflow, and the definition in the workflow language that they describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from stoker.resources.declare import custom, length, one_of
from stoker.resources.wire import without_nulls
from stoker.schema.live import managed
from stoker.schema.property import Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

POLICIES = ("pause_before", "wait_after", "wait_before", "timeout", "concurrency", "retry")
"""The keys of a task that the hidden property `policies` may contain instead."""
_LATER = Support(version="5.0.0")
_CONCURRENCY = Support(version="8.0.0")


def _transitions(when: str) -> Property:
    return Property(Type.LIST, f"Tasks that begin when the task {when}, each a name or a map to a condition.")


_REQUIRES = Property(Type.LIST, "Names of the tasks that must have succeeded before, in a reverse workflow.")
_TASK: Mapping[str, Property] = {
    "name": Property(description="Name of the task.", required=True),
    "description": Property(description="Description of the task."),
    "input": Property(Type.MAP, "Input of the action or workflow."),
    "action": Property(description="Name of the action that the task runs, with optional inline parameters."),
    "workflow": Property(
        description="Name of the workflow that the task runs.", constraints=custom("mistral.workflow")
    ),
    "publish": Property(Type.MAP, "Variables that the task publishes when it has succeeded."),
    "on_success": _transitions("has succeeded"),
    "on_error": _transitions("has failed"),
    "on_complete": _transitions("has ended"),
    "policies": Property(
        Type.MAP,
        "Policies of the task, by name.",
        support=Support(
            status="HIDDEN",
            version="8.0.0",
            previous=Support(
                status="DEPRECATED", version="5.0.0", previous=Support(status="SUPPORTED", version="2015.1")
            ),
        ),
    ),
    "requires": _REQUIRES,
    "retry": Property(Type.MAP, "Repetition of the task: count, delay, break-on, continue-on.", support=_LATER),
    "wait_before": Property(Type.INTEGER, "Seconds to wait before the task begins.", support=_LATER),
    "wait_after": Property(Type.INTEGER, "Seconds to wait after the task has ended.", support=_LATER),
    "pause_before": Property(Type.BOOLEAN, "Whether to pause the workflow before the task.", support=_LATER),
    "timeout": Property(Type.INTEGER, "Seconds after which the task fails.", support=_LATER),
    "with_items": Property(
        description="Items for which the task is run, as `item in <% expression %>`.", support=_LATER
    ),
    "keep_result": Property(Type.BOOLEAN, "Whether to store the result of the task.", support=_LATER),
    "concurrency": Property(Type.INTEGER, "Number of items that are processed at the same time.", support=_CONCURRENCY),
    "target": Property(description="Name of the executor that runs the action.", support=_LATER),
    "join": Property(
        description="How many of the tasks before it the task waits for: all, one or a number.",
        support=Support(version="6.0.0"),
    ),
}
_DEFAULTS: Mapping[str, Property] = {
    "on_success": _transitions("has succeeded"),
    "on_error": _transitions("has failed"),
    "on_complete": _transitions("has ended"),
    "requires": _REQUIRES,
    "retry": Property(Type.MAP, "Repetition of the tasks."),
    "wait_before": Property(Type.INTEGER, "Seconds to wait before a task begins."),
    "wait_after": Property(Type.INTEGER, "Seconds to wait after a task has ended."),
    "pause_before": Property(Type.BOOLEAN, "Whether to pause the workflow before each task."),
    "timeout": Property(Type.INTEGER, "Seconds after which a task fails."),
    "concurrency": Property(Type.INTEGER, "Number of items that are processed at the same time.", support=_CONCURRENCY),
}

PROPERTIES: Mapping[str, Property] = {
    "name": Property(description="Name of the workflow."),
    "type": Property(
        description="Whether tasks lead to the tasks after them, or require those before them.",
        required=True,
        constraints=one_of("direct", "reverse"),
        change=Change.UPDATE,
    ),
    "description": Property(description="Description of the workflow.", change=Change.UPDATE),
    "use_request_body_as_input": Property(
        Type.BOOLEAN,
        "Whether the body of a signal is the input, instead of having the keys input and params.",
        change=Change.UPDATE,
        support=Support(version="6.0.0"),
        live=managed("it tells Stoker how to start executions"),
    ),
    "input": Property(Type.MAP, "Parameters of the workflow, with values for its executions.", change=Change.UPDATE),
    "output": Property(Type.MAP, "Output of the workflow.", change=Change.UPDATE),
    "tags": Property(Type.LIST, "Tags of the workflow.", change=Change.UPDATE, support=Support(version="10.0.0")),
    "params": Property(
        Type.MAP,
        "Parameters of executions; a reverse workflow requires task_name.",
        change=Change.UPDATE,
        live=managed("it tells Stoker how to start executions"),
    ),
    "task_defaults": Property(
        Type.MAP,
        "Values of the tasks that do not set their own.",
        schema=_DEFAULTS,
        change=Change.UPDATE,
        support=_LATER,
    ),
    "tasks": Property(
        Type.LIST,
        "The tasks.",
        required=True,
        constraints=length(1),
        items=Property(Type.MAP, "A task.", schema=_TASK),
        change=Change.UPDATE,
    ),
}


def document_of(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definition as a document of the workflow language, version 2.0."""
    defaults = _dashed({key: value for key, value in (properties["task_defaults"] or {}).items() if value})
    body = {
        "type": properties["type"],
        "description": properties["description"],
        "tags": properties["tags"],
        "input": list(properties["input"] or {}) or None,
        "output": without_nulls(properties["output"] or {}) or None,
        "task-defaults": defaults or None,
        "tasks": {str(task["name"]): _task(task) for task in properties["tasks"]},
    }
    return {"version": "2.0", name: without_nulls(body)}


def yaml_of(document: Mapping[str, object]) -> str:
    """Return a definition as YAML."""
    text: str = yaml.safe_dump(document, default_flow_style=False, sort_keys=False, allow_unicode=True)
    return text


def _task(task: Mapping[str, Any]) -> dict[str, object]:
    spread = {key.replace("-", "_"): value for key, value in (task["policies"] or {}).items()}
    own = {key: value for key, value in task.items() if key not in ("name", "policies") and value is not None}
    return _dashed({**without_nulls(spread), **own})


def _dashed(values: Mapping[str, object]) -> dict[str, object]:
    return {key.replace("_", "-"): value for key, value in values.items()}


def problems(properties: Mapping[str, Any]) -> Iterable[str]:
    """Return what is wrong with the combination of properties, some of which may be unknown."""
    kind, params, tasks = properties["type"], properties["params"], properties["tasks"]
    if kind == "reverse" and not is_unknown(params) and not (params or {}).get("task_name"):
        yield "a workflow of the type reverse requires task_name in params"
    if is_unknown(tasks):
        return
    for task in tasks or []:
        if not is_unknown(task):
            yield from _task_problems(task, kind)


def _task_problems(task: Mapping[str, Any], kind: Any) -> Iterable[str]:
    name = task["name"]
    if task["action"] is not None and task["workflow"] is not None:
        yield f"task {name} has both action and workflow; only one of them is allowed"
    if task["action"] is None and task["workflow"] is None:
        yield f"task {name} requires action or workflow"
    if kind == "direct" and task["requires"]:
        yield f"task {name} has requires, which is for workflows of the type reverse"
    policies = task["policies"]
    if policies is not None and not is_unknown(policies):
        for key in sorted(policies):
            if key.replace("-", "_") not in POLICIES:
                yield f"task {name} has no policy {key}; the policies are {', '.join(POLICIES)}"
            elif task[key.replace("-", "_")] is not None:
                yield f"task {name} has {key} twice: as a property and in policies"
    spread = {} if policies is None or is_unknown(policies) else policies
    if (task["concurrency"] is not None or spread.get("concurrency") is not None) and task["with_items"] is None:
        yield f"task {name} has concurrency, which requires with_items"
