"""Templates as resource types."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.plugins.resource import ResourceType
from stoker.schema.property import Attribute, Change, Finalizer, Property, Type
from stoker.schema.unknown import Unknown
from stoker.template.nested import attributes_of, child_parameters, facade_problems, properties_of
from tests.template.support import bind, load

CHILD = load(
    """
    heat_template_version: 2021-04-16
    parameters:
      name: {type: string, description: Its name}
      size: {type: number, default: 3, constraints: [{range: {min: 1}}]}
      zones: {type: comma_delimited_list, default: ""}
      extra: {type: json, default: {}, constraints: [{length: {max: 1}}]}
      flag: {type: boolean}
    outputs:
      ip: {value: 10.0.0.1, description: Address}
    """,
    source="child.yaml",
)


def test_parameters_become_properties() -> None:
    properties = properties_of(CHILD)
    assert {name: prop.type for name, prop in properties.items()} == {
        "name": Type.STRING,
        "size": Type.NUMBER,
        "zones": Type.LIST,
        "extra": Type.MAP,
        "flag": Type.BOOLEAN,
    }
    assert [name for name, prop in properties.items() if prop.required] == ["name", "flag"]
    assert all(prop.change is Change.UPDATE for prop in properties.values())
    assert not properties_of(CHILD, {"name": "x"})["name"].required
    assert attributes_of(CHILD) == {"ip": Attribute("Address")}


@pytest.mark.parametrize(
    ("name", "value", "finalized", "parameter"),
    [
        ("zones", ["a", None, 1], ["a", None, 1], "a,,1"),
        ("zones", "a,b", ["a", "b"], "a,b"),
        ("zones", "", [], ""),
        ("zones", [], [], ""),
        ("zones", [{"k": "v", "l": 2}, {"k": "w"}], None, ".member.0.k=v,.member.0.l=2,.member.1.k=w"),
        ("zones", ["a", Unknown.of("v")], None, Unknown.of("v")),
        ("extra", {"a": 1}, {"a": 1}, {"a": 1}),
        ("extra", '{"a": 1, "b": 2}', '{"a": 1, "b": 2}', '{"a": 1, "b": 2}'),
        ("extra", [1, {"a": 2}], '[1, {"a": 2}]', '[1, {"a": 2}]'),
        ("extra", [Unknown.of("v")], Unknown.of("v"), Unknown.of("v")),
        ("size", "5", 5, 5),
    ],
)
def test_property_values_become_parameters(name: str, value: Any, finalized: Any, parameter: Any) -> None:
    finalizer = Finalizer()
    values = finalizer.properties(properties_of(CHILD), {"name": "n", "flag": False, name: value})
    assert not finalizer.problems
    if finalized is not None:
        assert values[name] == finalized
    assert child_parameters(values)[name] == parameter
    bind(CHILD, child_parameters({**values, "extra": {}}))


@pytest.mark.parametrize(
    ("name", "value"), [("extra", "no json"), ("zones", 5), ("size", 0), ("extra", {"a": 1, "b": 2})]
)
def test_invalid_values(name: str, value: Any) -> None:
    finalizer = Finalizer()
    finalizer.properties(properties_of(CHILD), {"name": "n", "flag": False, name: value})
    assert [problem.path for problem in finalizer.problems] == [(name,)]


class Server(ResourceType):
    type_name = "Test::Server"
    properties = {
        "name": Property(required=True),
        "flavor": Property(required=True),
        "zones": Property(Type.MAP),
        "size": Property(Type.INTEGER),
    }
    attributes = {"ip": Attribute(), "show": Attribute(), "mac": Attribute()}


def test_a_template_that_does_not_implement_the_type_it_replaces() -> None:
    needy = load(
        """
        heat_template_version: 2021-04-16
        parameters:
          name: {type: string}
          nam: {type: string}
          zones: {type: string, default: x}
          size: {type: number, default: 1}
        outputs: {ip: {value: 1}}
        """
    )
    assert list(facade_problems(needy, Server())) == [
        "the template has no parameter for the required property 'flavor' of Test::Server",
        "the parameter 'zones' must be a json, as the property of Test::Server",
        "the template requires 'nam', which Test::Server does not have; did you mean 'name'?",
        "the template has no output for the attribute 'mac' of Test::Server",
    ]
