"""The workflow language, version 2.0: from YAML to checked, normalized definitions.

A normalized task is JSON data: it has its policies under their names, its inline parameters in `input`, what it
publishes after each clause as `publishing: {<clause>: {branch, global}}`, and each of the clauses `on-success`,
`on-error` and `on-complete` as a list of transitions `{to, if, msg}`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import yaml

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.workflow.records import ActionSpec, WorkbookSpec, WorkflowSpec
from openstack_emulator.workflow.rules.expressions import ExpressionError, check
from openstack_emulator.workflow.rules.fields import check_levels

try:
    from yaml import CSafeLoader as _Loader
except ImportError:
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

TaskSpec = dict[str, Any]
"""A normalized task."""
COMMANDS = frozenset({"noop", "fail", "succeed", "pause"})
"""What a transition may lead to besides tasks."""
CLAUSES = ("on-success", "on-error", "on-complete")
POLICIES = ("wait-before", "wait-after", "timeout", "pause-before", "concurrency", "retry", "fail-on")
_TASK = frozenset({
    "name", "description", "type", "tags", "action", "workflow", "input", "publish", "publish-on-error", "with-items",
    "keep-result", "target", "join", "requires", "safe-rerun", *POLICIES, *CLAUSES,
})  # fmt: skip
_DEFAULTS = frozenset({"requires", "safe-rerun", *POLICIES, *CLAUSES})
_WORKBOOK = frozenset({"version", "name", "description", "tags", "workflows", "actions"})
_ACTION = frozenset({"version", "name", "description", "tags", "base", "base-input", "input", "output"})
_MOST_NODES = 50_000
_MOST_CHARACTERS = 1024 * 1024
_PARAMETER = re.compile(
    r"""([\w.-]+)\s*=\s*("[^"]*"|'[^']*'|<%.*?%>|\{\{.*?\}\}|\{%.*?%\}|\[[^\]]*\]|\{[^}]*\}|[^\s,()]+)""", re.DOTALL
)
_CALL = re.compile(r"\s*([\w.-]+)\s*(?:\((.*)\)|\s(.*))?\s*\Z", re.DOTALL)
_EXPRESSION = re.compile(r"\s*(<%.*%>|\{\{.*\}\}|\{%.*%\})\s*\Z", re.DOTALL)
_ITEMS = re.compile(r"\s*([\w-]+)\s+in\s+(.+)\Z", re.DOTALL)


def invalid(problem: str) -> ApiError:
    """Return the 400 for a definition."""
    return bad_request(f"Invalid DSL: {problem}")


def workflows_of(text: str) -> dict[str, WorkflowSpec]:
    """Return the workflows of a definition, by name. Raises ApiError 400."""
    document = _document(text)
    return {name: _workflow(name, body) for name, body in document.items() if name != "version"}


def actions_of(text: str) -> dict[str, ActionSpec]:
    """Return the ad-hoc actions of a definition, by name. Raises ApiError 400."""
    return {name: _action(name, body) for name, body in _document(text).items() if name != "version"}


def workbook_of(text: str) -> tuple[WorkbookSpec, dict[str, WorkflowSpec], dict[str, ActionSpec]]:
    """Return a workbook, and its workflows and actions by their names within it. Raises ApiError 400."""
    book = _document(text)
    _known(book, _WORKBOOK, "the workbook")
    name = book.get("name")
    if not isinstance(name, str):
        raise invalid("'name' is a required property of a workbook")
    workflows = {part: _workflow(part, body) for part, body in _parts(book, "workflows")}
    actions = {part: _action(part, body) for part, body in _parts(book, "actions")}
    return WorkbookSpec(name=name, description=book.get("description"), tags=book.get("tags") or []), workflows, actions


def _parts(book: Mapping[str, object], kind: str) -> list[tuple[str, Any]]:
    return [(name, body) for name, body in _map(book.get(kind) or {}, kind).items() if name != "version"]


def _document(text: str) -> dict[str, object]:
    if len(text) > _MOST_CHARACTERS:
        raise invalid(f"a definition must not have more than {_MOST_CHARACTERS} characters")
    try:
        loaded = yaml.load(text, _Loader)
        document = _map(_plain(loaded, [_MOST_NODES]), "a definition")
        check_levels(document, "definition")
        check(document)
    except yaml.YAMLError as error:
        raise invalid(f"Definition could not be parsed: {error}") from None
    except RecursionError:
        raise invalid("the nesting is too deep") from None
    except ExpressionError as error:
        raise invalid(str(error)) from None
    if str(document.get("version")) != "2.0":
        raise invalid("Unsupported DSL version: 'version' must be '2.0'")
    if len(document) < 2:
        raise invalid("Not enough properties: the definition is empty")
    return document


def _plain(value: object, left: list[int]) -> object:
    """Return loaded YAML as JSON data, each alias a copy. `left` counts the nodes that are still allowed."""
    left[0] -= 1
    if left[0] < 0:
        raise invalid(f"a definition must not have more than {_MOST_NODES} values, with every alias expanded")
    if isinstance(value, dict):
        return {str(key): _plain(item, left) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, left) for item in value]
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _map(value: Any, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise invalid(f"{value!r} is not of type 'object' ({where})")
    return value


def _known(body: Mapping[str, object], names: frozenset[str], where: str) -> None:
    if unknown := sorted(body.keys() - names):
        raise invalid(f"Additional properties are not allowed ({', '.join(map(repr, unknown))} in {where})")


def _action(name: str, body: object) -> ActionSpec:
    action = _map(body, f"action {name}")
    _known(action, _ACTION, f"action {name}")
    base, inline = _call(action.get("base"), f"'base' of action {name}")
    values = {**inline, **_map(action.get("base-input") or {}, "base-input")}
    return ActionSpec(
        name=name,
        description=action.get("description"),
        tags=_list(action.get("tags") or [], "tags"),
        base=base,
        base_input=values,
        input=_inputs(action.get("input") or [], f"action {name}"),
        output=action.get("output"),
    )


def _inputs(declarations: object, where: str) -> list[object]:
    """Return the parameters: names, and maps from a name to a default."""
    inputs = _list(declarations, f"the input of {where}")
    for entry in inputs:
        if not isinstance(entry, str) and not (isinstance(entry, dict) and len(entry) == 1):
            raise invalid(f"an input of {where} must be a name, or a name with a default: {entry!r}")
    return inputs


def defaults_of(inputs: list[object]) -> dict[str, object]:
    """Return the defaults of the parameters that have one."""
    return {name: value for entry in inputs if isinstance(entry, dict) for name, value in entry.items()}


def names_of(inputs: list[Any]) -> list[str]:
    """Return the names of the parameters."""
    return [entry if isinstance(entry, str) else next(iter(entry)) for entry in inputs]


def expectations(missing: Collection[str], unexpected: Collection[str]) -> str:
    """Return how an input differs from the parameters, as messages of the API have it; empty where it does not."""
    found = {"missing": list(missing), "unexpected": sorted(unexpected)}
    return ", ".join(f"{kind}={names}" for kind, names in found.items() if names)


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise invalid(f"{value!r} is not of type 'array' ({where})")
    return value


# -- workflows ------------------------------------------------------------------------------------------------------


def _workflow(name: str, body: object) -> WorkflowSpec:
    """Return a workflow; properties that are not part of the language are ignored, as Mistral does."""
    where = f"workflow {name}"
    workflow = _map(body, where)
    kind = workflow.get("type", "direct")
    if kind not in ("direct", "reverse"):
        raise invalid(f"the type of {where} must be direct or reverse, not {kind!r}")
    tasks = _map(workflow.get("tasks"), f"tasks of {where}")
    if not tasks:
        raise invalid(f"{where} has no tasks")
    defaults = _policies(_map(workflow.get("task-defaults") or {}, "task-defaults"), _DEFAULTS, "task-defaults")
    spec = WorkflowSpec(
        name=name,
        type=kind,
        description=workflow.get("description"),
        tags=_list(workflow.get("tags") or [], "tags"),
        input=_inputs(workflow.get("input") or [], where),
        output=workflow.get("output"),
        output_on_error=_map(workflow.get("output-on-error") or {}, "output-on-error"),
        vars=_map(workflow.get("vars") or {}, "vars"),
        tasks={task: _task(task, task_body, defaults, kind) for task, task_body in tasks.items()},
    )
    _check_names(spec, where)
    return spec


def _task(name: str, body: object, defaults: TaskSpec, kind: str) -> TaskSpec:
    where = f"task {name}"
    fields = _map(body if body is not None else {}, where)
    if "action" in fields and "workflow" in fields:
        raise invalid(f"{where} cannot have both 'action' and 'workflow'")
    if name in COMMANDS or name == "version":
        raise invalid(f"a task cannot have the reserved name '{name}'")
    task = _policies(fields, _TASK, where)
    wrong = ("requires",) if kind == "direct" else (*CLAUSES, "join")
    if found := [key for key in wrong if key in task]:
        raise invalid(f"{where} of a {kind} workflow cannot have '{found[0]}'")
    for key, value in defaults.items():
        if key not in task and key not in wrong and key != "publishing":
            own = [entry for entry in value if entry["to"] != name] if key in CLAUSES else value
            task[key] = [entry for entry in own if entry != name] if key == "requires" else own
    what = "workflow" if "workflow" in fields else "action"
    called, inline = _call(task.get(what) or "std.noop", f"'{what}' of {where}")
    task.update({what: called, "input": _input(task.get("input"), inline), "name": name})
    task.update(publishing=_publishing(task, defaults))
    return task


def _publishing(task: TaskSpec, defaults: TaskSpec) -> dict[str, object]:
    """Return what a task publishes at each end, as `{branch, global}`: also what its transitions publish."""
    found = {**defaults.get("publishing", {}), **task.get("publishing", {})}
    for name, clause in (("publish", "on-success"), ("publish-on-error", "on-error")):
        own = _map(task.pop(name, None) or {}, name)
        if own:
            clause_value = found.get(clause, {})
            found[clause] = {**clause_value, "branch": {**own, **clause_value.get("branch", {})}}
    return found


def _input(value: object, inline: Mapping[str, object]) -> object:
    if isinstance(value, str):
        return value
    return {**inline, **_map(value or {}, "input")}


def _policies(body: TaskSpec, known: frozenset[str], where: str) -> TaskSpec:
    """Return the properties of a task, or of task-defaults, with transitions and policies normalized."""
    _known(body, known, where)
    result = dict(body)
    for clause in CLAUSES:
        if clause in result:
            result[clause], published = _transitions(result[clause], f"'{clause}' of {where}")
            if published:
                result.setdefault("publishing", {})[clause] = published
    for name, read in (("requires", _requires), ("retry", _retry), ("with-items", _with_items)):
        if name in result:
            result[name] = read(result[name], where)
    join = result.get("join")
    if join is not None and join not in ("all", "one") and not str(join).isdecimal():
        raise invalid(f"'join' of {where} must be all, one or a number, not {join!r}")
    return result


def _requires(value: object, where: str) -> list[object]:
    return [value] if isinstance(value, str) else _list(value, f"requires of {where}")


def _retry(value: object, where: str) -> dict[str, object]:
    retry = _parameters(value, where) if isinstance(value, str) else _map(value, f"retry of {where}")
    _known(retry, frozenset({"count", "delay", "break-on", "continue-on"}), f"retry of {where}")
    if "count" not in retry:
        raise invalid(f"'count' is a required property of the retry of {where}")
    return retry


def _with_items(value: object, where: str) -> dict[str, object]:
    found = {}
    for entry in [value] if isinstance(value, str) else _list(value, f"with-items of {where}"):
        match = _ITEMS.match(str(entry))
        if match is None:
            raise invalid(f"with-items of {where} must have the form 'name in <% expression %>', not {entry!r}")
        text = match[2].strip()
        found[match[1]] = text if _EXPRESSION.match(text) else _value(text)
    return found


def _transitions(body: object, where: str) -> tuple[list[dict[str, object]], dict[str, object]]:
    """Return the transitions of a clause, and what it publishes."""
    published: dict[str, object] = {}
    if isinstance(body, dict) and body.keys() <= {"publish", "next"}:
        published = _map(body.get("publish") or {}, f"publish of {where}")
        _known(published, frozenset({"branch", "global"}), f"publish of {where}")
        body = body.get("next") or []
    entries = body if isinstance(body, list) else [body]
    found = []
    for entry in entries:
        pairs = entry.items() if isinstance(entry, dict) else [(entry, None)]
        for target, condition in pairs:
            name, inputs = _call(target, where)
            _known(inputs, frozenset({"msg"} if name in COMMANDS else ()), f"the transition to {name} in {where}")
            found.append({"to": name, "if": condition, "msg": inputs.get("msg")})
    return found, published


def _check_names(spec: WorkflowSpec, where: str) -> None:
    """Check that every transition and requirement of a workflow leads to one of its tasks, and that it can begin."""
    for task in spec.tasks.values():
        named = [name for name in _targets(task) if name not in COMMANDS]
        for name in [*named, *task.get("requires", [])]:
            if name not in spec.tasks:
                raise bad_request(f"Task '{name}' not found.")
    if spec.type == "direct" and not start_tasks(spec):
        raise invalid(f"{where} has no start tasks: every task is the target of a transition")


def _targets(task: TaskSpec) -> list[str]:
    """Return where the transitions of a task lead."""
    return [target["to"] for clause in CLAUSES for target in task.get(clause, [])]


def start_tasks(spec: WorkflowSpec) -> list[str]:
    """Return the tasks of a direct workflow that no transition leads to."""
    return [name for name in spec.tasks if not inbound(spec, name)]


def inbound(spec: WorkflowSpec, name: str) -> list[str]:
    """Return the tasks of a direct workflow that have a transition to a task."""
    return [source for source, task in spec.tasks.items() if name in _targets(task)]


# -- calls with inline parameters -----------------------------------------------------------------------------------


def _call(value: object, where: str) -> tuple[str, dict[str, object]]:
    """Return the name and the parameters of `name a=1 b="x"` or `name(a=1)`; a name may be an expression."""
    if not isinstance(value, str) or not value.strip():
        raise invalid(f"{where} must be a name: {value!r}")
    if _EXPRESSION.match(value):
        return value.strip(), {}
    match = _CALL.match(value)
    if match is None:
        raise invalid(f"{where} must be a name with parameters: {value!r}")
    return match[1], _parameters(match[2] or match[3] or "", where)


def _parameters(text: str, where: str) -> dict[str, object]:
    found = {match[1]: _value(match[2]) for match in _PARAMETER.finditer(text)}
    if rest := _PARAMETER.sub("", text).strip(" ,\n"):
        raise invalid(f"{where} has parameters that are not of the form name=value: {rest!r}")
    return found


def _value(text: str) -> Any:
    """Return the value of an inline parameter: JSON data, a string, or an expression."""
    if text[0] in "\"'" or _EXPRESSION.match(text):
        return text[1:-1] if text[0] in "\"'" else text
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError:
        return text
