"""One cluster for all tests of a module; each test asks for as many engines as it needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from running_cluster import Cluster

from stoker.base.clock import SystemClock
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud


@pytest.fixture(scope="module")
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.05)) as served:
        yield served


@pytest.fixture(scope="module", params=["postgresql"])
def database_server(request: pytest.FixtureRequest) -> object:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, database_server, rabbitmq, served: ServedCloud
) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("cluster")
    cluster = Cluster(directory, database_server.new_database("cluster"), rabbitmq.url, served)
    yield cluster
    cluster.stop()
