"""Servers that several areas of tests share, each started once, when the first test asks for it; and what all share.

Examples that Hypothesis makes have no time limit each: the machine may be busy with other tests.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from hypothesis import settings

from tests.servers import MariaDB, PostgreSQL, RabbitMQ, Server, ServerMissing

settings.register_profile("stoker", deadline=None)
settings.load_profile("stoker")

# A shell has commands in the background ignore Ctrl-C, and so does whatever they start: programs under test must not.
signal.signal(signal.SIGINT, signal.default_int_handler)


USUAL_UMASK = 0o022

ServerKind = TypeVar("ServerKind", bound=Server)


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Programs that run inside the test process restrict its files; other tests start servers as other users."""
    os.umask(USUAL_UMASK)
    yield
    os.umask(USUAL_UMASK)


def _running(kind: Callable[[], ServerKind]) -> Iterator[ServerKind]:
    os.umask(USUAL_UMASK)
    try:
        server = kind()
    except ServerMissing as error:
        pytest.skip(str(error))
    try:
        server.prepare()
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    yield from _running(PostgreSQL)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    yield from _running(MariaDB)


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMQ]:
    yield from _running(RabbitMQ)
