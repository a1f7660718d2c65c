"""From a software configuration to the one that a deployment derives of it. Everything here is pure.

Facts: heat.yaml, OS::Heat::SoftwareDeployment and OS::Heat::StructuredDeployment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.base.errors import BadValue
from stoker.resources.heat.software_config_base import UNGROUPED

_COMPONENT = "component"

Source = Mapping[str, Any]
"""A configuration as stored: `name`, `group`, `config`, `inputs`, `outputs`, `options`, and `stacks`, the ids of the
stacks whose hidden values may be in it."""


def triggers(source: Source, actions: Collection[str], action: str) -> bool:
    """Whether the configuration is to be applied at an action; one of a component knows that itself."""
    if source.get("group") != _COMPONENT:
        return action in actions
    parts = (source.get("config") or {}).get("configs") or []
    return any(action in part["actions"] for part in parts)


def value_of(entry: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """The value of a declared input."""
    return values.get(entry["name"], entry.get("default"))


def with_inputs(source: Source, values: Mapping[str, Any], added: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The inputs with their values: the declared ones, others that are given, and those for the way back."""
    declared = [{**entry, "value": value_of(entry, values)} for entry in source.get("inputs") or []]
    known = {entry["name"] for entry in declared}
    others = [_input(name, value) for name, value in values.items() if name not in known]
    return [*declared, *others, *(_input(name, value) for name, value in added.items())]


def _input(name: str, value: Any) -> dict[str, Any]:
    return {"name": name, "type": "String", "value": value}


def derived_config(source: Source, name: str, config: Any, inputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The configuration of one action of one deployment."""
    return {
        "name": name,
        "group": source.get("group") or UNGROUPED,
        "config": config if config is not None else "",
        "options": source.get("options") or {},
        "inputs": list(inputs),
        "outputs": list(source.get("outputs") or []),
    }


def put_in(config: Any, key: str, values: Mapping[str, Any], *, strict: bool) -> Any:
    """`config` with every `{key: name}` replaced by the input's value.

    A name without a value becomes None; with `strict` it is a mistake: raises BadValue.
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
