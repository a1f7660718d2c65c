"""Measure what the rehearsal needs to know, with the servers of the tests on this machine.

Times by the clock are those that a quarter of all tries take at most: on a machine with other work, the others are
those of the other work.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from statistics import mean
from typing import Any

import amqp
import oslo_messaging

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.app import make_app
from stoker.base.config import load_config
from stoker.rpc.messaging import open_transport
from stoker.store.database import Database
from stoker.testing.sandbox import empty_database
from testing.harness import ThreadedWorld, api_config
from testing.servers import MariaDB, PostgreSQL, RabbitMQ, running
from tools.scale import estate
from tools.scale.latencies import OTHER, Latencies, Samples
from tools.scale.rehearsal import Rehearsal, Size
from tools.scale.statements import Recorder

SMALL = Size(engines=4, apis=2, resources=0, rate=40.0, reads=20.0, projects=3, waiting=10, warming=10.0, after=20.0)
"""The work with which statements and callbacks are measured."""
UNKNOWN = Latencies("unknown", {OTHER: 0.0005}, 0.0001, 0.003, 0.0001, 0.001, {OTHER: 0.0001}, 0.003)
DATABASES: dict[str, type[PostgreSQL | MariaDB]] = {"postgresql": PostgreSQL, "mariadb": MariaDB}
MESSAGES = 10_000
CALLS = 200
FLUSHES = 200
REQUESTS = 200


def measure(database: str) -> Latencies:
    """Measure with one of `DATABASES`. Raises ServerMissing when a server cannot be had."""
    _print("callbacks of engines")
    callbacks = _callbacks()
    _print(f"statements on {database}")
    statements, per_row = _statements(DATABASES[database])
    _print("messages")
    trip, message = _messages()
    _print("requests to the API, and the disk")
    server = DATABASES[database].__name__
    return Latencies(
        source=f"{server} and RabbitMQ on one machine with {os.cpu_count()} processors, and its disk",
        statements=statements,
        per_row=per_row,
        flush=_flush(),
        broker_message=message,
        broker_trip=trip,
        callbacks=callbacks,
        api_request=_api_request(),
    )


def _print(text: str) -> None:
    print(f"measuring: {text}", file=sys.stderr, flush=True)


def _callbacks() -> dict[str, float]:
    """The processor time of each kind of callback, with the statements on SQLite that some of them contain."""
    samples, recorder = Samples(), Recorder()
    with estate.place() as directory, recorder.attached():
        path = directory / "stoker.db"
        path.write_bytes(empty_database())
        database = estate.opened(path)
        Rehearsal(SMALL, UNKNOWN, database, recorder, samples).run()
        database.close()
    return samples.means()


def _statements(kind: type[PostgreSQL | MariaDB]) -> tuple[dict[str, float], float]:
    """The time of each kind of statement, and that of each further row, as the client sees it on the same machine."""
    samples, several = Samples(), list[tuple[str, int, float]]()

    def timed(name: str, rows: int, seconds: float) -> None:
        if rows == 1:
            samples.add(name, seconds)
        else:
            several.append((name, rows, seconds))

    recorder = Recorder(timed)
    with running(kind) as server, recorder.attached():
        database = Database(server.new_database("scale"))
        database.migrate()
        recorder.examples.clear()
        samples.kinds.clear()
        Rehearsal(SMALL, UNKNOWN, database, recorder).run()
        database.close()
    single = samples.quarters()
    further = sorted(max(each - single.get(name, single[OTHER]), 0.0) / (rows - 1) for name, rows, each in several)
    return single, round(further[len(further) // 4], 9) if further else single[OTHER]


class _Echo:
    """What answers at the other end."""

    target = oslo_messaging.Target(version="1.0")

    def answer(self, _context: Any, text: str) -> str:
        return text


def _messages() -> tuple[float, float]:
    """One way of a message, and the time that the broker needs for one while many are sent."""
    with running(RabbitMQ) as broker, tempfile.TemporaryDirectory(prefix="stoker-scale-") as directory:
        path = Path(directory) / "heat.conf"
        path.write_text(f"[DEFAULT]\ntransport_url = {broker.url}\n")
        transport = open_transport(load_config([], [str(path)]))
        echo = _Echo()
        target = oslo_messaging.Target(topic="scale", server="here", version="1.0")
        server = oslo_messaging.get_rpc_server(transport, target, [echo], executor="threading")
        server.start()
        client = oslo_messaging.get_rpc_client(transport, oslo_messaging.Target(topic="scale", version="1.0"))
        trips = []
        for _ in range(CALLS):
            began = time.perf_counter()
            client.call({}, "answer", text="x" * 500)
            trips.append(time.perf_counter() - began)

        server.stop()
        transport.cleanup()
        message = _published(broker.port)
    return round(sorted(trips)[CALLS // 4] / 2, 6), message


def _published(port: int) -> float:
    """The time that the broker needs for one message of many to a queue that several brokers would share."""
    with amqp.Connection(f"127.0.0.1:{port}") as connection:
        channel = connection.channel()
        channel.queue_declare("scale", durable=True, auto_delete=False, arguments={"x-queue-type": "quorum"})
        message = amqp.Message("x" * 500)
        began = time.perf_counter()
        for _ in range(MESSAGES):
            channel.basic_publish(message, routing_key="scale")
        channel.queue_declare("scale", passive=True)  # is answered when all of them are there
        spent = time.perf_counter() - began
        channel.queue_delete("scale")
    return round(spent / MESSAGES, 6)


def _flush() -> float:
    """The time of an fsync of a page that was appended."""
    times = []
    with tempfile.TemporaryFile(dir=Path.cwd()) as file:
        for _ in range(FLUSHES):
            file.write(b"x" * 8192)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return round(sorted(times)[FLUSHES // 4], 6)


def _api_request() -> float:
    """The processor time of a request in an API process: the check of the token and of the policy, and the JSON.

    Reading the request from its connection is not included.
    """
    with ServedCloud(new_cloud()) as served, tempfile.TemporaryDirectory(prefix="stoker-scale-") as directory:
        world = ThreadedWorld(Path(directory), served)
        try:
            application = make_app(api_config(Path(directory), served), world.client())
            context = world.world.context
            request = _get(f"/v1/{context.project_id}/stacks", context.token or "")
            return round(mean(_processor_time(lambda: application(request(), _started)) for _ in range(REQUESTS)), 6)
        finally:
            world.stop()


def _processor_time(work: Callable[[], Any]) -> float:
    began = time.thread_time()
    b"".join(work())
    return time.thread_time() - began


def _get(path: str, token: str) -> Callable[[], dict[str, Any]]:
    def request() -> dict[str, Any]:
        return {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "SCRIPT_NAME": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8004",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_X_AUTH_TOKEN": token,
            "HTTP_HOST": "127.0.0.1:8004",
            "wsgi.input": BytesIO(),
            "wsgi.errors": sys.stderr,
            "wsgi.url_scheme": "http",
            "wsgi.version": (1, 0),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }

    return request


def _started(status: str, _headers: Any, _error: Any = None) -> None:
    assert status.startswith("200"), status
