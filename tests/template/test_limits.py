"""Every budget: a template that exceeds it is rejected quickly, with a message that names the budget."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from stoker.base.errors import UserError
from stoker.template.document import Document
from stoker.template.limits import Limits
from stoker.template.template import Template
from stoker_foundation.processor_time import processor_time
from tests.template.support import bind, problems

HOT = "heat_template_version: 2021-04-16\n"
AWS = "AWSTemplateFormatVersion: 2010-09-09\nTransform: AWS::LanguageExtensions\n"
EVIL = "(?=a)(?:a|aa)+$"  # RE2 has no look-ahead
VICTIM = "a" * 60 + "b"


def whole(text: str, limits: Limits = Limits()) -> None:
    """Load, bind and check; raises for the first thing that is wrong."""
    found = problems(Template.load(text, limits=limits))
    if found:
        raise UserError(" ".join(item.text() for item in found))


def outputs(values: list[Any]) -> str:
    return json.dumps(
        {"heat_template_version": "2021-04-16", "outputs": {f"o{n}": {"value": v} for n, v in enumerate(values)}}
    )


def resources(properties: list[Any]) -> str:
    entries = {f"r{n}": {"type": "Test::Group", "properties": {"x": value}} for n, value in enumerate(properties)}
    return json.dumps({"heat_template_version": "2021-04-16", "resources": entries})


def aliases() -> str:
    """Nine lists, each of nine times the one before: nearly 400 million values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    return HOT + "\n".join(lines)


def loops(depth: int) -> str:
    """Loops in loops of ten copies each."""
    body: dict[str, Any] = {"N" + "".join(f"${{X{n}}}" for n in range(depth)): {"Type": "Test::Net"}}
    for number in reversed(range(depth)):
        body = {f"Fn::ForEach::L{number}": [f"X{number}", [str(item) for item in range(10)], body]}
    return AWS + "Resources: " + json.dumps(body)


def yaql(expression: str) -> dict[str, Any]:
    return {"yaql": {"expression": expression, "data": {}}}


HEAVY = "range(190).select(range(190).select(range(190).sum()).sum()).sum()"

HOSTILE: dict[str, tuple[str, Limits, str]] = {
    "max_template_size": (HOT + "x" * 600_000, Limits(), "max_template_size"),
    "max_resources_per_stack": (resources([1] * 1001), Limits(), "max_resources_per_stack"),
    "max_depth": (HOT + "a: " + "[" * 900, Limits(), "nested more than 100 levels deep"),
    "max_expanded_size": (aliases(), Limits(), "grows too large when its aliases are expanded"),
    "max_repeat_items": (loops(6), Limits(), "more than 20000 copies"),
    "yaql_limit_iterators": (resources([yaql("range(300).len()")]), Limits(), "200"),
    "yaql_memory_quota": (resources([yaql("range(150).select('x' * 90).join(',')")]), Limits(), "too much memory"),
    "yaql_seconds": (resources([yaql(HEAVY)]), Limits(), "takes more than 0.5 s"),
    "evaluation_steps": (
        resources([[{"get_param": "OS::stack_name"}] * 20] * 500),
        Limits(evaluation_steps=10_000),
        "takes more than 10000 steps",
    ),
    "evaluation_bytes": (
        resources([{"repeat": {"template": "x" * 150 + "%a%", "for_each": {"%a%": ["y"] * 200}}}] * 300),
        Limits(evaluation_bytes=5_000_000),
        "makes more than 5000000 bytes",
    ),
    "evaluation_seconds": (
        resources([yaql("range(100).select(range(100).sum()).sum()")] * 1000),
        Limits(evaluation_seconds=0.2),
        "takes more than 0.2 s of processor time",
    ),
    "max_problems": (
        resources([[{"get_resource": f"nobody{n}x{m}"} for m in range(10)] for n in range(500)]),
        Limits(),
        "no resource 'nobody",
    ),
}


def quickly(action: Callable[[], object]) -> str:
    """The message of the error, which must be raised within two seconds of the thread's processor time."""
    began = processor_time()
    with pytest.raises(UserError) as caught:
        action()
    assert processor_time() - began < 2
    return caught.value.message


def test_every_budget_has_a_hostile_template() -> None:
    assert {field.name for field in fields(Limits)} == set(HOSTILE)


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_exceeded_budgets(name: str) -> None:
    text, limits, words = HOSTILE[name]
    message = quickly(lambda: whole(text, limits))
    assert words in message
    assert len(message) < 100_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps({"heat_template_version": "2021-04-16", "a": None})[:-5] + "[" * 3000 + "]" * 3000 + "}", "nested"),
        (resources([{"repeat": {"template": "%a%", "for_each": {"%a%": ["x"] * 25_000}}}]), "too many"),
        (resources([{"repeat": {"template": "%a%b", "for_each": {"%a%": ["x"] * 900, "b": ["y"] * 900}}}]), "810000"),
        (resources([{"str_replace": {"template": "a" * 10_000, "params": {"a": "b" * 10_000}}}]), "grows to more"),
        (resources([{"list_join": ["x" * 200_000, ["a"] * 100]}]), "grows to more"),
        (AWS + "Resources: {r: {Type: Test::Group, Properties: {x: !Sub ['" + "${a}" * 50_000 + "', {a: " + "b" * 500
         + "}]}}}", "grows to more"),
        (AWS + "Conditions:\n  c0: !Not [{Condition: c1}]\n  c1: !Not [{Condition: c0}]\n"
         + "".join(f"  d{n}: !Not [{{Condition: c{n % 2}}}]\n" for n in range(5000)), "depends on itself"),
        (HOT + "parameters: {p: {type: string, constraints: [{allowed_pattern: '" + "(" * 200 + ")" * 199
         + "'}]}}", "not a regular expression"),
        (resources([yaql("1" + " + 1" * 20_000)]), "yaql"),
        (HOT + "a: " + "[" * 100_000, "nest"),  # releases of libyaml have limits, too
        (HOT + "? " + "[" * 50 + "x" + "]" * 50 + "\n: y", "a key must be a scalar"),
        (HOT + "a: " + "9" * 200_000, "is not an integer"),
    ],
    ids=lambda value: value[:40],
)  # fmt: skip
def test_other_hostile_templates(text: str, words: str) -> None:
    assert words in quickly(lambda: whole(text))


def test_patterns_on_parameter_values() -> None:
    declared = {
        f"p{n}": {"type": "string", "constraints": [{"allowed_pattern": EVIL, "description": "letters"}]}
        for n in range(200)
    }
    limits = Limits(evaluation_seconds=0.5)
    template = Template.load({"heat_template_version": "2021-04-16", "parameters": declared}, limits=limits)
    assert "takes more than 0.5 s" in quickly(lambda: bind(template, dict.fromkeys(declared, VICTIM)))


def test_patterns_on_defaults() -> None:
    parameters = "".join(
        f"  p{n}: {{type: string, default: {VICTIM}, constraints: [{{allowed_pattern: '{EVIL}'}}]}}\n"
        for n in range(100)
    )
    message = quickly(lambda: whole(HOT + "parameters:\n" + parameters, Limits(evaluation_seconds=0.5)))
    assert "takes more than 0.5 s" in message


def test_a_long_chain_of_conditions_is_allowed() -> None:
    conditions: dict[str, Any] = {f"c{n}": {"not": f"c{n + 1}"} for n in range(8000)}
    conditions["c8000"] = True
    definition = bind(Template.load({"heat_template_version": "2021-04-16", "conditions": conditions}))
    assert definition.condition("c0") is True


def test_no_limit_on_resources() -> None:
    template = Template.load(resources([1] * 1500), limits=Limits(max_resources_per_stack=-1))
    assert len(template.resources) == 1500


def test_large_ordinary_templates_are_allowed() -> None:
    data = Document.parse(resources([yaql("$.data.keys().len()")] * 500)).data
    began = processor_time()
    assert problems(Template.load(data)) == []
    assert processor_time() - began < 2
