from __future__ import annotations

from pathlib import Path

import pytest

from tests.authoring.support import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty working directory, and the `stoker` command in it."""
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)
