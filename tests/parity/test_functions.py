"""Every measured case of every function gives what the reference engine gave, or says here why not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from testing.cases import check_each
from tests.parity.harness import FACTS, VALUE, Outcome, run, template_for

ANY_CLEAN_ERROR = "python-level-type-error"
"""Cases in which Heat fails with an internal error: any user error is accepted."""


@dataclass(frozen=True)
class Declared:
    """What we give instead of what was measured, and why."""

    value: Any
    reason: str
    versions: tuple[str, ...]


_ZONES = Declared(
    ["nova"], "measured without a compute service; zones come from the scope", ("AWS", "Heat", "2013-05-23")
)
DECLARED: Mapping[tuple[str, str], Declared] = {
    ("cfn_in_hot:Fn::GetAZs", '{"Fn::GetAZs": ""}'): _ZONES,
    ("Fn::GetAZs", '{"Fn::GetAZs": ""}'): _ZONES,
    ("Fn::Join", '{"Fn::Join": [",", ["a", 1]]}'): Declared(
        "a,1", "AWS passes numbers to functions as strings", ("AWS",)
    ),
    ("Fn::Base64", '{"Fn::Base64": 5}'): Declared("5", "AWS passes numbers to functions as strings", ("AWS",)),
    ("Fn::GetAtt", '{"Fn::GetAtt": "v.value"}'): Declared(
        VALUE, "AWS has taken the resource and the attribute in one text for long", ("AWS",)
    ),
}
"""Cases in which we differ on purpose, by group and snippet."""


@dataclass(frozen=True)
class _Case:
    """A call of a function of a group in a template of a version."""

    group: str
    measured: Mapping[str, Any]
    version: str


def _cases(group: str) -> Iterator[tuple[str, _Case]]:
    for measured in FACTS["cases"][group]:
        condition = f" cx={json.dumps(measured['cx'])}" if "cx" in measured else ""
        for version in measured["ver"]:
            yield f"{version} {json.dumps(measured['in'])}{condition}", _Case(group, measured, version)


@pytest.mark.parametrize("group", FACTS["cases"])
def test_functions(group: str) -> None:
    check_each(_cases(group), _assert_as_measured)


def _assert_as_measured(of: _Case) -> None:
    group, case, version = of.group, of.measured, of.version
    outcome = run(template_for(version, case, group))
    expected = case.get("error")
    declared = DECLARED.get((group, json.dumps(case["in"])))
    if declared and version in declared.versions and expected:
        assert outcome.value == declared.value, outcome
    elif expected is None:
        assert outcome.stage == "", outcome.text
        assert _same(outcome.value, case["out"]), outcome.value
    else:
        _assert_error(outcome, expected)


def _assert_error(outcome: Outcome, expected: Mapping[str, str]) -> None:
    assert outcome.stage, f"gave {outcome.value!r}"
    assert outcome.text
    if expected["why"] != ANY_CLEAN_ERROR:
        assert (outcome.stage, outcome.kind) == (expected["stage"], expected["class"]), outcome.text


def _same(value: Any, expected: Any) -> bool:
    """Equal as JSON: 1 and true are not the same."""
    return json.dumps(value, sort_keys=True) == json.dumps(expected, sort_keys=True)
