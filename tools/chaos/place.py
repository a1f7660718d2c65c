"""A real cluster for the time of a run: a database, RabbitMQ, an emulated cloud, three engines, two API processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.network_link import Link
from testing.running_cluster import Cluster, Process
from testing.servers import DatabaseServer, RabbitMQ, Server, wait_until
from testing.simulation.simulation import OUTSIDE
from testing.unwritable import let_store

ENGINES = 3
DATABASE = "chaos"
USER = "demo"
PACE = 0.3
"""Factor on the time that servers, volumes and their like take in the emulated cloud."""

_START_SECONDS = 300.0
_UNLIMITED = {
    "/network/v2.0/quotas/{project}": {
        "quota": dict.fromkeys(("network", "subnet", "port", "router", "floatingip", "security_group"), -1)
    },
    "/compute/v2.1/os-quota-sets/{project}": {
        "quota_set": dict.fromkeys(("instances", "cores", "ram", "key_pairs", "server_groups"), -1)
    },
    "/volume/v3/{admin}/os-quota-sets/{project}": {"quota_set": dict.fromkeys(("volumes", "gigabytes"), -1)},
}


class LinkedCluster(Cluster):
    """A cluster whose engines reach the database and the broker through links of their own, which can be cut."""

    def __init__(self, opened: ExitStack, *arguments: Any) -> None:
        self._opened = opened
        self.links: dict[str, tuple[Link, Link]] = {}
        super().__init__(*arguments)

    def addresses(self, host: str) -> tuple[str, str]:
        database, broker = super().addresses(host)
        if host == "api":
            return database, broker
        links = [
            self._opened.enter_context(Link(int(url.rsplit(":", 1)[1].split("/")[0]))) for url in (database, broker)
        ]
        self.links[host] = links[0], links[1]
        return links[0].url(database), links[1].url(broker)


@dataclass(frozen=True)
class Place:
    """What there is to be troubled. Logs are in `directory`."""

    directory: Path
    database: DatabaseServer
    broker: RabbitMQ
    served: ServedCloud
    cluster: LinkedCluster
    apis: tuple[Process, ...]

    def save(self, name: str) -> None:
        """Write what the database holds, and what the cloud was asked for, beside the logs."""
        self.database.dump(DATABASE, self.directory / f"{name}-database.sql")
        asked = self.served.do(lambda: self.served.cloud.journal.select({}))
        lines = b"".join(orjson.dumps(entry) + b"\n" for entry in asked)
        (self.directory / f"{name}-cloud.jsonl").write_bytes(lines)

    def let_database_store(self, may: bool) -> None:
        """Let the database store something again, or nothing any more, as if its disk was full."""
        engine = self.cluster.database.engine.execution_options(isolation_level="AUTOCOMMIT")
        let_store(engine, DATABASE, may)

    @property
    def whole(self) -> bool:
        """Whether every process takes part."""
        if not all(process.alive for process in (*self.apis, *self.cluster.running)):
            return False
        return self.cluster.up() == {engine.host for engine in self.cluster.running}


@contextmanager
def running(kind: Callable[[], DatabaseServer], directory: Path) -> Iterator[Place]:
    """A cluster whose processes take requests; all of it is stopped in the end. Raises ServerMissing."""
    directory.mkdir(parents=True)
    with ExitStack() as stack:
        database, broker = kind(), RabbitMQ()
        for server in (database, broker):
            stack.callback(server.remove)
            _begin(server)
        cloud = new_cloud(clock=SystemClock(), pace=PACE, extra_endpoints=OUTSIDE)
        served = stack.enter_context(ServedCloud(cloud))
        lift_quotas(served)
        cluster = LinkedCluster(stack, directory, database.new_database(DATABASE), broker.url, served, "chaos", "")
        stack.callback(cluster.stop)
        place = Place(directory, database, broker, served, cluster, (cluster.api, cluster.start_api()))
        for _ in range(ENGINES):
            cluster.start_engine()
        wait_until(lambda: place.whole, "the cluster runs", _START_SECONDS)
        yield place


def _begin(server: Server) -> None:
    server.prepare()
    server.start()


def lift_quotas(served: ServedCloud) -> None:
    """The user may have any amount: what is refused is refused by the adversary."""
    token = served.token()
    projects = served.call("GET", "/identity/v3/projects", token=token).json["projects"]
    ids = {project["name"]: project["id"] for project in projects}
    for path, limits in _UNLIMITED.items():
        answer = served.call("PUT", path.format(project=ids[USER], admin=ids["admin"]), limits, token)
        assert answer.status == 200, answer
