"""Clusters that the tests share; each test asks for as many engines as it needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from running_cluster import Cluster

from servers import MariaDB, PostgreSQL, RabbitMQ
from stoker.base.clock import SystemClock
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud


@pytest.fixture(scope="session")
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.05)) as served:
        yield served


def _cluster(
    factory: pytest.TempPathFactory, name: str, server: PostgreSQL | MariaDB, broker: RabbitMQ, served: ServedCloud
) -> Iterator[Cluster]:
    cluster = Cluster(factory.mktemp(name), server.new_database(name), broker.url, served, exchange=name)
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory, postgresql, rabbitmq, served) -> Iterator[Cluster]:
    yield from _cluster(tmp_path_factory, "cluster", postgresql, rabbitmq, served)


@pytest.fixture(scope="module")
def mariadb_cluster(tmp_path_factory, mariadb, rabbitmq, served) -> Iterator[Cluster]:
    yield from _cluster(tmp_path_factory, "mariadb_cluster", mariadb, rabbitmq, served)
