"""Subjects of commits: `area: imperative`, at most 72 characters, as CONTRIBUTING.md says.

`python -m tools.checks` reads the commits since the rule is enforced; `python -m tools.checks.commit_subjects FILE`
reads the message in a file, as a hook of Git passes it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.checks.source_tree import SourceTree, show

LONGEST = 72
_SINCE = "2026-11-28T08:00:00Z"
"""Earlier commits are not checked. A time remains valid when commits get other IDs."""
_PUBLISHED = frozenset({"c0549ad90af00595da2e1d3c1f2a9b449fa11de1"})
"""Commits with a wrong subject that others have already: to change it, their history would have to be rewritten."""
_FORM = re.compile(r"[a-z0-9][a-z0-9 ,_/-]*: \S.*")
_BY_GIT = re.compile(r"(Merge|Revert|fixup!|squash!) ")
"""How subjects begin that Git itself writes."""


def problem(subject: str) -> str | None:
    """Return what is wrong with a subject; None if nothing is."""
    if _BY_GIT.match(subject):
        return None
    if not _FORM.fullmatch(subject):
        return "has not the form `area: imperative`"
    return f"has {len(subject)} characters, {LONGEST} are allowed" if len(subject) > LONGEST else None


def report(tree: SourceTree) -> Iterator[str]:
    """Yield a line for each commit with a wrong subject. Copies without the history are not checked."""
    if not (tree.root / ".git").exists():
        return
    for line in (_git(tree.root, "log", f"--since={_SINCE}", "--format=%H %s") or "").splitlines():
        commit, _, subject = line.partition(" ")
        if commit not in _PUBLISHED and (wrong := problem(subject)) is not None:
            yield f"commit {commit[:8]} {wrong}: {subject}"


def _git(root: Path, *arguments: str) -> str | None:
    """Return what Git prints; None if it fails, as in a shallow clone, or is missing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


def main() -> int:
    subject = Path(sys.argv[1]).read_text(encoding="utf-8").partition("\n")[0]
    wrong = problem(subject)
    return show([] if wrong is None else [f"the subject {wrong}: {subject}"])


if __name__ == "__main__":
    sys.exit(main())
