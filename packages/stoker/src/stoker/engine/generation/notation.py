"""The two formats in which templates are generated: what their sections, keys and functions are called."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter to declare. `kind` is `string` or `json`, `constraint` the custom constraint of its value."""

    kind: str
    description: str
    constraint: str | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Notation:
    """A format of templates. `head` is what each template begins with, `version` the format by its key and value.

    `keys` are those of resources that the format has, by the names they have in HOT. `parameter` returns the
    declaration of a parameter, `default` the value that it may have as its default; `name` returns a name of resources
    and parameters for one in words with underscores.
    """

    version: str
    head: Mapping[str, object]
    parameters: str
    resources: str
    keys: Mapping[str, str]
    resource_function: str
    parameter_function: str
    default_key: str
    parameter: Callable[[Parameter], dict[str, Any]]
    default: Callable[[Any], Any]
    name: Callable[[str], str]

    def resource(self, **parts: object) -> dict[str, Any]:
        """Return a resource with the parts that have a value. Raises KeyError for one that the format does not have."""
        return {self.keys[name]: value for name, value in parts.items() if value is not None}

    def with_defaults(self, template: Mapping[str, Any], values: Mapping[str, object]) -> dict[str, object]:
        """Return a template whose parameters have these values as their defaults."""
        declared = {
            name: {**schema, self.default_key: self.default(values[name])} if name in values else schema
            for name, schema in template.get(self.parameters, {}).items()
        }
        return {**template, self.parameters: declared} if declared else dict(template)


def _hot_parameter(parameter: Parameter) -> dict[str, object]:
    declared: dict[str, object] = {"type": parameter.kind}
    if parameter.hidden:
        declared["hidden"] = True
    declared["description"] = parameter.description
    if parameter.constraint is not None:
        declared["constraints"] = [{"custom_constraint": parameter.constraint}]
    return declared


_CFN_KINDS = {"string": "String", "json": "Json"}


def _cfn_parameter(parameter: Parameter) -> dict[str, object]:
    """Return the declaration; the format has no custom constraints."""
    declared: dict[str, object] = {"Type": _CFN_KINDS[parameter.kind]}
    if parameter.hidden:
        declared["NoEcho"] = True
    return {**declared, "Description": parameter.description}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _as_it_is(value: object) -> Any:
    return value


def _camel(name: str) -> str:
    """Return a name of letters and digits: `shop_net_2` is `ShopNet2`."""
    return "".join(word[:1].upper() + word[1:] for word in re.split("_+", name))


HOT = Notation(
    version="heat_template_version.2021-04-16",
    head={"heat_template_version": "2021-04-16"},
    parameters="parameters",
    resources="resources",
    keys={"type": "type", "deletion_policy": "deletion_policy", "properties": "properties"},
    resource_function="get_resource",
    parameter_function="get_param",
    default_key="default",
    parameter=_hot_parameter,
    default=_as_it_is,
    name=_as_it_is,
)

CFN = Notation(
    version="AWSTemplateFormatVersion.2010-09-09",
    head={"AWSTemplateFormatVersion": "2010-09-09"},
    parameters="Parameters",
    resources="Resources",
    keys={
        "type": "Type",
        "deletion_policy": "DeletionPolicy",
        "update_replace_policy": "UpdateReplacePolicy",
        "properties": "Properties",
    },
    resource_function="Ref",
    parameter_function="Ref",
    default_key="Default",
    parameter=_cfn_parameter,
    default=_as_text,
    name=_camel,
)


def looks_like_function(value: object, functions: Collection[str]) -> bool:
    """Return whether templates would take a value, or a part of it, for one of these functions."""
    if isinstance(value, Mapping):
        is_one = len(value) == 1 and next(iter(value)) in functions
        return is_one or any(looks_like_function(item, functions) for item in value.values())
    return isinstance(value, list) and any(looks_like_function(item, functions) for item in value)
