"""Sizes and cooldowns of groups, compared with the recorded examples."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoker.resources.heat.groups.scaling import (
    CHANGE,
    EXACT,
    PERCENT,
    Adjustment,
    begun,
    changed,
    cooling_down,
    ended,
    new_capacity,
)

# Present size, amount, type, least step, smallest, largest, resulting size.
EXAMPLES = [
    (4, 1, CHANGE, None, 1, 5, 5),
    (4, -10, CHANGE, None, 1, 5, 1),
    (4, 3, EXACT, None, 1, 5, 3),
    (4, 10, PERCENT, None, 0, 9, 5),
    (4, -10, PERCENT, None, 0, 9, 3),
    (4, 30, PERCENT, None, 0, 9, 5),
    (4, 60, PERCENT, None, 0, 9, 6),
    (4, -60, PERCENT, None, 0, 9, 2),
    (4, 10, PERCENT, 2, 0, 9, 6),
    (4, -10, PERCENT, 2, 0, 9, 2),
    (4, 0, PERCENT, 2, 0, 9, 2),
    (0, 100, PERCENT, 2, 0, 9, 0),
    (4, 1, CHANGE, 3, 0, 9, 5),
    (4, 99, EXACT, None, 0, 9, 9),
    (4, 10, "PercentChangeInCapacity", 2, 0, 9, 6),
    (4, 3, "ExactCapacity", None, 1, 5, 3),
    (4, 1, "ChangeInCapacity", None, 1, 5, 5),
]
NOON = 1_767_268_800.0  # 2026-01-01T12:00:00


@pytest.mark.parametrize(("current", "amount", "kind", "step", "smallest", "largest", "result"), EXAMPLES)
def test_capacity(
    current: int, amount: int, kind: str, step: int | None, smallest: int, largest: int, result: int
) -> None:
    assert new_capacity(current, Adjustment(amount, kind, step), smallest, largest) == result


@given(
    st.integers(0, 50),
    st.floats(-1000, 1000),
    st.sampled_from([CHANGE, EXACT, PERCENT]),
    st.one_of(st.none(), st.integers(0, 20)),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_capacity_stays_within_its_bounds(
    current: int, amount: float, kind: str, step: int | None, smallest: int, more: int
) -> None:
    assert (
        smallest <= new_capacity(current, Adjustment(amount, kind, step), smallest, smallest + more) <= smallest + more
    )


@pytest.mark.parametrize(
    ("metadata", "until"),
    [
        ({}, None),
        ({"cooldown_end": {"2026-01-01T12:01:00": "x"}}, "2026-01-01T12:01:00"),
        ({"cooldown_end": {"2026-01-01T13:01:00+01:00": "x"}}, "2026-01-01T12:01:00"),
        ({"cooldown_end": {"2026-01-01T12:00:00": "x"}}, None),
        ({"cooldown": {"2026-01-01T11:59:30": "x"}}, "2026-01-01T12:00:30"),
        ({"cooldown": {"2026-01-01T11:58:00": "x"}}, None),
        ({"2026-01-01T11:59:30": "x", "mine": "y"}, "2026-01-01T12:00:30"),
        ({"cooldown_end": "nonsense", "mine": {"2026": 1}}, None),
    ],
)
def test_scaling_cooldown(metadata: dict[str, Any], until: str | None) -> None:
    assert cooling_down(metadata, 60, NOON) == until


def test_metadata_of_a_scaling_group() -> None:
    running = begun({"mine": 1})
    assert running == {"mine": 1, "scaling_in_progress": True}
    assert ended(running) == {"mine": 1, "scaling_in_progress": False}
    first = changed(running, "why", 60, NOON)
    assert first == {"mine": 1, "cooldown_end": {"2026-01-01T12:01:00": "why"}, "scaling_in_progress": False}
    assert changed(first, "later", 10, NOON + 10)["cooldown_end"] == {"2026-01-01T12:01:00": "later"}
    assert changed({}, "why", -5, NOON)["cooldown_end"] == {"2026-01-01T12:00:00": "why"}


@given(st.floats(NOON, NOON + 1))
def test_without_a_cooldown_a_group_may_change_again_in_the_same_instant(now: float) -> None:
    assert cooling_down(changed({}, "why", 0, now), 0, now) is None
