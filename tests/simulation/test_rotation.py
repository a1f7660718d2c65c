"""Which cases of long tests are tried on a day."""

from __future__ import annotations

import pytest

from testing.rotation import ALL_CASES, of_today, turn

CASES = list("abcdefg")


def test_every_rotated_case_is_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALL_CASES, raising=False)
    assert sorted(turn(3, offset) for offset in range(3)) == [(1, 3), (2, 3), (3, 3)]
    first, stride = turn(3)
    assert of_today(CASES, 3) == CASES[first - 1 :: stride]


def test_all_cases_are_tried_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALL_CASES, "1")
    assert (turn(3, 2), of_today(CASES, 3)) == ((1, 1), CASES)
