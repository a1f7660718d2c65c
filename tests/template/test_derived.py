"""Which strings count as derived from a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stoker.base.budget import Budget, BudgetLimits, opened
from stoker.template import derived
from stoker.template.definition import Definition
from stoker.template.derived import derived_values
from stoker.template.environment import Environment
from stoker.template.expressions import UnknownScope
from stoker.template.parameters import PseudoParameters
from stoker.template.template import Template

SPLIT = {"str_split": [",", {"get_param": "secret"}]}


def bound(value: Any, secret: str, **parameters: Any) -> Definition:
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {
            "secret": {"type": "string", "hidden": True},
            **{name: {"type": "string"} for name in parameters},
        },
        "resources": {"r": {"type": "OS::Heat::Value", "properties": {"value": value}}},
        "outputs": {"o": {"value": value}},
    }
    return Definition.bind(
        Template.load(json.dumps(template), source="t"),
        Environment.from_data(None),
        parameters={"secret": secret, **parameters},
        files={},
        pseudo=PseudoParameters("1", "s", "p"),
    )


def values(value: Any, secret: str, **parameters: Any) -> set[str]:
    return set(derived_values(bound(value, secret, **parameters), UnknownScope(), [secret]))


def test_only_parts_of_secrets_are_derived() -> None:
    assert values(SPLIT, "alpha,beta,x") == {"alpha", "beta", "x"}
    assert values({"list_join": ["-", ["host", {"get_param": "secret"}]]}, "alpha,beta") == set()


def test_strings_containing_derived_values_are_found() -> None:
    assert values({"list_join": ["+", SPLIT]}, "alpha,beta") == {"alpha", "beta"}


def test_values_shown_elsewhere_are_not_derived() -> None:
    merged = {
        "map_merge": [
            {"kept": "shown"},
            {"other": {"get_param": "plain"}},
            {"piece": {"str_split": [",", {"get_param": "secret"}, 0]}},
        ]
    }
    assert values(merged, "alpha,shown", plain="visible") == {"alpha"}


def test_counts_and_booleans_are_not_derived() -> None:
    whole = {
        "yaql": {
            "expression": "[len($.data.s), $.data.s.len() > 3, str($.data.s.len() > 3)]",
            "data": {"s": {"get_param": "secret"}},
        }
    }
    assert values(whole, "alpha-beta") == set()


def test_the_number_and_the_size_of_derived_values_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    many = ",".join(f"piece{number}" for number in range(2 * derived._MOST))
    assert len(values(SPLIT, many)) == derived._MOST
    long = ",".join(["first", "x" * derived._LONGEST, "y" * (derived._LONGEST + 1)])
    assert values(SPLIT, long) == {"first", "x" * derived._LONGEST}
    monkeypatch.setattr(derived, "_LONGEST_TOGETHER", 10)
    assert values(SPLIT, "alpha,gamma,delta") == {"alpha", "gamma"}


def test_an_exhausted_budget_ends_the_search() -> None:
    definition = bound(SPLIT, "alpha,beta")
    with opened(Budget(BudgetLimits(steps=1, made=1000, seconds=5, resources=10))):
        assert derived_values(definition, UnknownScope(), ["alpha,beta"]) == frozenset()


def test_only_named_resources_are_searched() -> None:
    definition = bound(SPLIT, "alpha,beta")
    assert derived_values(definition, UnknownScope(), ["alpha,beta"], ["other"]) == frozenset()
    assert derived_values(definition, UnknownScope(), ["alpha,beta"], ["r"]) == {"alpha", "beta"}
