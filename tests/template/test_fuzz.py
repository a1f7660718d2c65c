"""Any input results in a definition or a clear error."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stoker.base.errors import UserError
from stoker.schema.unknown import has_unknown
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.document import Document
from stoker.template.environment import Environment
from stoker.template.expressions import UnknownScope
from stoker.template.template import Template
from stoker.template.versions import VERSIONS
from tests.template.support import PSEUDO, TYPES

FUNCTIONS = sorted(
    {
        name
        for version in VERSIONS
        for name in {**version.extended.functions, **version.condition_functions, **version.rule_functions}
    }
)
WORDS = sorted(
    {word for version in VERSIONS for word in version.sections | version.resource_keys | version.parameter_keys}
    | {"template", "params", "for_each", "expression", "data", "keys", "values", "p", "r", "c", "Test::Net"}
)

finite = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers() | finite | st.text() | st.sampled_from(WORDS)
keys = st.sampled_from(WORDS) | st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(st.sampled_from(FUNCTIONS), inner, min_size=1, max_size=1)
    ),
    max_leaves=25,
)


maps = st.dictionaries(keys, values, max_size=4)


def mostly(good: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Nine times out of ten a suitable value, otherwise an arbitrary one."""
    return st.integers(0, 9).flatmap(lambda number: good if number else values)


def _condition(dialect: str) -> st.SearchStrategy[Any]:
    name = "equals" if dialect == "hot" else "Fn::Equals"
    return st.lists(scalars, min_size=2, max_size=2).map(lambda operands: {name: operands})


@st.composite
def templates(draw: Any) -> dict[str, Any]:
    version = draw(st.sampled_from(VERSIONS))
    word = version.dialect.sections
    resource = version.dialect.resource_keys
    template: dict[str, Any] = {version.key: version.value}
    template[word["parameters"]] = {"p": draw(mostly(st.sampled_from(_parameters(version.dialect.name))))}
    template[word["resources"]] = {
        "r": {resource["type"]: "Test::Group", resource["properties"]: {"x": draw(values)}},
        "s": {resource["type"]: "Test::Net", resource["properties"]: draw(mostly(maps)), **draw(_extra(resource))},
    }
    template[word["outputs"]] = {"o": {version.dialect.output_keys["value"]: draw(values)}}
    if word["conditions"] in version.sections:
        template[word["conditions"]] = {"c": draw(mostly(st.booleans() | _condition(version.dialect.name)))}
    if version.transforms:
        template |= draw(st.just({}) | st.just({"Transform": "AWS::LanguageExtensions"}))
        template |= draw(st.just({}) | st.fixed_dictionaries({"Rules": mostly(_rules())}))
        template[word["outputs"]] |= draw(st.just({}) | st.fixed_dictionaries({"Fn::ForEach::L": mostly(_loops())}))
    return template


def _rules() -> st.SearchStrategy[Any]:
    assertion = st.dictionaries(st.sampled_from(FUNCTIONS), values, min_size=1, max_size=1)
    return assertion.map(lambda call: {"rule": {"Assertions": [{"Assert": call}]}})


def _loops() -> st.SearchStrategy[Any]:
    return st.tuples(values, values).map(lambda drawn: ["I", drawn[0], {"k${I}": {"Value": drawn[1]}}])


def _parameters(dialect: str) -> list[dict[str, Any]]:
    if dialect == "hot":
        return [{"type": "string", "default": "x"}, {"type": "json", "default": {"a": [1]}}]
    return [{"Type": "String", "Default": "x"}, {"Type": "CommaDelimitedList", "Default": "a,b"}]


def _extra(resource_keys: Any) -> st.SearchStrategy[dict[str, Any]]:
    optional = sorted(set(resource_keys.values()) - {"type", "Type", "properties", "Properties"})
    return st.just({}) | st.dictionaries(st.sampled_from(optional), values, max_size=2)


def exercise(source: Any) -> None:
    """All that can be done with a template before resources are created."""
    template = Template.load(source)
    definition = Definition.bind(
        template, Environment.from_data(None), parameters={"p": "1"}, files={"x": "y"}, pseudo=PSEUDO, missing_ok=True
    )
    assert definition.parameters.as_text() is not None
    check(definition, lambda name, _: TYPES.get(name))
    for resource in definition.resources.values():
        definition.resolve(resource.properties, UnknownScope())
    for output in definition.outputs.values():
        value = definition.resolve(output.value, UnknownScope())
        if not has_unknown(value):
            json.dumps(value)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(templates())
def test_random_templates(template: dict[str, Any]) -> None:
    try:
        exercise(template)
    except UserError as error:
        assert error.message


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200) | st.dictionaries(keys, values, max_size=5).map(lambda data: yaml.safe_dump(data)))
def test_random_strings(text: str) -> None:
    try:
        exercise(text)
    except UserError as error:
        assert error.message


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(max_size=8), values, max_size=5))
def test_dumping_and_loading_round_trips(data: dict[str, Any]) -> None:
    document = Document.parse(data)
    assert Document.parse(document.data).data == document.data
    assert Document.parse(json.dumps(document.data)).data == document.data


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.text("abc", min_size=1),
        st.recursive(
            st.booleans() | st.integers() | st.text("ab: -#'\n01") | st.none(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner),
            max_leaves=10,
        ),
    )
)
def test_yaml_is_read_as_the_safe_loader_reads_it(data: dict[str, Any]) -> None:
    assert Document.parse(yaml.safe_dump(data)).data == data


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["parameters", "parameter_defaults", "resource_registry", "event_sinks"]), values)
)
def test_random_environments(data: dict[str, Any]) -> None:
    try:
        environment = Environment.from_data(data)
    except UserError as error:
        assert error.message
        return
    again = Environment.from_data(environment.to_data())
    for name in ("r", "x"):
        assert again.registry.resolve("Test::Net", name) == environment.registry.resolve("Test::Net", name)
        environment.for_child(name, "t.yaml").registry.resolve("Test::Net", name)
        environment.registry.hooks(name)
