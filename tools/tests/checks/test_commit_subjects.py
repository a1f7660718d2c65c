"""The check of the subjects of commits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.checks import commit_subjects
from tools.checks.commit_subjects import problem
from tools.checks.source_tree import ROOT, SourceTree


@pytest.mark.parametrize("subject", ["engine: resume operations", "cli, docs: explain", "Merge branch 'main'"])
def test_subjects_with_an_area_are_accepted(subject: str) -> None:
    assert problem(subject) is None


@pytest.mark.parametrize("subject", ["Resume operations", "engine:", "engine:resume", f"engine: {'x' * 65}"])
def test_subjects_without_an_area_or_too_long_are_refused(subject: str) -> None:
    assert problem(subject) is not None


def test_commits_since_the_rule_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str, **environment: str) -> None:
        identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, env={**os.environ, **environment})

    git("init", "--quiet")
    before = "2001-01-01T00:00:00Z"
    git("commit", "--quiet", "--allow-empty", "--message", "Before the rule", GIT_COMMITTER_DATE=before)
    monkeypatch.setattr(commit_subjects, "_SINCE", "2001-01-02T00:00:00Z")
    git("commit", "--quiet", "--allow-empty", "--message", "engine: resume operations")
    assert list(commit_subjects.report(SourceTree(tmp_path))) == []
    git("commit", "--quiet", "--allow-empty", "--message", "Resumed operations")
    [line] = commit_subjects.report(SourceTree(tmp_path))
    assert line.endswith("has not the form `area: imperative`: Resumed operations")


def test_a_hook_reads_the_first_line_of_a_message(tmp_path: Path) -> None:
    message = tmp_path / "COMMIT_EDITMSG"
    message.write_text("engine: resume operations\n\nA Reason.\n")
    command = [sys.executable, "-m", "tools.checks.commit_subjects", str(message)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    message.write_text("Resume\n")
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 1
