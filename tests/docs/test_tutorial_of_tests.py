"""The tests of the tutorial about tests pass, and fail as it says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from stoker.authoring.render import explanation
from stoker.testing import running
from stoker.testing.cases import read_cases
from stoker.testing.running import Outcome


@pytest.fixture
def folder(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("disk.yaml", "disk.test.yaml"):
        shutil.copy(docs / "tutorial" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcomes(part: str = "") -> list[Outcome]:
    return [running.run(case) for case in read_cases("disk.test.yaml") if part in case.title]


def test_examples_pass(folder: Path, docs: Path) -> None:
    found = outcomes()
    assert [outcome.failures for outcome in found] == [()] * len(found)
    page = (docs / "tutorial" / "test-a-template.md").read_text()
    shown = re.findall(r"  ✓ (.*)  \(", page)
    assert [outcome.title for outcome in found][: len(shown)] == shown
    assert f"{len(found)} passed" in page


def test_a_mistake_fails_as_shown(folder: Path, docs: Path) -> None:
    template = folder / "disk.yaml"
    template.write_text(template.read_text().replace("      metadata: {purpose: data}\n", ""))
    (outcome,) = outcomes("purpose")
    pieces = explanation(outcome.failures[0], (folder / "disk.test.yaml").read_text())
    text = "".join(text for text, _ in pieces)
    assert text in (docs / "tutorial" / "test-a-template.md").read_text()
