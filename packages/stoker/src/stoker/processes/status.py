"""An engine's metrics for Prometheus, and its health check, over HTTP.

Both are served by the engine's own event loop, so that a blocked engine does not answer.
"""

from __future__ import annotations

import asyncio
from collections import Counter as Counted
from collections.abc import Callable, Iterable

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from sqlalchemy.exc import DBAPIError

from stoker.engine.core import Engine
from stoker.processes.progress import progress_of
from stoker.store import claimable
from stoker_foundation.readiness import READY_PATH

_GROUP_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LATE_BEATS = 3
_DATABASE_SECONDS = 1.0
"""Timeout of the database's answer: the other metrics are needed most while the database is unreachable."""


class EngineMetrics:
    """The metrics of one engine. Attach it before the engine is started."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._counts: dict[str, int] = {}
        self.registry = CollectorRegistry()
        self._groups = Histogram(
            "stoker_commit_group_batches",
            "Changes that one transaction committed.",
            buckets=_GROUP_SIZES,
            registry=self.registry,
        )
        self._commits = Histogram(
            "stoker_commit_seconds", "Time that a commit took.", buckets=_SECONDS, registry=self.registry
        )
        self._calls = Counter(
            "stoker_cloud_calls",
            "Calls of OpenStack services; status 0: no response.",
            ("service", "status"),
            registry=self.registry,
        )
        self.registry.register(self)
        engine.services.journal.observe = self._committed
        engine.services.credentials.pool.transport.observe = self._called

    def _committed(self, batches: int, seconds: float) -> None:
        self._groups.observe(batches)
        self._commits.observe(seconds)

    def _called(self, service: str, status: int) -> None:
        self._calls.labels(service, str(status)).inc()

    async def text(self) -> bytes:
        """Return all metrics in Prometheus' format, without those from the database while it does not answer."""
        engine = self._engine
        try:
            async with asyncio.timeout(_DATABASE_SECONDS):
                self._counts = await engine.services.database.read(
                    claimable.count_unfinished, engine.services.clock.now()
                )
        except (TimeoutError, DBAPIError):
            self._counts = {}
        return generate_latest(self.registry)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics that are computed when they are read."""
        engine = self._engine
        now = engine.services.clock.now()
        runs = engine.runs.all()
        shown = [run.values() for run in runs]
        yield _gauge(
            "stoker_operations",
            "Unfinished operations of the cluster: running on a living engine, or waiting for one.",
            {("state",): [((state,), count) for state, count in self._counts.items()]},
        )
        yield _gauge("stoker_engine_operations", "Operations that this engine runs.", {(): [((), len(engine.runs))]})
        waiting = sum(each["waiting"] for each in shown)
        active = sum(each["active"] for each in shown)
        yield _gauge(
            "stoker_engine_steps",
            "Steps in progress on this engine: in a call, or waiting for the next one.",
            {("state",): [(("calling",), active - waiting), (("waiting",), waiting)]},
        )
        ages = [now - run.assignment.claimed_at for run in runs]
        yield _gauge(
            "stoker_claim_age_seconds", "Age of this engine's oldest claim.", {(): [((), max(ages, default=0))]}
        )
        waiting = engine.membership.takeovers.waiting
        yield _gauge("stoker_operations_to_take_over", "Operations that this engine takes over.", {(): [((), waiting)]})
        beat = now - engine.runs.lease.renewed_at
        yield _gauge("stoker_heartbeat_age_seconds", "Time since this engine renewed its claims.", {(): [((), beat)]})
        watch = engine.membership.drift_watch
        yield _gauge(
            "stoker_drift_stacks",
            "Stacks that this engine has compared with the cloud by itself, by the status at the last look.",
            {("status",): [((status,), count) for status, count in Counted(watch.statuses.values()).items()]},
        )
        yield _total("stoker_drift_calls", "Calls of services for these comparisons.", {(): [((), watch.calls)]})
        yield _total(
            "stoker_drift_repairs",
            "Stacks that had drifted and asked for repair, by the result.",
            {("result",): [((result.value,), count) for result, count in watch.repairs.items()]},
        )
        values = engine.services.memory.values
        yield _gauge(
            "stoker_values_bytes",
            "Property values and attributes of operations that run here: open in steps, resting in memory, or in a "
            "temporary file.",
            {
                ("place",): [
                    (("open",), values.open_bytes),
                    (("memory",), values.resting),
                    (("file",), values.file.size),
                ]
            },
        )
        yield _gauge(
            "stoker_steps_waiting_for_memory",
            "Steps that begin when others have released their values ([evaluation] memory).",
            {(): [((), values.waiting)]},
        )
        usage = engine.services.credentials.pool.transport.usage().items()
        yield _gauge(
            "stoker_cloud_calls_in_progress",
            "Calls of OpenStack services that have no response yet, or that wait for a slot.",
            {
                ("service", "state"): [
                    sample
                    for service, each in usage
                    for sample in (((service, "sent"), each.in_progress), ((service, "waiting"), each.waiting))
                ]
            },
        )
        yield _gauge(
            "stoker_cloud_limited_projects",
            "Projects that make fewer concurrent calls of a service since it has refused some.",
            {("service",): [((service,), each.limited_projects) for service, each in usage]},
        )
        yield _gauge(
            "stoker_commit_queue", "Changes that wait to be committed.", {(): [((), engine.services.journal.waiting)]}
        )


def _total(name: str, text: str, samples: dict[tuple[str, ...], list[tuple[tuple[str, ...], float]]]) -> Metric:
    ((labels, values),) = samples.items()
    family = CounterMetricFamily(name, text, labels=labels)
    for texts, value in values:
        family.add_metric(texts, value)
    return family


def _gauge(name: str, text: str, samples: dict[tuple[str, ...], list[tuple[tuple[str, ...], float]]]) -> Metric:
    ((labels, values),) = samples.items()
    family = GaugeMetricFamily(name, text, labels=labels)
    for texts, value in values:
        family.add_metric(texts, value)
    return family


def problems(engine: Engine) -> list[str]:
    """Return what prevents the engine from making progress; empty when it is healthy."""
    services, settings = engine.services, engine.services.settings
    late = services.clock.now() - engine.runs.lease.renewed_at
    found = []
    if late > max(_LATE_BEATS * settings.heartbeat_seconds, settings.lease_seconds):
        found.append(
            f"the last heartbeat was {late:.0f} seconds ago, and {services.journal.waiting} changes wait for the "
            "database"
        )
    return found


_ENGINE = web.AppKey("engine", Engine)
_METRICS = web.AppKey("metrics", EngineMetrics)
_RECEIVES_CALLS: web.AppKey[Callable[[], bool]] = web.AppKey("receives_calls")


async def _metrics(request: web.Request) -> web.Response:
    return web.Response(body=await request.app[_METRICS].text(), headers={"Content-Type": "text/plain; version=0.0.4"})


async def _health(request: web.Request) -> web.Response:
    found = problems(request.app[_ENGINE])
    body = {"healthy": not found, "problems": found, "receives_calls": request.app[_RECEIVES_CALLS]()}
    return web.json_response(body, status=503 if found else 200)


async def _readiness(request: web.Request) -> web.Response:
    ready = request.app[_RECEIVES_CALLS]() and not problems(request.app[_ENGINE])
    body = {**progress_of(request.app[_ENGINE]), "ready": ready}
    return web.json_response(body, status=200 if ready else 503)


class StatusServer:
    """Serves `/metrics`, `/healthcheck` and `/readyz` of an engine."""

    def __init__(self, engine: Engine, metrics: EngineMetrics, receives_calls: Callable[[], bool]) -> None:
        application = web.Application()
        application[_ENGINE], application[_METRICS] = engine, metrics
        application[_RECEIVES_CALLS] = receives_calls
        application.add_routes(
            [web.get("/metrics", _metrics), web.get("/healthcheck", _health), web.get(READY_PATH, _readiness)]
        )
        self._runner = web.AppRunner(application, access_log=None)

    async def start(self, host: str, port: int) -> None:
        """Start to serve. Raises OSError when the port is in use."""
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()

    async def stop(self) -> None:
        """Stop serving."""
        await self._runner.cleanup()
