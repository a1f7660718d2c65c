"""The JSON data of a plan that policies are evaluated for: what `stoker plan -f json` prints, and more on each step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.base.redaction import REDACTED, Redactor
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step, Subject
from stoker.engine.planning.reasons import RETENTION, ReasonCode
from stoker.engine.records.differences import NOT_KNOWN
from stoker.plugins.resource import ResourceType, finalized
from stoker.schema.unknown import has_unknown, is_unknown
from stoker.store.records import Stack

_REMOVES = frozenset({StepKind.DELETE, StepKind.FORGET})


def plan_document(plan: Plan, stack: Mapping[str, object], costs: Mapping[str, object] | None) -> dict[str, Any]:
    """Return the data of a plan whose steps have their subjects; `stack` is that of `stack_facts`."""
    redactor = Redactor(plan.secrets)
    data = plan.to_data()
    steps = [shown | _step_facts(step, redactor) for shown, step in zip(data["steps"], plan.steps, strict=True)]
    return {**data, "steps": steps, "stack": dict(stack)} | ({"costs": dict(costs)} if costs is not None else {})


def stack_facts(stack: Stack, tags: Iterable[str]) -> dict[str, object]:
    """Return what policies can read of the stack of a plan."""
    return {"name": stack.name, "project_id": stack.project_id, "tags": sorted(tags), "nested": stack.depth > 0}


def properties_of(
    type_: ResourceType, resolved: Mapping[str, object], hidden: Collection[tuple[str | int, ...]]
) -> tuple[dict[str, object], list[str]]:
    """Return the values that the type's methods receive, with defaults and without those that are absent, and the names
    of properties that are not known yet. Hidden values are asterisks, unknown ones "(known after apply)".
    """
    values = {name: value for name, value in finalized(type_, resolved).items() if value is not None}
    shown = {name: _shown(value, hidden, (name,)) for name, value in values.items()}
    return shown, [name for name, value in values.items() if has_unknown(value)]


def _step_facts(step: Step, redactor: Redactor) -> dict[str, object]:
    subject = step.subject
    resolved = subject.properties if subject is not None else None
    properties, unknown = dict[str, Any](), list[str]()
    if subject is not None and resolved is not None and step.kind not in _REMOVES:
        hidden = subject.hides() if subject.hides is not None else frozenset()
        properties, unknown = properties_of(subject.type, resolved, hidden)
    return {
        "kinds": kinds_of(step.kind, imports=step.adopts_object, moved=step.moved_from is not None),
        "types": _types(step.type, subject),
        "properties": redactor.redact_values(properties),
        "unknown": unknown,
        "data_bearing": subject is not None and bool(subject.type.content),
        "loses_data": _loses_data(step),
    }


def step_document(
    name: str,
    type_name: str,
    type_: ResourceType,
    resolved: Mapping[str, object],
    kind: StepKind,
    secrets: Collection[str],
) -> dict[str, object]:
    """Return the data of a step right before it acts, when all its values are known."""
    properties, unknown = properties_of(type_, resolved, ())
    return {
        "path": name,
        "kind": kind.value,
        "type": type_name,
        "kinds": kinds_of(kind),
        "types": list(dict.fromkeys((type_name, type_.type_name))),
        "properties": Redactor(secrets).redact_values(properties),
        "unknown": unknown,
        "data_bearing": bool(type_.content),
        "loses_data": bool(type_.content) and kind is StepKind.REPLACE,
    }


def kinds_of(kind: StepKind, *, imports: bool = False, moved: bool = False) -> list[str]:
    """Return the kinds of a step that policies can name: that of the plan, `import` and `move`."""
    return [kind.value, *(["import"] if imports else []), *(["move"] if moved else [])]


def _types(name: str, subject: Subject | None) -> list[str]:
    """Return the names of a resource's type: as written, and that to which an environment maps it."""
    return list(dict.fromkeys((name, subject.type.type_name))) if subject is not None else [name]


def _loses_data(step: Step) -> bool:
    """Return whether the step deletes or empties an object in which users keep something."""
    codes = {reason.code for reason in step.reasons}
    if step.kind is StepKind.DELETE:
        return step.subject is not None and bool(step.subject.type.content) and codes.isdisjoint(RETENTION)
    return step.kind is StepKind.UPDATE and ReasonCode.DATA_LOST in codes


def _shown(value: object, hidden: Collection[tuple[str | int, ...]], path: tuple[str | int, ...]) -> object:
    if is_unknown(value):
        return NOT_KNOWN
    if path in hidden:
        return REDACTED
    if isinstance(value, Mapping):
        return {str(key): _shown(item, hidden, (*path, key)) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_shown(item, hidden, (*path, index)) for index, item in enumerate(value)]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
