from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.language_server.editor import Editor


@pytest.fixture
async def editor(tmp_path: Path) -> AsyncIterator[Editor]:
    """An editor that is connected to a language server in this process."""
    made = Editor(tmp_path)
    await made.connect()
    yield made
    await made.close()
