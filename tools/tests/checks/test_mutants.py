"""The bugs of `make mutants` can be planted, and name a suite, and a seed, that is expected to notice them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from testing.simulation.simulation import FIXED
from tools.mutants.__main__ import SUITES, arguments_of, suites_for
from tools.mutants.planted import MUTANTS, PACKAGE, Mutant, Outdated

SOURCES = Path(__file__).parents[3]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_planted_bug_applies_to_the_sources(mutant: Mutant) -> None:
    text = mutant.changed(SOURCES)
    assert text != (SOURCES / PACKAGE / mutant.path).read_text(encoding="utf-8")
    compile(text, mutant.path, "exec")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_suite_that_is_expected_to_notice_a_bug_runs_first(mutant: Mutant) -> None:
    assert suites_for(mutant)[0] == mutant.expected_in
    assert sorted(suites_for(mutant)) == sorted(SUITES)
    arguments = arguments_of("simulation", mutant)
    assert arguments[-len(FIXED)] == (mutant.seed or FIXED[0])
    assert sorted(arguments[-len(FIXED) :]) == sorted(FIXED)


def test_a_planted_bug_is_removed_without_a_trace(tmp_path: Path) -> None:
    mutant = MUTANTS[0]
    file = tmp_path / PACKAGE / mutant.path
    file.parent.mkdir(parents=True)
    shutil.copy2(SOURCES / PACKAGE / mutant.path, file)
    before = file.read_text(encoding="utf-8"), file.stat().st_mtime_ns
    with mutant.planted(tmp_path):
        assert mutant.new in file.read_text(encoding="utf-8")
        with pytest.raises(Outdated):
            mutant.changed(tmp_path)
    assert (file.read_text(encoding="utf-8"), file.stat().st_mtime_ns) == before
