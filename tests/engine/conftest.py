"""Log records as the handlers of a process receive them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from stoker.base.logging import protect


class Keeper(logging.Handler):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def kept(caplog: pytest.LogCaptureFixture) -> Iterator[list[Any]]:
    """The records of all lines from INFO on, as a process's handlers get them."""
    keeper, logger = Keeper(), logging.getLogger("stoker")
    protect(keeper)
    caplog.set_level(logging.INFO, "stoker")
    logger.addHandler(keeper)
    yield keeper.records
    logger.removeHandler(keeper)
