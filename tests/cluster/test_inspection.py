"""Commands and metrics that show a running cluster, purges, and two releases on one database."""

from __future__ import annotations

import json
import signal

import pytest
from sqlalchemy import text

from stoker.store.schema import VERSION_TABLE
from testing.running_cluster import Cluster
from testing.servers import wait_until
from tests.cluster.test_cluster import await_first_network, begin, complete

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

WAITING_TEMPLATE = """
heat_template_version: 2021-04-16
resources:
  held: {type: OS::Heat::TestResource, properties: {action_wait_secs: {create: 600}}}
"""


def test_metrics_and_logs_show_operations(cluster: Cluster) -> None:
    engines = cluster.engines(2)
    cluster.create("inspected", WAITING_TEMPLATE)
    wait_until(lambda: cluster.command("operation", "list", "-f", "json") != "[]\n", "the operation is listed")
    (row,) = json.loads(cluster.command("operation", "list", "-f", "json"))
    assert (row["stack"], row["action"], row["status"]) == ("inspected", "CREATE", "RUNNING")
    assert row["engine"] in {engine.host for engine in engines}
    owner = next(engine for engine in engines if engine.host == row["engine"])

    def steps() -> list[str]:
        shown = json.loads(cluster.command("operation", "show", row["id"], "-f", "json"))
        return [step["resource"] for step in shown["steps"]]

    wait_until(lambda: steps() == ["held"], "the step is shown")
    listed = json.loads(cluster.command("service", "list", "-f", "json"))
    assert {item["host"] for item in listed if item["status"] == "up"} == {engine.host for engine in engines}

    wait_until(lambda: 'stoker_engine_steps{state="waiting"} 1.0' in owner.status("/metrics")[1], "a step waits")
    metrics = owner.status("/metrics")[1]
    assert 'stoker_operations{state="running"} 1.0' in metrics
    assert "stoker_commit_seconds_count" in metrics
    assert json.loads(owner.status("/healthcheck")[1]) == {"healthy": True, "problems": [], "receives_calls": True}

    owner.signal(signal.SIGUSR2)
    wait_until(lambda: "Guru Meditation" in owner.output() and row["id"] in owner.output(), "the report is written")
    assert f"[DEFAULT] host = {owner.host}\n" in owner.output()
    assert "k" * 32 not in owner.output()
    cluster.remove("inspected")


def test_old_deleted_stacks_are_purged(cluster: Cluster) -> None:
    cluster.engines(1)
    made = begin(cluster, "purged", 2)
    cluster.remove(*made)
    path = "/stacks/{}/{}".format(*next(iter(made.items())))
    assert "Removed 0 deleted stacks" in cluster.command("db", "purge", "1")
    assert cluster.call("GET", path)[0] == 200
    assert "deleted stacks" in cluster.command("db", "purge", "0", "-g", "seconds")
    assert cluster.call("GET", path)[0] == 404
    with cluster.database.engine.connect() as connection:
        for table in ("resources", "events", "operations"):
            where = ", ".join(f"'{identifier}'" for identifier in made.values())
            query = text(f"SELECT count(*) FROM {table} WHERE stack_id IN ({where})")
            assert connection.execute(query).scalar() == 0


def test_on_mariadb_a_killed_engine_is_replaced_by_one_that_finds_the_tables_of_a_later_release(
    mariadb_cluster: Cluster,
) -> None:
    cluster = mariadb_cluster
    engines = cluster.engines(2)
    with cluster.database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE stacks ADD COLUMN added_later INTEGER"))
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    assert "a later release" in cluster.command("db", "check")
    made = begin(cluster, "maria", 4)
    await_first_network(cluster, made)
    victim = max(engines, key=cluster.owned_by)
    assert cluster.owned_by(victim)
    victim.signal(signal.SIGKILL)
    victim.ended()
    cluster.engines(2)
    complete(cluster, made)
    cluster.remove(*made)
