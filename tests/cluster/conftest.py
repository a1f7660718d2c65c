"""Clusters that the tests share; each test asks for as many engines as it needs."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.running_cluster import Cluster
from testing.servers import MariaDB, PostgreSQL, RabbitMQ


@pytest.fixture(scope="session")
def issued() -> Iterator[list[str]]:
    """Every token that the emulated cloud gives out, as it does so."""
    given: list[str] = []
    make = secrets.token_urlsafe

    def noted(size: int | None = None) -> str:
        given.append(make(size))
        return given[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_urlsafe", noted)
        yield given


@pytest.fixture(scope="session")
def served(issued: list[str]) -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.05)) as served:
        yield served


@pytest.fixture(scope="package")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, postgresql: PostgreSQL, rabbitmq: RabbitMQ, served: ServedCloud
) -> Iterator[Cluster]:
    """On PostgreSQL, with TLS. It ends before other tests begin: engines that nobody uses still have heartbeats."""
    url = postgresql.new_database("cluster") + postgresql.tls_options
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), url, rabbitmq.url, served, "cluster", "")
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def mariadb_cluster(
    tmp_path_factory: pytest.TempPathFactory, mariadb: MariaDB, rabbitmq: RabbitMQ, served: ServedCloud
) -> Iterator[Cluster]:
    """On MariaDB, with TLS to the database and to the broker."""
    url = mariadb.new_database("cluster") + mariadb.tls_options
    options = f"ssl = true\nssl_ca_file = {rabbitmq.tls.authority}"
    directory = tmp_path_factory.mktemp("mariadb_cluster")
    cluster = Cluster(directory, url, rabbitmq.tls_url, served, "mariadb_cluster", options)
    yield cluster
    cluster.stop()
