"""The manual's pages."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def docs() -> Path:
    """The directory of the manual."""
    return ROOT / "docs"
