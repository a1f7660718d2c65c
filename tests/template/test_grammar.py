"""Templates drawn from a grammar: valid ones, in which every call has arguments of the right types."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stoker.base.errors import UserError
from stoker.schema.unknown import has_unknown
from stoker.template.check import check
from stoker.template.definition import Definition
from stoker.template.document import Document
from stoker.template.expressions import Facade
from stoker.template.paths import follow_attribute
from stoker.template.template import Template
from stoker.template.warnings import warnings
from stoker.template.yaml_reader import SHORT_TAGS
from tests.template.support import TYPES, bind

Drawn = st.SearchStrategy[Any]
LONG_NAMES = {long: short for short, long in SHORT_TAGS.items()}

CONDITIONS = st.sampled_from(["yes_it_is", "no_it_is_not"])
PIECES = [
    *("!Ref ", "!Sub", "!If ", "!!int ", "&a ", "*a", "<<: ", "? ", "--- "),
    *("{", "}", "[", "]", ": ", ", ", "'", '"', "|\n ", "\n  ", "\n- ", "\t", "%", "\x00", "x", "1", "~"),
]
words = st.text("abc-1:é \n#'\"", max_size=8)
plain_texts = words.filter(lambda text: "${" not in text)


def calls(name: str, *arguments: Drawn) -> Drawn:
    return st.tuples(*arguments).map(lambda drawn: {name: list(drawn)})


def listed(items: Drawn) -> Drawn:
    return st.lists(items, max_size=3)


def hot_texts(messages: Drawn) -> Drawn:
    return st.one_of(
        st.sampled_from([{"get_param": "text"}, {"get_resource": "net"}, {"get_attr": ["net", "subnets", 0]}]),
        calls("list_join", words, listed(messages)),
        st.tuples(messages, messages).map(
            lambda pair: {"str_replace": {"template": pair[0], "params": {"a": pair[1]}}}
        ),
        calls("if", st.sampled_from(["yes_it_is", "no_it_is_not", {"not": "yes_it_is"}]), messages, messages),
        st.just({"digest": ["sha256", {"get_param": "text"}]}),
    )


def hot_values(values: Drawn, messages: Drawn) -> Drawn:
    lists = listed(values)
    return st.one_of(
        lists,
        st.dictionaries(st.text("xyz", min_size=1, max_size=3), values, max_size=3),
        st.lists(lists, max_size=2).map(lambda items: {"list_concat": items}),
        messages.map(lambda text: {"repeat": {"template": {"k": "%i%"}, "for_each": {"%i%": [text, "x"]}}}),
        st.just({"yaql": {"expression": "$.data.a.len()", "data": {"a": {"get_attr": ["net", "subnets"]}}}}),
        st.just({"map_merge": [{"get_param": "map"}, {"k": "v"}]}),
    )


def aws_texts(messages: Drawn) -> Drawn:
    return st.one_of(
        st.sampled_from([{"Ref": "text"}, {"Ref": "net"}, {"Ref": "AWS::StackName"}, {"Fn::GetAtt": "net.show"}]),
        calls("Fn::Join", words, listed(messages)),
        st.tuples(plain_texts, messages).map(
            lambda pair: {"Fn::Sub": [f"${{a}}{pair[0]}${{text}}${{!x}}", {"a": pair[1]}]}
        ),
        calls("Fn::If", CONDITIONS, messages, messages),
        listed(messages).map(lambda items: {"Fn::ToJsonString": items}),
        st.just({"Fn::FindInMap": ["m", "nothing", "b", {"DefaultValue": "x"}]}),
    )


def aws_values(values: Drawn, messages: Drawn) -> Drawn:
    return st.one_of(
        listed(values),
        st.dictionaries(st.text("xyz", min_size=1, max_size=3), values, max_size=3),
        listed(values).map(lambda items: {"Fn::Length": items}),
        messages.map(lambda text: {"Fn::Split": ["-", text]}),
        st.just({"Fn::Cidr": ["10.0.0.0/16", 3, 8]}),
        st.lists(st.text("abc", min_size=1, max_size=2), max_size=3, unique=True).map(
            lambda items: {"Fn::ForEach::LOOP": ["I", items, {"key${I}": {"Ref": "I"}}]}
        ),
    )


def grammar(strings_of: Callable[[Drawn], Drawn], values_of: Callable[[Drawn, Drawn], Drawn]) -> Drawn:
    messages = st.recursive(plain_texts, strings_of, max_leaves=6)
    leaves = messages | st.integers() | st.booleans() | st.none()
    return st.recursive(leaves, lambda inner: values_of(inner, messages), max_leaves=8)


HOT_VALUES = grammar(hot_texts, hot_values)
AWS_VALUES = grammar(aws_texts, aws_values)


@st.composite
def hot_templates(draw: Any) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {"text": {"type": "string", "default": "a"}, "map": {"type": "json", "default": {"a": [1]}}},
        "conditions": {"yes_it_is": {"equals": [{"get_param": "text"}, "a"]}, "no_it_is_not": {"not": "yes_it_is"}},
        "resources": {
            "net": {"type": "Test::Net"},
            "group": {
                "type": "Test::Group",
                "properties": {"p": draw(HOT_VALUES)},
                "metadata": {"m": draw(HOT_VALUES)},
            },
        },
        "outputs": {"o": {"value": draw(HOT_VALUES), "condition": draw(CONDITIONS)}},
    }


@st.composite
def aws_templates(draw: Any) -> dict[str, Any]:
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Transform": "AWS::LanguageExtensions",
        "Parameters": {"text": {"Type": "String", "Default": "a"}},
        "Mappings": {"m": {"a": {"b": "c"}}},
        "Conditions": {
            "yes_it_is": {"Fn::Equals": [{"Ref": "text"}, "a"]},
            "no_it_is_not": {"Fn::Not": [{"Condition": "yes_it_is"}]},
        },
        "Resources": {
            "net": {"Type": "Test::Net"},
            "group": {
                "Type": "Test::Group",
                "Properties": {"p": draw(AWS_VALUES)},
                "Metadata": {"m": draw(AWS_VALUES)},
            },
        },
        "Outputs": {"o": {"Value": draw(AWS_VALUES), "Export": {"Name": {"Fn::Sub": "${AWS::StackName}-o"}}}},
    }
    named: dict[str, Any] = _with_names_for_loops(template, iter(range(1000)))
    return named


def _with_names_for_loops(value: Any, numbers: Any) -> Any:
    """The same with a different name for every loop."""
    if isinstance(value, dict):
        named = ((_loop_name(key, numbers), item) for key, item in value.items())
        return {key: _with_names_for_loops(item, numbers) for key, item in named}
    if isinstance(value, list):
        return [_with_names_for_loops(item, numbers) for item in value]
    return value


def _loop_name(key: str, numbers: Any) -> str:
    return f"Fn::ForEach::L{next(numbers)}" if key == "Fn::ForEach::LOOP" else key


templates = hot_templates() | aws_templates()
several = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


class Everything:
    """A scope in which all values are known."""

    def reference(self, resource: str) -> Any:
        return f"{resource}-id"

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        return follow_attribute({"subnets": ["s1", "s2"], "show": "all"}.get(attribute), path)

    def all_attributes(self, resource: str) -> Any:
        return {"subnets": ["s1", "s2"]}

    def availability_zones(self) -> Any:
        return ["nova"]

    def facade(self) -> Facade | None:
        return Facade({}, "Delete", {})


def resolved(definition: Definition) -> dict[str, Any]:
    """All values of the template."""
    trees: dict[str, Any] = {f"output {key}": output.value for key, output in definition.outputs.items()}
    for name, resource in definition.resources.items():
        trees[f"properties {name}"] = resource.properties
        trees[f"metadata {name}"] = resource.metadata
    return {key: definition.resolve(tree, Everything()) for key, tree in trees.items()}


class _ShortTags(yaml.SafeDumper):
    """Writes CloudFormation's calls with short tags."""


def _short(dumper: yaml.SafeDumper, value: dict[str, Any]) -> yaml.Node:
    if len(value) == 1:
        ((name, arguments),) = value.items()
        if name in LONG_NAMES and (isinstance(arguments, list) or type(arguments) is str):
            if isinstance(arguments, list):
                return dumper.represent_sequence(LONG_NAMES[name], arguments)
            return dumper.represent_scalar(LONG_NAMES[name], arguments)
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items())


_ShortTags.add_representer(dict, _short)
_ShortTags.ignore_aliases = lambda self, data: True  # type: ignore[method-assign]


@several
@given(templates)
def test_written_templates_parse_to_the_same_definition(template: dict[str, Any]) -> None:
    document = Document.parse(template)
    for text in (json.dumps(document.data), yaml.safe_dump(document.data), yaml.safe_dump(document.data, indent=4)):
        again = Template.load(text)
        assert again.data == document.data
        assert resolved(bind(again)) == resolved(bind(Template.load(document)))


@several
@given(aws_templates())
def test_short_tags_are_equivalent(template: dict[str, Any]) -> None:
    text = yaml.dump(template, Dumper=_ShortTags, sort_keys=False)
    assert "!Sub" in text
    assert Document.parse(text).data == template


@several
@given(templates)
def test_no_value_is_unknown_when_all_inputs_are_known(template: dict[str, Any]) -> None:
    definition = bind(Template.load(template), exports={})
    values = resolved(definition)
    assert not has_unknown(values)
    json.dumps(values)


@several
@given(templates)
def test_valid_templates_have_no_problems(template: dict[str, Any]) -> None:
    definition = bind(Template.load(template))
    assert check(definition, lambda name, _: TYPES.get(name)) == []
    assert {item.severity for item in warnings(definition, lambda name, _: TYPES.get(name))} <= {"warning"}


@several
@given(templates, st.data())
def test_broken_templates_get_diagnostics(template: dict[str, Any], data: st.DataObject) -> None:
    """One part of a valid template is replaced by an arbitrary value."""
    broken = _broken(template, data)
    try:
        definition = bind(Template.load(broken), missing_ok=True)
        check(definition, lambda name, _: TYPES.get(name))
        warnings(definition, lambda name, _: TYPES.get(name))
        resolved(definition)
    except UserError as error:
        assert error.message


def _broken(value: Any, data: st.DataObject) -> Any:
    if not isinstance(value, dict | list) or not value or not data.draw(st.integers(0, 5)):
        return data.draw(st.none() | words | st.integers() | listed(words) | st.just({}) | HOT_VALUES | AWS_VALUES)
    if isinstance(value, list):
        place = data.draw(st.integers(0, len(value) - 1))
        return [*value[:place], _broken(value[place], data), *value[place + 1 :]]
    key = data.draw(
        st.sampled_from([name for name in value if "Version" not in name and "version" not in name] or [""])
    )
    return {name: _broken(item, data) if name == key else item for name, item in value.items()}


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_truncated_yaml(text: str) -> None:
    try:
        document = Document.parse("AWSTemplateFormatVersion: 2010-09-09\nOutputs:\n  " + text)
        document.locate(("Outputs", "x", "Ref", 0))
        Template.load(document)
    except UserError as error:
        assert error.message
