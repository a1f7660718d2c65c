"""Environments: sections, merging, and resolution of type names."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import TemplateInvalid
from stoker.template.environment import Environment
from tests.template.support import load

TEMPLATE = load(
    """
    heat_template_version: 2021-04-16
    parameters:
      text: {type: string}
      list: {type: comma_delimited_list}
      map: {type: json}
      number: {type: number}
      flag: {type: boolean}
    """
)


def registry(user: dict[str, Any], operator: dict[str, Any] | None = None) -> Any:
    environment = Environment.from_data({"resource_registry": user})
    return environment.with_operator(Environment.from_data({"resource_registry": operator or {}})).registry


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        ([], "ValueError", "must be a map, not a list"),
        ({"params": {}}, "ValueError", "unknown section 'params'; did you mean 'parameters'?"),
        ({"parameters": None}, "ValueError", "must be a map, not null"),
        ({"parameters": []}, "ValueError", "must be a map"),
        ({"event_sinks": {}}, "ValueError", "must be a list"),
        ({"resource_registry": {"A": 5}}, "ValueError", "name of a type or template"),
        ({"resource_registry": {"A": {"B": "C"}}}, "ValueError", "name of a type or template"),
        ({"resource_registry": {"resources": {"r": {"hooks": "pre-crate"}}}}, "InvalidBreakPointHook", "pre-create"),
        (
            {"resource_registry": {"resources": {"r": {"restricted_actions": ["update", "x"]}}}},
            "InvalidRestrictedAction",
            "unknown value 'x'",
        ),
    ],
)
def test_wrong_environments(data: Any, kind: str, words: str) -> None:
    with pytest.raises(TemplateInvalid) as caught:
        Environment.from_data(data)
    assert caught.value.kind == kind
    assert words in caught.value.message


def test_data_round_trips() -> None:
    data = {
        "parameters": {"a": 1},
        "parameter_defaults": {"b": None},
        "resource_registry": {"A": "B", "resources": {"r": {"hooks": "pre-create"}}},
        "event_sinks": [{"type": "zaqar-queue", "target": "q", "ttl": 1}],
        "encrypted_param_names": ["a"],
    }
    assert Environment.from_data(data).to_data() == data


# -- merging ------------------------------------------------------------------------------------------------------


def merged(*parts: dict[str, Any]) -> dict[str, Any]:
    return dict(Environment.merged(parts, TEMPLATE.parameters).parameters)


def test_later_environments_override_earlier_ones() -> None:
    environment = Environment.merged(
        [
            {"parameters": {"text": "a", "number": 1}, "resource_registry": {"A": "1", "B": "1"}},
            {"parameters": {"text": "b"}, "parameter_defaults": {"x": 1}, "resource_registry": {"B": "2"}},
        ],
        TEMPLATE.parameters,
    )
    assert environment.parameters == {"text": "b", "number": 1}
    assert environment.parameter_defaults == {"x": 1}
    assert environment.registry.to_data() == {"A": "1", "B": "2"}


def test_lists_of_cloudformation_templates_are_merged_as_lists() -> None:
    template = load("AWSTemplateFormatVersion: 2010-09-09\nParameters: {list: {Type: CommaDelimitedList}}\n")
    parts: list[dict[str, Any]] = [
        {"parameters": {"list": "a, b"}, "parameter_merge_strategies": {"list": "merge"}},
        {"parameters": {"list": ["c"]}, "parameter_merge_strategies": {"list": "merge"}},
    ]
    assert Environment.merged(parts, template.parameters).parameters == {"list": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("name", "strategy", "first", "second", "result"),
    [
        ("text", "merge", "a", "b", "ab"),
        ("number", "merge", 1, "2", 3),
        ("list", "merge", "a,b", ["c"], ["a", "b", "c"]),
        ("map", "merge", {"x": {"y": 1}}, '{"x": {"z": 2}}', {"x": {"z": 2}}),
        (
            "map",
            "deep_merge",
            {"x": {"y": 1, "l": [1]}},
            {"x": {"z": 2, "l": [2]}},
            {"x": {"y": 1, "z": 2, "l": [1, 2]}},
        ),
        ("map", "deep_merge", {"x": "a"}, {"x": "b"}, {"x": "ab"}),
        ("map", "overwrite", {"x": 1}, {"y": 1}, {"y": 1}),
        ("text", "nonsense", "a", "b", "b"),
        ("text", "merge", "a", None, "a"),
        ("unheard_of", "merge", "a", "b", "b"),
    ],
)
def test_merge_strategies(name: str, strategy: str, first: Any, second: Any, result: Any) -> None:
    strategies = {name: strategy}
    found = merged(
        {"parameters": {name: first}}, {"parameters": {name: second}, "parameter_merge_strategies": strategies}
    )
    assert found[name] == result


def test_default_strategy_of_an_environment() -> None:
    strategies = {"default": "merge", "text": "overwrite"}
    found = merged(
        {"parameters": {"text": "a", "number": 1}},
        {"parameters": {"text": "b", "number": 1}, "parameter_merge_strategies": strategies},
    )
    assert found == {"text": "b", "number": 2}


def test_merge_strategies_that_do_not_fit_the_type() -> None:
    with pytest.raises(TemplateInvalid) as caught:
        merged(
            {"parameters": {"flag": True}},
            {"parameters": {"flag": False}, "parameter_merge_strategies": {"flag": "merge"}},
        )
    assert caught.value.kind == "InvalidMergeStrategyForParam"
    with pytest.raises(TemplateInvalid) as caught:
        merged(
            {"parameters": {"text": "a"}, "parameter_merge_strategies": {"text": "merge"}},
            {"parameters": {"text": "a"}, "parameter_merge_strategies": {"text": "overwrite"}},
        )
    assert caught.value.kind == "ConflictingMergeStrategyForParam"


def test_unknown_merge_strategies_count_as_the_default() -> None:
    strategies = {"default": "merge", "text": "deepmerge", "number": None}
    found = merged(
        {"parameters": {"text": "a", "number": 1}},
        {"parameters": {"text": "b", "number": 1}, "parameter_merge_strategies": strategies},
    )
    assert found == {"text": "ab", "number": 2}


def test_all_mistakes_of_all_environments_are_reported() -> None:
    parts: list[dict[str, Any]] = [
        {"parameter": {}, "resource_registry": {"A::B": ["c"], "resources": {"web": {"hooks": "pre-build"}}}},
        {"parameters": {"flag": True}},
        {"parameters": {"flag": False}, "parameter_merge_strategies": {"default": "merge"}},
    ]
    with pytest.raises(TemplateInvalid) as caught:
        Environment.merged(parts, TEMPLATE.parameters)
    assert [(item.source, item.path) for item in caught.value.diagnostics] == [
        ("environment 1", ("parameter",)),
        ("environment 1", ("resource_registry", "A::B")),
        ("environment 1", ("resource_registry", "resources", "web", "hooks")),
        ("environment 3", ("parameter_merge_strategies", "default")),
    ]


# -- the registry -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "operator", "resource_type", "expected"),
    [
        ({}, {}, "OS::A", "OS::A"),
        ({"OS::A": "OS::B"}, {}, "OS::A", "OS::B"),
        ({"OS::A": "OS::B", "OS::B": "OS::C"}, {}, "OS::A", "OS::C"),
        ({"OS::A": "OS::B", "OS::B": "OS::A"}, {}, "OS::A", "OS::A"),
        ({"OS::A": "a.yaml", "a.yaml": "OS::B"}, {}, "OS::A", "a.yaml"),
        ({}, {}, "web.yaml", "web.yaml"),
        ({"OS::Quantum*": "OS::Neutron*"}, {}, "OS::Quantum::Net", "OS::Neutron::Net"),
        ({"OS::*": "one.template"}, {}, "OS::Anything", "one.template"),
        ({"OS::*": "X", "OS::Nova::*": "Y"}, {}, "OS::Nova::Server", "Y"),
        ({"OS::*": "X", "OS::Nova::Server": "Y"}, {}, "OS::Nova::Server", "Y"),
        ({"OS::*": "X"}, {"OS::A": "Y"}, "OS::A", "X"),
        ({}, {"OS::A": "Y"}, "OS::A", "Y"),
        ({"OS::A": None}, {"OS::A": "Y"}, "OS::A", "Y"),
        ({"OS::A": "X", "OS::*": None}, {}, "OS::A", "OS::A"),
        ({"OS::A": "X", "resources": {"r": {"OS::A": "mine.yaml"}}}, {}, "OS::A", "mine.yaml"),
        ({"OS::A": "X", "resources": {"other": {"OS::A": "mine.yaml"}}}, {}, "OS::A", "X"),
        ({"resources": {"r*": {"OS::A": "P"}, "r": {"OS::A": "Q"}}}, {}, "OS::A", "Q"),
        ({"base_url": "http://x", "OS::A": "B"}, {}, "base_url", "base_url"),
    ],
)
def test_resolving_types(user: Any, operator: Any, resource_type: str, expected: str) -> None:
    assert registry(user, operator).resolve(resource_type, "r") == expected


@pytest.mark.parametrize("operator", [False, True])
def test_type_cache_ignores_resource_specific_mappings(operator: bool) -> None:
    entries = {"A": "B", "resources": {"web*": {"A": "C", "B": "D"}}}
    found = registry({}, entries) if operator else registry(entries, {})
    for _ in range(2):
        assert [found.resolve("A", name) for name in ("db", "web1", "db")] == ["B", "C", "B"]
        assert found.steps("B", "web1") == ("B", "D") and found.steps("B", "db") == ("B",)


def test_type_cache_evicts_entries() -> None:
    found = registry({"*": "Mapped"}, {})
    names = [f"T{number}" for number in range(1000)] + ["T" * 1000]
    for _ in range(2):
        assert {found.steps(name, "a") for name in names} == {(name, "Mapped", "Mapped") for name in names}


def test_hooks_and_restricted_actions() -> None:
    found = registry(
        {
            "resources": {
                "web*": {"hooks": "pre-create"},
                "web1": {"hooks": ["pre-update", "post-delete"], "restricted_actions": "replace"},
            }
        }
    )
    assert found.hooks("web1") == {"pre-create", "pre-update", "post-delete"}
    assert found.hooks("web2") == {"pre-create"}
    assert found.hooks("db") == frozenset()
    assert found.restricted_actions("web1") == {"replace"}


def test_a_nested_environment_has_the_entries_of_its_resource() -> None:
    environment = Environment.from_data(
        {
            "parameters": {"p": 1},
            "parameter_defaults": {"d": 1},
            "event_sinks": [{"type": "zaqar-queue"}],
            "resource_registry": {
                "OS::Nova::Server": "server.yaml",
                "My::Type": "other.yaml",
                "resources": {
                    "group": {"0": {"hooks": "pre-create"}, "hooks": "pre-delete"},
                    "g*": {"1": {"OS::X": "OS::Y"}},
                },
            },
        }
    ).with_operator(Environment.from_data({"resource_registry": {"AWS::DB": "server.yaml", "AWS::X": "x.yaml"}}))
    child = environment.for_child("group", "server.yaml", {"c": 2})
    assert child.parameters == {"c": 2}
    assert child.parameter_defaults == {"d": 1}
    assert child.event_sinks == ({"type": "zaqar-queue"},)
    assert child.registry.hooks("0") == {"pre-create"}
    assert child.registry.hooks("group") == frozenset()
    assert child.registry.resolve("OS::X", "1") == "OS::Y"
    assert child.registry.resolve("OS::Nova::Server", "x") == "OS::Nova::Server"
    assert child.registry.resolve("My::Type", "x") == "other.yaml"
    stored = Environment.from_data(child.to_data()).with_operator(
        Environment.from_data({"resource_registry": {"AWS::DB": "server.yaml", "AWS::X": "x.yaml"}})
    )
    assert stored.registry.resolve("AWS::DB", "x") == "AWS::DB"
    assert stored.registry.resolve("AWS::X", "x") == "x.yaml"
