"""The configuration that a deployment derives from a software configuration. Every function here is pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.base.errors import BadValue
from stoker.resources.heat.software.software_config_base import UNGROUPED

_COMPONENT = "component"
_ENVIRONMENT = frozenset({"script", "puppet"})
"""The groups whose hooks pass inputs on as environment variables."""

Source = Mapping[str, Any]
"""A configuration as stored: `name`, `group`, `config`, `inputs`, `outputs`, `options`, and `stacks`, the IDs of the
stacks whose hidden values it may contain."""


def triggers(source: Source, actions: Collection[str], action: str) -> bool:
    """Return whether the configuration is applied at an action; a component's configurations state their actions."""
    if source.get("group") != _COMPONENT:
        return action in actions
    parts = (source.get("config") or {}).get("configs") or []
    return any(action in part["actions"] for part in parts)


def value_of(entry: Mapping[str, Any], values: Mapping[str, object]) -> object:
    """Return the value of a declared input."""
    return values.get(entry["name"], entry.get("default"))


def with_inputs(source: Source, values: Mapping[str, object], added: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the inputs with their values: the declared ones, undeclared ones with a value, and those for signals."""
    declared = [{**entry, "value": value_of(entry, values)} for entry in source.get("inputs") or []]
    known = {entry["name"] for entry in declared}
    others = [_input(name, value) for name, value in values.items() if name not in known]
    return [*declared, *others, *(_input(name, value) for name, value in added.items())]


def _input(name: str, value: object) -> dict[str, object]:
    return {"name": name, "type": "String", "value": value}


def as_variables(source: Source, inputs: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return the inputs of a tool to which the agents pass them as environment variables: with strings in place of
    numbers, booleans and null, which the agents' hooks do not accept (heat-agents 13); other inputs as they are."""
    group = source.get("group")
    parts = (source.get("config") or {}).get("configs") or [] if group == _COMPONENT else []
    if _ENVIRONMENT.isdisjoint({group, *(part["tool"] for part in parts)}):
        return [dict(entry) for entry in inputs]
    return [{**entry, "value": _text_of(entry["value"])} for entry in inputs]


def _text_of(value: object) -> object:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def derived_config(
    source: Source, name: str, config: object, inputs: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """Return the configuration for one action of one deployment."""
    return {
        "name": name,
        "group": source.get("group") or UNGROUPED,
        "config": config if config is not None else "",
        "options": source.get("options") or {},
        "inputs": list(inputs),
        "outputs": list(source.get("outputs") or []),
    }


def put_in(config: object, key: str, values: Mapping[str, object], *, strict: bool) -> object:
    """Return `config` with every `{key: name}` replaced by the input's value.

    A name without a value becomes None; with `strict`, it raises BadValue.
    """
    if isinstance(config, list):
        return [put_in(inner, key, values, strict=strict) for inner in config]
    if not isinstance(config, Mapping):
        return config
    name = config.get(key) if len(config) == 1 else None
    if not isinstance(name, str):
        return {name: put_in(inner, key, values, strict=strict) for name, inner in config.items()}
    if strict and name not in values:
        raise BadValue(f"the configuration refers to the input {name!r}, which has no value")
    return values.get(name)
