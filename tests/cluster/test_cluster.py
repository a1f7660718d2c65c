"""Engines, a broker and a database that stop: operations are resumed, and nothing is done twice."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from testing.running_cluster import LEASE, NEXT_VERSION, Cluster, Engine, next_version
from testing.servers import PostgreSQL, RabbitMQ, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

LAYERS = 4
LONG_LEASE = 3600.0
TAKEN_WITHIN = 15.0
"""Seconds after a lease's end in which the work of a dead engine is to be complete."""
MEMBER = """
heat_template_version: 2021-04-16
parameters:
  name: {type: string}
resources:
  wait: {type: OS::Heat::TestResource, properties: {action_wait_secs: {create: 1}}}
  net: {type: OS::Neutron::Net, depends_on: wait, properties: {name: {get_param: name}}}
"""


def layered(name: str, words: int = 0) -> str:
    """A network and `words` other resources in each of several layers, each made a second after the one before."""
    lines = ["heat_template_version: 2021-04-16", "resources:"]
    for layer in range(LAYERS):
        needs = f", depends_on: net{layer - 1}" if layer else ""
        lines.append(
            f"  wait{layer}: {{type: OS::Heat::TestResource, properties: {{action_wait_secs: {{create: 1}}}}{needs}}}"
        )
        lines.append(
            f"  net{layer}: {{type: OS::Neutron::Net, depends_on: wait{layer}, "
            f"properties: {{name: net-{name}-{layer}}}}}"
        )
        lines += [f"  word{layer}x{n}: {{type: OS::Heat::RandomString, depends_on: net{layer}}}" for n in range(words)]
    return "\n".join(lines)


def grouped(name: str, count: int) -> str:
    return f"""
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: {count}
      resource_def: {{type: member.yaml, properties: {{name: net-{name}-%index%}}}}
"""


def begin(cluster: Cluster, prefix: str, number: int, words: int = 0) -> dict[str, str]:
    """Start the creation of stacks; return their IDs by name."""
    names = [f"{prefix}{index}" for index in range(number)]
    return {name: cluster.create(name, layered(name, words)) for name in names}


def networks(cluster: Cluster, made: dict[str, str]) -> dict[str, int]:
    """How often each of these stacks' networks is there, by name."""
    prefixes = tuple(f"net-{name}-" for name in made)
    return {name: count for name, count in cluster.networks().items() if name.startswith(prefixes)}


def await_first_network(cluster: Cluster, made: dict[str, str]) -> None:
    wait_until(lambda: networks(cluster, made), "the first network")


def complete(cluster: Cluster, made: dict[str, str]) -> None:
    """Every stack comes to its end, and each of its networks is there once."""
    cluster.settle(*made)
    assert networks(cluster, made) == {f"net-{name}-{layer}": 1 for name in made for layer in range(LAYERS)}
    assert not any(cluster.unfinished(identifier) for identifier in made.values())


def test_nested_stacks_are_spread_over_engines(cluster: Cluster) -> None:
    cluster.engines(3)
    identifier = cluster.create("spread", grouped("spread", 8), {"member.yaml": MEMBER})
    cluster.settle("spread")
    owners = {operation.owner for operation in cluster.operations(identifier)}
    assert len(owners) > 1
    assert len(networks(cluster, {"spread": identifier})) == 8
    cluster.remove("spread")


def test_killed_engine_loses_and_duplicates_nothing(cluster: Cluster) -> None:
    """20 stacks of 52 resources. What the work itself takes, on a machine as busy as it is, comes on top."""
    engines = cluster.engines(3)
    began = time.monotonic()
    made = begin(cluster, "kill", 20, words=11)
    await_first_network(cluster, made)
    victim = max(engines, key=cluster.owned_by)
    assert cluster.owned_by(victim)
    victim.signal(signal.SIGKILL)
    killed = time.monotonic()
    victim.ended()
    complete(cluster, made)
    needed = LAYERS * (killed - began)
    assert time.monotonic() - killed < LEASE + TAKEN_WITHIN + needed
    assert victim.host not in cluster.up()
    cluster.remove(*made)


def test_engine_paused_past_its_lease_writes_nothing(cluster: Cluster) -> None:
    engines = cluster.engines(3)
    made = begin(cluster, "pause", 6)
    await_first_network(cluster, made)
    paused = max(engines, key=cluster.owned_by)
    owned = cluster.owned_by(paused)
    assert owned
    paused.signal(signal.SIGSTOP)
    try:
        wait_until(lambda: not cluster.owned_by(paused), "others take over", LEASE + 60)
    finally:
        paused.signal(signal.SIGCONT)
    complete(cluster, made)
    taken = [operation for operation in cluster.operations(*made.values()) if operation.epoch > 1]
    assert len(taken) >= owned
    wait_until(lambda: paused.host in cluster.up(), "the paused engine takes part again")
    cluster.remove(*made)


def test_stopped_engine_hands_over_to_engine_of_next_version(cluster: Cluster) -> None:
    """No lease ends during this test: what is taken over has been handed over."""
    cluster.engines(0)
    leaving = cluster.start_engine(LONG_LEASE)
    cluster.await_engines()
    made = begin(cluster, "stop", 4)
    assert cluster.owned_by(leaving) == 4
    newcomer = cluster.start_engine(LONG_LEASE, next_version)
    wait_until(lambda: newcomer.host in cluster.up(), "the newcomer is up")
    leaving.signal(signal.SIGTERM)
    assert leaving.ended() == 0
    assert not cluster.owned_by(leaving)
    complete(cluster, made)
    assert cluster.up() == {newcomer.host}
    assert NEXT_VERSION in cluster.command("service", "list")
    cluster.remove(*made)
    cluster.engines(0)


def test_broker_restart_does_not_delay_running_operations(cluster: Cluster, rabbitmq: RabbitMQ) -> None:
    cluster.engines(2)
    made = begin(cluster, "broker", 3)
    nested = {"nested": cluster.create("nested", grouped("nested", 4), {"member.yaml": MEMBER})}
    rabbitmq.stop()
    names = [f"net-{name}-{layer}" for name in made for layer in range(LAYERS)]
    wait_until(lambda: set(names) <= set(cluster.networks()), "the engines go on without a broker")
    rabbitmq.start()
    wait_until(lambda: cluster.call("GET", "/stacks")[0] == 200, "the API finds engines again")
    complete(cluster, made)
    cluster.settle("nested")
    cluster.remove(*made, *nested)


def test_engine_hands_over_without_a_broker(cluster: Cluster, rabbitmq: RabbitMQ) -> None:
    """What it hands over is found by looking: no lease ends during this test."""
    cluster.engines(0)
    leaving = cluster.start_engine(LONG_LEASE)
    cluster.await_engines()
    made = begin(cluster, "away", 2)
    rabbitmq.stop()
    try:
        leaving.signal(signal.SIGTERM)
        assert leaving.ended() == 0
        assert not cluster.owned_by(leaving)
    finally:
        rabbitmq.start()
    staying = cluster.start_engine(LONG_LEASE)
    complete(cluster, made)
    assert cluster.up() == {staying.host}
    wait_until(lambda: cluster.call("GET", "/stacks")[0] == 200, "the API finds the engine")
    cluster.remove(*made)
    cluster.engines(0)


def heartbeat_age(engine: Engine) -> float:
    """As the engine's metrics tell it, which they do in any case."""
    lines = engine.status("/metrics")[1].splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("stoker_heartbeat_age_seconds "))


def has_been_silent(engine: Engine) -> bool:
    """Whether ten seconds have passed since the engine's last heartbeat."""
    return heartbeat_age(engine) > 10


def test_unavailable_database_pauses_operations(cluster: Cluster, postgresql: PostgreSQL) -> None:
    engines = cluster.engines(2)
    made = begin(cluster, "database", 4)
    await_first_network(cluster, made)
    postgresql.stop()
    for engine in engines:
        wait_until(partial(has_been_silent, engine), "the engine has tried for ten seconds")
        assert 0 < engine.output().count("cannot be written, retrying") < 4
    wait_until(lambda: any(engine.status("/healthcheck")[0] == 503 for engine in engines), "an engine says it is stuck")
    postgresql.start()
    complete(cluster, made)
    assert [engine.status("/healthcheck")[0] for engine in engines] == [200, 200]
    assert all("The database can be written again" in engine.output() for engine in engines)
    cluster.remove(*made)


def test_an_engine_that_is_stopped_leaves_no_call_without_an_answer(cluster: Cluster) -> None:
    """Clients ask all the time; what the broker gives to the engine at its last moment is answered too."""
    leaving, _ = cluster.engines(2)
    answers: list[int] = []
    enough = threading.Event()

    def ask() -> None:
        while not enough.is_set():
            answers.append(cluster.call("GET", "/stacks")[0])

    with ThreadPoolExecutor() as clients:
        try:
            asking = [clients.submit(ask) for _ in range(4)]
            wait_until(lambda: len(answers) > 100, "the clients have got going")
            output_before = len(leaving.output())
            leaving.signal(signal.SIGTERM)
            assert leaving.ended() == 0
        finally:
            enough.set()
        for each in asking:
            each.result()
    assert set(answers) == {200}
    assert "amqp" not in leaving.output()[output_before:]
