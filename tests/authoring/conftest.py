from __future__ import annotations

from pathlib import Path

import pytest

from tests.authoring.support import WorkingDirectory


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkingDirectory:
    """An empty working directory, and the `stoker` command in it."""
    monkeypatch.chdir(tmp_path)
    return WorkingDirectory(tmp_path)
