"""Earlier releases, whose sources are extracted and compiled once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.upgrades import releases


@pytest.fixture(scope="session")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The directory with the sources of a release; the tests that use it are the group `releases`."""
    parent = tmp_path_factory.mktemp("releases")

    @cache
    def sources_of(release: str) -> Path:
        try:
            releases.extract(release, parent / release)
        except releases.ReleaseMissing as error:
            pytest.skip(f"the history of {release} is not here: {error}")
        return parent / release

    return sources_of
