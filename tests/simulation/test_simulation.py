"""The simulation of crashes, bounded: some seeds that are always the same, and some that are new each time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from testing.simulation.simulation import FIXED
from tests.simulation.programs import run

READ = ("1", "5", "6", "263043051", "263043066", "263043148")
"""Seeds of histories that people look at. The longer ones have found errors: an object that a former owner removes
while it stops, a volume that is still being created, a deployment that was deleted before its configuration."""
RENAMED = ("1", "3", "5", "7")
"""Seeds of histories in which each update gives a resource another name."""
IMPORTED = ("1", "6", "8", "14")
"""Seeds of histories in which networks are given away, and imported again."""
LOCKED = ("1", "2", "3", "4")
"""Seeds of histories in which stacks are locked for a while."""
DRIFTED = ("1", "10", "11", "12")
"""Seeds of histories in which networks are renamed without the engine, and that is accepted or reverted."""
CALM = ("1", "2")
"""Seeds of histories that are compared with and without readers."""
FRESH_SECONDS = 4


def histories(*arguments: str) -> tuple[list[dict[str, Any]], str]:
    """The report of each seed, and the summary."""
    done = run("simulation", *arguments)
    *reports, summary, zeros = done.stdout.splitlines()
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"
    return [json.loads(report) for report in reports], f"{summary}\n{zeros}"


def happened(reports: list[dict[str, Any]], *kinds: str) -> bool:
    """Whether each of these happened in some of the histories: which ones have them changes with what engines do."""
    return all(any(report["counts"].get(kind) for report in reports) for kind in kinds)


@pytest.mark.slow
def test_simulation_keeps_invariants_and_replays_exactly() -> None:
    reports, _ = histories(*FIXED, FIXED[0])

    assert reports[0]["digest"] == reports[-1]["digest"]
    assert len({report["digest"] for report in reports}) == len(FIXED)
    assert happened(reports, "crashes")


@pytest.mark.slow
def test_reads_are_answered_throughout_simulation() -> None:
    reports, _ = histories("--readers", *READ)

    assert all(report["counts"]["reads"] for report in reports)


@pytest.mark.slow
def test_renames_keep_invariants() -> None:
    reports, _ = histories("--renames", *RENAMED)

    assert happened(reports, "crashes", "moves")


@pytest.mark.slow
def test_imported_objects_have_one_owner_and_are_not_lost() -> None:
    reports, _ = histories("--imports", *IMPORTED)

    assert happened(reports, "crashes", "imports")


@pytest.mark.slow
def test_nothing_begins_on_a_locked_stack() -> None:
    reports, _ = histories("--locks", *LOCKED)

    assert happened(reports, "crashes", "locks")


@pytest.mark.slow
def test_drift_acceptance_and_reverts_keep_invariants() -> None:
    reports, _ = histories("--drifts", *DRIFTED)

    assert happened(reports, "crashes", "drifts", "accepted", "reverted")


@pytest.mark.slow
def test_reads_do_not_change_cloud_requests() -> None:
    done = run("reading_along", *CALM)

    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"
    compared = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert all(history["calls"] > 50 and history["reads"] > 200 for history in compared)


@pytest.mark.slow
def test_new_random_seeds() -> None:
    reports, summary = histories("--readers", "--minutes", str(FRESH_SECONDS / 60))

    assert not reports  # only runs with a problem are reported one by one, with what replays them
    assert "0 lost, 0 duplicated, 0 orphaned, 0 stuck" in summary
