"""Whatever answer to a creation gets lost, of whatever resource type: one object is there in the end, then none."""

from __future__ import annotations

import json

import pytest

from stoker.plugins.registry import Registry
from testing.rotation import of_today
from testing.simulation.cases import creating
from testing.simulation.lost_replacements import replaced_types
from tests.simulation.programs import run

PARTS = 2
"""Processes among which the types are divided."""


def outside() -> list[str]:
    """Every type that is not in Stoker's own record only."""
    return sorted(name for name, kind in Registry.from_entry_points().types.items() if not kind.local)


def test_every_type_has_a_case() -> None:
    assert sorted(creating()) == outside()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_lost_response_duplicates_and_loses_nothing(part: int) -> None:
    names = of_today(outside(), 3)[part::PARTS]
    done = run("lost_answers", *names, seconds=500)
    assert done.returncode == 0, done.stderr[-2000:]
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["type"] for report in reports] == names
    assert {report["type"]: report["problems"] for report in reports if report["problems"]} == {}
    assert sum(len(changes) for report in reports for changes in report["changes"]) > len(names)


@pytest.mark.slow
def test_unique_objects_are_replaced_despite_lost_responses() -> None:
    done = run("lost_replacements", seconds=300)
    assert done.returncode == 0, done.stderr[-2000:]
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["type"] for report in reports] == replaced_types()
    assert {report["type"]: report["problems"] for report in reports if report["problems"]} == {}
    assert all(len(changes) > 1 for report in reports for changes in report["changes"])
