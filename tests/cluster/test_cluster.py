"""Engines that are killed, paused and stopped, and a broker and a database that go away: work goes on, once."""

from __future__ import annotations

import signal

import pytest
from running_cluster import LEASE, Cluster

from servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("servers")]

LAYERS = 4
MEMBER = """
heat_template_version: 2021-04-16
parameters:
  name: {type: string}
resources:
  wait: {type: OS::Heat::TestResource, properties: {action_wait_secs: {create: 1}}}
  net: {type: OS::Neutron::Net, depends_on: wait, properties: {name: {get_param: name}}}
"""


def layered(name: str) -> str:
    """Networks, each made a second after the one before."""
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


def begin(cluster: Cluster, prefix: str, number: int) -> dict[str, str]:
    """Start the creation of stacks; ids by name."""
    return {name: cluster.create(name, layered(name)) for name in (f"{prefix}{index}" for index in range(number))}


def complete(cluster: Cluster, made: dict[str, str]) -> None:
    """Every stack comes to its end, and each of its networks is there once."""
    cluster.settle(*made)
    networks = cluster.networks()
    expected = {f"net-{name}-{layer}" for name in made for layer in range(LAYERS)}
    prefixes = tuple(f"net-{name}-" for name in made)
    found = {name: count for name, count in networks.items() if name.startswith(prefixes)}
    assert found == dict.fromkeys(expected, 1)
    assert not any(cluster.unfinished(identifier) for identifier in made.values())


def remove(cluster: Cluster, made: dict[str, str]) -> None:
    for name, identifier in made.items():
        assert cluster.call("DELETE", f"/stacks/{name}/{identifier}")[0] == 204
    wait_until(lambda: all(cluster.call("GET", f"/stacks/{name}")[0] == 404 for name in made), "all is deleted")


def test_nested_stacks_are_spread_over_engines(cluster: Cluster) -> None:
    cluster.engines(3)
    made = {"spread": cluster.create("spread", grouped("spread", 8), {"member.yaml": MEMBER})}
    cluster.settle("spread")
    owners = {operation.owner for operation in cluster.operations(made["spread"])}
    assert len(owners) > 1
    assert sum(name.startswith("net-spread-") for name in cluster.networks()) == 8
    remove(cluster, made)


def test_killing_one_of_three_engines_loses_and_doubles_nothing(cluster: Cluster) -> None:
    engines = cluster.engines(3)
    made = begin(cluster, "kill", 6)
    wait_until(lambda: cluster.networks(), "the first network")
    victim = max(engines, key=cluster.owned_by)
    assert cluster.owned_by(victim)
    victim.signal(signal.SIGKILL)
    victim.ended()
    complete(cluster, made)
    assert victim.host not in cluster.up()
    remove(cluster, made)


def test_an_engine_paused_past_its_lease_does_no_harm(cluster: Cluster) -> None:
    engines = cluster.engines(3)
    made = begin(cluster, "pause", 6)
    wait_until(lambda: cluster.networks(), "the first network")
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
    remove(cluster, made)


def test_an_engine_that_is_stopped_hands_its_work_over_at_once(cluster: Cluster) -> None:
    engines = cluster.engines(2)
    made = begin(cluster, "stop", 4)
    leaving = max(engines, key=cluster.owned_by)
    assert cluster.owned_by(leaving)
    newcomer = cluster.start_engine()
    cluster.running.append(newcomer)
    leaving.signal(signal.SIGTERM)
    assert leaving.ended() == 0
    assert not cluster.owned_by(leaving)
    complete(cluster, made)
    assert leaving.host not in cluster.up()
    remove(cluster, made)


def test_a_broker_that_restarts_delays_nothing_that_runs(cluster: Cluster, rabbitmq) -> None:
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
    remove(cluster, made | nested)


def test_a_database_that_goes_away_pauses_the_work(cluster: Cluster, postgresql) -> None:
    engines = cluster.engines(2)
    made = begin(cluster, "database", 4)
    wait_until(lambda: cluster.networks(), "the first network")
    postgresql.stop()
    for engine in engines:
        wait_until(lambda engine=engine: "trying again" in engine.said(), "the engine notices")
    wait_until(lambda: any(engine.status("/healthcheck")[0] == 503 for engine in engines), "an engine says it is stuck")
    postgresql.start()
    complete(cluster, made)
    assert [engine.status("/healthcheck")[0] for engine in engines] == [200, 200]
    remove(cluster, made)
