"""Definitions against resource types, and the order between resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.plugins.resource import ResourceType
from stoker.schema.constraints import AllowedValues
from stoker.template.check import check, graph
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import UnknownScope
from stoker.template.properties import finalize
from tests.template.support import TYPES, bind, load, messages, problems

HEAD = "heat_template_version: 2021-04-16\n"


def test_all_problems_are_reported_together_with_positions_and_hints() -> None:
    found = problems(
        """
        heat_template_version: 2021-04-16
        parameters:
          size: {type: string, default: big}
        resources:
          net: {type: Test::Net, properties: {mtu: {get_param: size}}}
          port:
            type: Test::Port
            properties:
              fixed_ip:
              - ip_address: 10.0.0.1
              security: maybe
              fixed_ips: [{ip_adress: {get_attr: [nett, subnets]}}]
          other:
            type: Test::Prot
          gateway:
            type: Test::Gateway
            depends_on: [net, nett]
            update_policy: {batsh: 1}
            properties:
              network: {get_attr: [net, subnet, 0]}
              a: 1
              b: {get_resource: port}
              peer: {get_param: sise}
        outputs:
          ip: {value: {get_attr: [port, fixed_ip]}}
          any: {value: {get_resource: nowhere}}
        """
    )
    assert messages(found) == [
        "web.yaml:14:11: resources.other.type: there is no resource type 'Test::Prot'; did you mean 'Test::Port'?",
        "web.yaml:12:32: resources.port.properties.fixed_ips[0].ip_adress.get_attr: "
        "the template has no resource 'nett'; did you mean 'net'?",
        "web.yaml:17:23: resources.gateway.depends_on[1]: the template has no resource 'nett'; did you mean 'net'?",
        "web.yaml:5:39: resources.net.properties.mtu: 'big' is not an integer",
        "web.yaml:8:5: resources.port.properties: property 'network' is required",
        "web.yaml:9:7: resources.port.properties: unknown property 'fixed_ip'; "
        "known properties: fixed_ips, network, security",
        "web.yaml:11:17: resources.port.properties.security: 'maybe' is not one of 'on', 'off'",
        "web.yaml:12:20: resources.port.properties.fixed_ips[0]: "
        "unknown property 'ip_adress'; did you mean 'ip_address'?",
        "web.yaml:18:21: resources.gateway.update_policy: unknown property 'batsh'; did you mean 'batch'?",
        "web.yaml:19:5: resources.gateway.properties: a and b exclude each other",
        "web.yaml:20:17: resources.gateway.properties.network.get_attr: "
        "the resource 'net' (Test::Net) has no attribute 'subnet'; did you mean 'subnets'?",
        "web.yaml:23:25: resources.gateway.properties.peer.get_param: "
        "The Parameter (sise) was not provided; did you mean 'size'?",
        "web.yaml:25:16: outputs.ip.value.get_attr: "
        "the resource 'port' (Test::Port) has no attribute 'fixed_ip'; did you mean 'fixed_ips'?",
    ]
    assert [diagnostic.kind for diagnostic in found[:4]] == [
        "StackValidationFailed",
        "InvalidTemplateReference",
        "InvalidTemplateReference",
        "StackValidationFailed",
    ]


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ("{g: {type: 'Test::Gateway', properties: {network: n, a: 1, b: 2}}}", ["a and b exclude each other"]),
        ("{g: {type: 'Test::Gateway', properties: {network: n}, deletion_policy: Snapshot}}", []),
        ("{n: {type: 'Test::Net', deletion_policy: Snapshot}}", ["does not support snapshots"]),
        ("{n: {type: 'Test::Net', metadata: {x: {get_file: f}}}}", ["no file 'f'"]),
        ("{n: {type: 'Test::Net', properties: {mtu: null, name: null}}}", []),
        ("{g: {type: 'Test::Group', properties: {x: {get_resource: g2}}}, g2: {type: 'Test::Group'}}", []),
        ("{g: {type: 'Test::Group', properties: {x: {get_attr: [g, whatever]}}}}", ["circular dependency: g → g"]),
        ("{a: {type: 'Test::Group', depends_on: b}, b: {type: 'Test::Group', depends_on: a}}", ["a → b → a"]),
        ("{n: {type: 'Test::Net', external_id: x, properties: {mtu: text}}}", []),
        ("{p: {type: web/port.yaml}}", ["include it in the files of the request"]),
        ("{g: {type: 'Test::Gateway', properties: {network: {get_attr: [n, show, x]}}}, n: {type: 'Test::Net'}}", []),
        (
            "{g: {type: 'Test::Gateway', properties: {network: {get_resource: n}}}, "
            "n: {type: 'Test::Net', condition: {equals: [1, 2]}}}",
            ["does not exist because its condition is false"],
        ),
        ("{g: {type: 'Test::Group', depends_on: n}, n: {type: 'Test::Net', condition: {equals: [1, 2]}}}", []),
    ],
)
def test_template_diagnostic(resources: str, words: list[str]) -> None:
    found = problems(HEAD + f"resources: {resources}")
    assert len(found) == len(words), messages(found)
    for diagnostic, part in zip(found, words, strict=True):
        assert part in diagnostic.message or part in diagnostic.hint


def test_the_error_type_is_that_of_the_problem_that_heat_finds_first() -> None:
    text = HEAD + "resources: {a: {type: 'Test::Group', depends_on: b}, b: {type: 'Test::Group', depends_on: a}}"
    assert problems(text)[0].kind == "CircularDependencyException"


def test_a_broken_nested_template_is_reported_with_its_own_name() -> None:
    def lookup(type_name: str, resource_name: str) -> ResourceType | None:
        load("heat_template_version: 2013-05-23\nresources: 5\n", source=type_name)
        return None

    found = check(bind(HEAD + "resources: {a: {type: child.yaml}}"), lookup)
    assert messages(found) == ["child.yaml:2:12: resources: must be a map, not a number"]


def test_nested_templates_are_checked() -> None:
    asked = []

    def deep(resource: ResourceDefinition, kind: ResourceType, values: Mapping[str, Any]) -> Iterable[Diagnostic]:
        asked.append((resource.name, kind.type_name))
        if kind.nested:
            assert dict(values) == {"n": 1}
            yield Diagnostic("x", "from inside", source="child.yaml")

    definition = bind(HEAD + "resources: {g: {type: 'Test::Group', properties: {n: 1}}, n: {type: 'Test::Net'}}")
    found = check(definition, lambda name, _: TYPES.get(name), deep=deep)
    assert messages(found) == ["child.yaml: from inside"]
    assert asked == [("g", "Test::Group"), ("n", "Test::Net")]


def test_requirements_by_type_complete_the_graph() -> None:
    definition = bind(
        """
        heat_template_version: 2021-04-16
        resources:
          port: {type: Test::Port, properties: {network: {get_resource: net}}}
          other: {type: Test::Port, properties: {network: elsewhere}}
          gateway: {type: Test::Gateway, properties: {network: {get_resource: net}}}
          net: {type: Test::Net}
        """
    )
    types = {name: TYPES[resource.type] for name, resource in definition.resources.items()}
    assert graph(definition, types) == {
        "port": {"net", "gateway"},
        "other": set(),
        "gateway": {"net"},
        "net": set(),
    }
    assert definition.in_order() == ["net", "port", "other", "gateway"]


def test_a_requirement_by_type_never_closes_a_cycle() -> None:
    definition = bind(
        """
        heat_template_version: 2021-04-16
        resources:
          net: {type: Test::Net}
          port: {type: Test::Port, properties: {network: {get_resource: net}}}
          gateway: {type: Test::Gateway, properties: {network: {get_resource: net}, peer: {get_resource: port}}}
        """
    )
    types = {name: TYPES[resource.type] for name, resource in definition.resources.items()}
    assert graph(definition, types)["port"] == {"net"}


def test_a_cycle_in_the_template_is_an_error() -> None:
    definition = bind(
        HEAD + "resources: {a: {type: T, depends_on: [c]}, b: {type: T, depends_on: a}, "
        "c: {type: T, metadata: {x: {get_resource: b}}}}"
    )
    with pytest.raises(TemplateInvalid, match="a → c → b → a") as caught:
        definition.in_order()
    assert caught.value.kind == "CircularDependencyException"
    with pytest.raises(TemplateInvalid):
        graph(definition, {})


def test_the_description_of_a_resource_serves_a_property_of_that_name() -> None:
    definition = bind(HEAD + "resources: {n: {type: 'Test::Net', description: mine}}")
    values = finalize(definition, definition.resources["n"], TYPES["Test::Net"], UnknownScope()).values
    assert values["description"] == "mine"


def test_values_in_messages_of_constraints_are_those_of_templates() -> None:
    allowed = AllowedValues(values=("a", True, 1))
    assert allowed.problem({"key": None}) == "{\"key\": null} is not one of 'a', true, 1"
    assert allowed.problem([[1, False]]) == "[1, false] is not one of 'a', true, 1"
    assert allowed.problem("b") == "'b' is not one of 'a', true, 1"
