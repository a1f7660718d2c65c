"""Numbers and booleans in CloudFormation templates: AWS passes them to functions and conditions as strings."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import TemplateInvalid
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.expressions import UnknownScope
from stoker.template.parameters import PseudoParameters
from stoker.template.template import Template

PSEUDO = PseudoParameters("", "web", "p")


def bound(template: dict[str, Any], given: dict[str, Any] | None = None) -> Definition:
    """The definition of a CloudFormation template with these sections."""
    loaded = Template.load({"AWSTemplateFormatVersion": "2010-09-09", **template})
    return Definition.bind(loaded, Environment.from_data({}), parameters=given or {}, files={}, pseudo=PSEUDO)


def value(call: Any, parameters: dict[str, Any]) -> Any:
    """The value of a call in an output."""
    definition = bound({"Parameters": parameters, "Outputs": {"o": {"Value": call}}})
    return definition.resolve(definition.outputs["o"].value, UnknownScope())


PORT = {"P": {"Type": "Number", "Default": 443}}
FLAG = {"P": {"Type": "String", "Default": True}}


@pytest.mark.parametrize(
    ("call", "parameters", "expected"),
    [
        ({"Fn::Join": ["", [" --port ", {"Ref": "P"}]]}, PORT, " --port 443"),
        ({"Fn::Join": ["-", ["a", 1, 1.5, True]]}, PORT, "a-1-1.5-true"),
        ({"Fn::Join": ["-", [{"Ref": "P"}]]}, FLAG, "true"),
        ({"Fn::Split": ["4", {"Ref": "P"}]}, PORT, ["", "", "3"]),
        ({"Fn::Base64": {"Ref": "P"}}, PORT, "443"),
        ({"Fn::Sub": "${P}"}, PORT, "443"),
    ],
)
def test_functions_take_scalars_as_strings(call: Any, parameters: dict[str, Any], expected: Any) -> None:
    assert value(call, parameters) == expected


def test_list_is_refused_as_string() -> None:
    with pytest.raises(TemplateInvalid, match="every item must be a string"):
        value({"Fn::Join": ["", [["a"]]]}, PORT)


@pytest.mark.parametrize(("parameters", "other"), [(PORT, "443"), (PORT, 443), (FLAG, "true"), (FLAG, True)], ids=str)
def test_conditions_compare_strings(parameters: dict[str, Any], other: Any) -> None:
    template = {"Parameters": parameters, "Conditions": {"c": {"Fn::Equals": [{"Ref": "P"}, other]}}}
    assert bound(template).condition("c") is True


@pytest.mark.parametrize("given", ["true", True, "True"])
def test_booleans_among_allowed_values(given: Any) -> None:
    declared = {"Type": "String", "AllowedValues": [True, False]}
    assert bound({"Parameters": {"P": declared}}, {"P": given})
    with pytest.raises(TemplateInvalid, match="yes"):
        bound({"Parameters": {"P": declared}}, {"P": "yes"})


@pytest.mark.parametrize(
    ("declared", "fits", "unfit"),
    [
        ({"Type": "String", "AllowedPattern": "ab|abc"}, "abc", "abcd"),
        ({"Type": "String", "AllowedPattern": "(?=.*b)[a-z]|[a-z]+"}, "abc", "aB"),
        ({"Type": "CommaDelimitedList", "AllowedPattern": "[a-z]+"}, "a,b", "a,1"),
    ],
)
def test_patterns_match_whole_values(declared: dict[str, Any], fits: str, unfit: str) -> None:
    assert bound({"Parameters": {"P": declared}}, {"P": fits})
    with pytest.raises(TemplateInvalid, match="does not match the pattern"):
        bound({"Parameters": {"P": declared}}, {"P": unfit})
