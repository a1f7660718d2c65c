"""Servers that several areas of tests share; each is started once, when the first test asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from servers import MariaDB, PostgreSQL, RabbitMQ, Server


def _running(server: Server) -> Iterator[Server]:
    try:
        server.prepare()
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    yield from _running(PostgreSQL())


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Server]:
    yield from _running(MariaDB())


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[Server]:
    yield from _running(RabbitMQ())
