"""Runs one measured case: the setting that engine_functions.yaml describes under `context`, with one output."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Attribute, Property, Type
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.expressions import Facade
from stoker.template.parameters import PseudoParameters
from stoker.template.paths import follow_attribute
from stoker.template.template import Template

FACTS = yaml.load(Path(__file__).with_name("engine_functions.yaml").read_text(), Loader=yaml.CSafeLoader)
VALUE = {"str": "s", "num": 7, "list": ["a", "b", {"c": "d"}], "map": {"k1": "v1", "k2": {"k3": "v3"}}}
PSEUDO = PseudoParameters(
    "<uuid>", "<stack name>", "<project id>", arn="arn:openstack:heat::<project id>:stacks/<stack name>/<uuid>"
)

_PARAMETERS = {
    "str1": ("string", "hello"),
    "num": ("number", 3),
    "numf": ("number", "1.5"),
    "bool1": ("boolean", "yes"),
    "list1": ("comma_delimited_list", "a,b,c"),
    "listl": ("comma_delimited_list", ["x", 1]),
    "json1": ("json", {"k": {"n": [10, {"z": "deep"}]}, "list": [1, 2, 3]}),
    "jsonl": ("json", [1, 2]),
    "indirect": ("string", "str1"),
    "indirkey": ("string", "list"),
    "resname": ("string", "v"),
    "attrname": ("string", "value"),
    "jsonmap": ("json", {"ello": "i"}),
    "yexp": ("string", "$.data.l.len()"),
    "fname": ("string", "f1"),
    "hid": ("string", "secret"),
    "mkey": ("string", "b"),
    "jsonm2": ("json", {"k1": "x"}),
}
_CFN_TYPES = {
    "string": "String",
    "number": "Number",
    "boolean": "Boolean",
    "comma_delimited_list": "CommaDelimitedList",
    "json": "Json",
}


class ValueType(ResourceType):
    """A replacement for OS::Heat::Value."""

    type_name = "OS::Heat::Value"
    properties = {"value": Property(Type.ANY, required=True)}
    attributes = {"value": Attribute()}


class MadeScope:
    """The stack after its creation."""

    def reference(self, resource: str) -> Any:
        return f"<physical name of {resource}>"

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        return follow_attribute({"value": VALUE}.get(attribute), path)

    def all_attributes(self, resource: str) -> Any:
        return {"value": VALUE}

    def availability_zones(self) -> Any:
        return ["nova"]

    def facade(self) -> Facade | None:
        return None


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: a value, or the stage, type and message of the error."""

    value: Any = None
    stage: str = ""
    kind: str = ""
    text: str = ""
    shown: Mapping[str, str] | None = None


def hot_template(version: str, snippet: Any, condition: Any) -> dict[str, Any]:
    """A HOT template with the snippet as its output."""
    template: dict[str, Any] = {
        "heat_template_version": version,
        "parameters": {
            name: {"type": kind, "default": value, "hidden": name == "hid"}
            for name, (kind, value) in _PARAMETERS.items()
        },
        "resources": {"v": {"type": "OS::Heat::Value", "properties": {"value": VALUE}}},
        "outputs": {"o": {"value": snippet}},
    }
    if version >= "2016-10-14":
        template["conditions"] = {"ct": True, "cf": False, "cself": {"not": "cself"}, "cx": condition}
        if "cself" not in str(condition):
            del template["conditions"]["cself"]
    return template


def cfn_template(key: str, version: str, snippet: Any, condition: Any) -> dict[str, Any]:
    """A CloudFormation template with the snippet as its output."""
    template: dict[str, Any] = {
        key: version,
        "Parameters": {
            name: {"Type": _CFN_TYPES[kind], "Default": value} for name, (kind, value) in _PARAMETERS.items()
        },
        "Mappings": {"m": {"a": {"b": "mapped", "bt": True}}},
        "Resources": {"v": {"Type": "OS::Heat::Value", "Properties": {"value": VALUE}}},
        "Outputs": {"o": {"Value": snippet}},
    }
    if key == "AWSTemplateFormatVersion":
        template["Conditions"] = {"ct": True, "cf": False, "cx": condition}
    return template


def template_for(version: str, case: Mapping[str, Any], group: str) -> dict[str, Any]:
    """The template of a case. One without `cx` has none, except where the missing condition is what is tested."""
    condition = case.get("cx", None if group == "condition" else True)
    if version == "AWS":
        return cfn_template("AWSTemplateFormatVersion", "2010-09-09", case["in"], condition)
    if version == "Heat":
        return cfn_template("HeatTemplateFormatVersion", "2012-12-12", case["in"], condition)
    return hot_template(version, case["in"], condition)


def run(template: Mapping[str, Any], parameters: Mapping[str, Any] | None = None) -> Outcome:
    """Load, bind, check, and read the output `o`."""
    try:
        definition = Definition.bind(
            Template.load(template),
            Environment.from_data(None),
            parameters=parameters or {},
            files={"f1": "file one"},
            pseudo=PSEUDO,
        )
        found = check(definition, lambda type_name, name: ValueType()) + custom_problems(definition)
        if found:
            raise TemplateInvalid(found)
    except TemplateInvalid as error:
        return Outcome(stage="validate", kind=error.kind, text=error.message)
    try:
        value = definition.resolve(definition.outputs["o"].value, MadeScope())
    except TemplateInvalid as error:
        return Outcome(stage="resolve", kind=error.kind, text=error.message)
    return Outcome(value=value, shown=definition.parameters.as_text())


def custom_problems(definition: Definition) -> list[Diagnostic]:
    """The result of plug-ins' checks of the parameter values."""
    problems = []
    for custom_check in definition.parameters.custom_checks:
        if custom_check.constraint == "ip_addr":
            try:
                ipaddress.ip_address(custom_check.value)
                continue
            except ValueError:
                pass
        problems.append(Diagnostic("constraint", f"{custom_check.constraint} refuses the value", custom_check.path))
    return problems
