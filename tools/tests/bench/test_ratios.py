"""The benchmark's comparison with its baseline: what a ratio is, when it is behind, and what the exit status says."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from tools.bench import ratios
from tools.bench.__main__ import HERE, main, report

HEAT = {"yardstick_s": 0.01, "figures": {"list": 100, "list, 8 clients": 800}, "processor": {"flat create 100": 6.0}}
BARE = {"case": "networks", "phase": "create", "n": 500, "wall_s": 3.0}


def flat(seconds: float, **more: Any) -> dict[str, Any]:
    """The record of a creation that took so much processor time."""
    return {"case": "flat", "phase": "create", "n": 100, "wall_s": 9.0, "cpu_total_s": seconds, **more}


# -- what a ratio is ---------------------------------------------------------------------------------------------


def test_processor_time_is_compared_with_heats_on_a_machine_that_is_as_slow() -> None:
    assert ratios.ratios_of([flat(0.6)], HEAT, 0.01) == {"flat create 100 : Heat": pytest.approx(0.1)}
    assert ratios.ratios_of([flat(1.2)], HEAT, 0.02) == {"flat create 100 : Heat": pytest.approx(0.1)}


def test_a_request_is_compared_with_heats_median_at_as_many_clients() -> None:
    asked = {"case": "reads", "phase": "list", "p50_ms": 7.0, "cpu_total_s": 4.0, "requests": 400}
    found = ratios.ratios_of([{**asked, "n": 1}, {**asked, "n": 8}], HEAT, 0.01)
    assert found == {"list : Heat": pytest.approx(0.1), "list, 8 clients : Heat": pytest.approx(0.0125)}


def test_unmeasured_heat_cases_use_reference_time() -> None:
    assert ratios.ratios_of([{**flat(0.6), "n": 7}], HEAT, 0.02) == {"flat create 7 : yardstick": pytest.approx(30)}


def test_a_ratio_of_two_measurements_needs_no_processor_time() -> None:
    record = {**BARE, "ratio": {"to": "the bare calls", "value": 1.5}}
    assert ratios.ratios_of([record], HEAT, 0.02) == {"networks create 500 : the bare calls": 1.5}


def test_the_best_run_counts_and_short_ones_do_not() -> None:
    assert ratios.ratios_of([flat(0.9), flat(0.6), flat(0.7)], HEAT, 0.01) == {
        "flat create 100 : Heat": pytest.approx(0.1)
    }
    assert ratios.ratios_of([flat(0.09), BARE], HEAT, 0.01) == {}


# -- when one is behind ------------------------------------------------------------------------------------------


def test_ratio_a_quarter_behind_fails() -> None:
    before = {"flat": {"a": 0.4, "b": 8.0}}
    assert ratios.behind({"flat": {"a": 0.5, "b": 10.0}}, before) == []
    [only] = ratios.behind({"flat": {"a": 0.501, "b": 10.0}}, before)
    assert str(only) == "flat: a is 0.501, 25% behind the baseline of 0.4"


def test_a_row_that_is_not_measured_any_more_is_behind() -> None:
    [only] = ratios.behind({"flat": {"a": 0.1}}, {"flat": {"a": 0.4, "b": 8.0}})
    assert str(only) == "flat: b was not measured; the baseline is 8"


def test_new_rows_and_cases_that_were_not_run_are_not_behind() -> None:
    assert ratios.behind({"flat": {"new": 99.0}}, {"tree": {"a": 1.0}}) == []


def test_an_update_changes_the_cases_that_were_run(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    ratios.update({"flat": {"a": 1.23456, "b": 2.0}, "tree": {"c": 3.0}}, path)
    ratios.update({"flat": {"a": 1.0}}, path)
    assert ratios.read(path) == {"flat": {"a": 1.0}, "tree": {"c": 3.0}}


# -- the program -------------------------------------------------------------------------------------------------


def case(*seconds: float) -> Callable[[], list[dict[str, Any]]]:
    """A case that takes so much processor time, each time that it is measured; the last one from then on."""
    each = chain(seconds, repeat(seconds[-1]))
    return lambda: [flat(next(each))]


def run(path: Path, measure: Callable[[], list[dict[str, Any]]], *, update: bool = False) -> int:
    return report({"flat": measure}, baseline=path, yardstick=lambda: 0.0072, update_baseline=update)


def test_the_status_says_whether_a_ratio_is_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "baseline.json"
    assert run(path, case(9.9)) == 0  # there is no baseline yet
    assert run(path, case(0.65), update=True) == 0
    assert run(path, case(0.8)) == 0
    capsys.readouterr()
    assert run(path, case(0.9)) == 1
    printed = capsys.readouterr()
    assert "BEHIND  flat: flat create 100 : Heat is 0.138, 38% behind the baseline of 0.1" in printed.err
    shown = next(line for line in printed.out.splitlines() if "flat create 100" in line)
    assert [part.strip() for part in shown.split("│")[1:10]] == [
        *("flat create 100", "9 s", "", "9 s", "0.33 s", "0.9", "", "Heat", "0.138")
    ]


def test_failing_ratio_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    assert run(path, case(0.65), update=True) == 0
    assert run(path, case(0.9, 0.66)) == 0
    assert run(path, case(0.9, 0.89)) == 1
    assert ratios.read(path) == {"flat": {"flat create 100 : Heat": 0.1}}


def test_a_case_without_records_is_behind(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    assert run(path, case(0.65), update=True) == 0
    assert run(path, list) == 1


def test_unknown_cases_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["flat", "imaginary"])
    assert ended.value.code == 2
    assert "there is no case imaginary" in capsys.readouterr().err


def test_the_baseline_kept_here_can_be_compared_with() -> None:
    kept = ratios.read()
    heat = json.loads((HERE / "heat.json").read_text())
    assert {"flat", "group", "update", "networks", "reads", "generate", "templates", "stacks"} <= set(kept)
    assert all(0 < value < 1e6 for rows in kept.values() for value in rows.values())
    assert "flat create 1000 : Heat" in kept["flat"] and "flat create 1000" in heat["processor"]


def test_the_reference_benchmark_measures() -> None:
    assert 0.0001 < ratios.yardstick() < 1
