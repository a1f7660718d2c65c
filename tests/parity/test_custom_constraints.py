"""Every custom constraint of the reference engine reaches the check of its plug-in, with its own description."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from stoker.template.parameters import CustomCheck
from testing.cases import check_each
from tests.template.support import bind

NAMES: list[str] = json.loads(Path(__file__).with_name("custom_constraints.json").read_text())


def checks(declared: dict[str, Any], value: Any) -> list[CustomCheck]:
    definition = bind(
        json.dumps({"heat_template_version": "2021-04-16", "parameters": {"p": declared}}),
        {"p": value},
    )
    return definition.parameters.custom_checks


def test_all_constraints_exist() -> None:
    assert len(NAMES) == 70


def test_value_is_passed_to_its_constraint() -> None:
    def check(name: str) -> None:
        declared = {
            "type": "string",
            "hidden": True,
            "constraints": [{"length": {"max": 9}}, {"custom_constraint": name, "description": f"must be a {name}"}],
        }
        assert checks(declared, "thing") == [
            CustomCheck(name, "thing", "p", ("parameters", "p"), f"must be a {name}", hidden=True)
        ]

    check_each(((name, name) for name in NAMES), check)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [("number", "5", 5), ("comma_delimited_list", "a,b", ["a", "b"]), ("boolean", "yes", True)],
)
def test_the_value_is_of_the_parameters_type(kind: str, given: str, expected: Any) -> None:
    found = checks({"type": kind, "constraints": [{"custom_constraint": "nova.flavor"}]}, given)
    assert [check.value for check in found] == [expected]


def test_each_constraint_has_a_check() -> None:
    known = {name for point in entry_points(group="stoker.constraints") for name in point.load()}
    assert set(NAMES) <= known
