"""Warnings: templates that are valid and likely wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import stoker
from stoker.base.diagnostics import Diagnostic
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Attribute, Property, Support, Type
from stoker.template.rules import RULES
from stoker.template.warnings import warnings
from tests.template.support import TYPES, bind


class Old(ResourceType):
    type_name = "Test::Old"
    support = Support("DEPRECATED", message="use Test::Net")
    properties = {
        "net": Property(support=Support("HIDDEN", message="use network")),
        "rules": Property(
            Type.LIST,
            items=Property(Type.MAP, schema={"port": Property(Type.INTEGER), "way": Property(implemented=False)}),
        ),
    }
    attributes = {"refs": Attribute()}


class Scaling(ResourceType):
    type_name = "OS::Heat::AutoScalingGroup"
    any_properties = True
    attributes = {"outputs_list": Attribute()}


class Members(Scaling):
    type_name = "OS::Heat::ResourceGroup"


ALL: Mapping[str, ResourceType] = {**TYPES, **{kind.type_name: kind() for kind in (Old, Scaling, Members)}}


def found(text: str, parameters: Mapping[str, Any] | None = None) -> list[Diagnostic]:
    return warnings(bind(text, parameters), lambda name, _: ALL.get(name))


def brief(text: str) -> list[tuple[str, int]]:
    """Rule and line of each warning."""
    return [(item.rule, item.position.line if item.position else 0) for item in found(text)]


def test_no_warnings() -> None:
    assert (
        found("""
        heat_template_version: 2021-04-16
        parameters: {mtu: {type: number, default: 1500}, c: {type: boolean, default: true}}
        conditions: {big: {get_param: c}}
        resources:
          net: {type: Test::Net, condition: big, properties: {mtu: {get_param: mtu}}}
          port: {type: Test::Port, properties: {network: {get_resource: net}}}
    """)
        == []
    )


def test_unused_parameters_and_conditions() -> None:
    text = """
        heat_template_version: 2021-04-16
        parameters:
          a: {type: string, default: x}
          b: {type: string, default: x}
        conditions:
          c: {equals: [{get_param: a}, x]}
        outputs: {o: {value: {if: [true, 1, {get_param: a}]}}}
    """
    assert brief(text) == [("unused-parameter", 4), ("unused-condition", 6)]
    assert {item.severity for item in found(text)} == {"warning"}


def test_a_parameter_that_is_selected_by_name_counts_as_used() -> None:
    assert (
        brief("""
        heat_template_version: 2021-04-16
        parameters: {a: {type: string, default: b}, b: {type: string, default: x}}
        outputs: {o: {value: {get_param: {get_param: a}}}}
    """)
        == []
    )


@pytest.mark.parametrize(
    ("declared", "lines"),
    [
        ("type: string", [6]),
        ("type: number", []),
        ("type: string, constraints: [{allowed_pattern: '[0-9]+'}]", []),
        ("type: string, constraints: [{length: {max: 5}}]", [6]),
    ],
)
def test_strings_that_should_be_numbers(declared: str, lines: list[int]) -> None:
    text = f"""
        heat_template_version: 2021-04-16
        parameters: {{p: {{{declared}, default: 80}}}}
        resources:
          net:
            type: Test::Net
            properties: {{mtu: {{get_param: p}}}}
    """
    assert brief(text) == [("unchecked-number", line) for line in lines]


def test_deprecated_properties_at_any_depth() -> None:
    text = """
        heat_template_version: 2021-04-16
        resources:
          old:
            type: Test::Old
            properties:
              net: x
              rules:
              - {port: 1}
              - {port: 2, way: in}
    """
    assert brief(text) == [("deprecated-type", 4), ("deprecated-property", 6), ("ineffective-property", 9)]
    assert found(text)[0].hint == "use Test::Net"


def test_hidden_values_in_outputs() -> None:
    text = """
        heat_template_version: 2021-04-16
        parameters: {secret: {type: string, hidden: true, default: x}}
        outputs:
          url:
            value: {list_join: ["", [a, {get_param: secret}]]}
    """
    assert brief(text) == [("hidden-output", 5)]


def test_outputs_without_a_resource() -> None:
    text = """
        heat_template_version: 2021-04-16
        conditions: {never: false}
        resources:
          net: {type: Test::Net}
          port: {type: Test::Port, properties: {network: {get_resource: net}}, condition: never}
        outputs:
          good: {value: {get_resource: net}}
          absent: {value: {get_resource: port}}
          wrong: {value: [{get_resource: nett}]}
    """
    [diagnostic] = found(text)
    assert (diagnostic.rule, diagnostic.hint) == ("null-output", "did you mean 'net'?")
    assert diagnostic.path[:3] == ("outputs", "wrong", "value")


def test_dependencies_that_follow_from_others() -> None:
    text = """
        heat_template_version: 2021-04-16
        resources:
          a: {type: Test::Net}
          b: {type: Test::Port, properties: {network: {get_resource: a}}, depends_on: a}
          c: {type: Test::Net, depends_on: [b, a]}
          d: {type: Test::Net, depends_on: [a]}
    """
    assert [(item.rule, item.path) for item in found(text)] == [
        ("implied-dependency", ("resources", "b", "depends_on")),
        ("implied-dependency", ("resources", "c", "depends_on", 1)),
    ]


def test_an_order_that_depends_on_the_default_of_a_condition_is_not_implied() -> None:
    text = """
        heat_template_version: 2021-04-16
        parameters: {large: {type: boolean, default: true}}
        conditions: {large: {get_param: large}}
        resources:
          a: {type: Test::Net}
          b: {type: Test::Net, condition: large, properties: {name: {get_resource: a}}}
          in_a_branch: {type: Test::Net, depends_on: a, properties: {name: {if: [large, {get_resource: a}, x]}}}
          through_one_that_may_be_missing: {type: Test::Net, depends_on: a, properties: {name: {get_resource: b}}}
          with_the_same: {type: Test::Net, depends_on: a, condition: large, properties: {name: {get_resource: b}}}
    """
    assert [item.path[1] for item in found(text) if item.rule == "implied-dependency"] == ["with_the_same"]


@pytest.mark.parametrize(
    ("kind", "properties", "expected"),
    [
        ("OS::Heat::AutoScalingGroup", "{}", 1),
        ("OS::Heat::ResourceGroup", "{}", 0),
        ("OS::Heat::ResourceGroup", "{removal_policies: [{resource_list: ['0']}]}", 1),
    ],
)
def test_indexes_that_may_change_their_target(kind: str, properties: str, expected: int) -> None:
    text = f"""
        heat_template_version: 2021-04-16
        resources: {{g: {{type: '{kind}', properties: {properties}}}}}
        outputs: {{o: {{value: {{get_attr: [g, refs, 0]}}}}}}
    """
    assert [item.rule for item in found(text)] == ["renumbering-index"] * expected


def test_keys_of_cloudformation_templates_without_effect() -> None:
    text = """
        HeatTemplateFormatVersion: 2012-12-12
        Resources:
          net:
            Type: Test::Net
            Notes: x
    """
    assert brief(text) == [("ignored-key", 5)]


_NAMED = re.compile(
    r"""(?:\.add|Diagnostic|\.malformed|_invalid|_placed|_problem|_report)\(\s*(?:rule=)?"([a-z]+(?:-[a-z]+)*)","""
    r"""|rule(?:: str)? ?= ?"([a-z-]+)\""""
)


def test_every_rule_is_described_and_exists() -> None:
    package = Path(stoker.__file__).parent
    others = [package / "schema/property.py", package / "operations/value_checks.py"]
    sources = [*(package / "template").rglob("*.py"), *others]
    named = {one or other for source in sources for one, other in _NAMED.findall(source.read_text())}
    assert named == set(RULES)
    assert all(rule.meaning.endswith(".") and rule.example for rule in RULES.values())
