"""Requests that reach an engine which does not run the stack: hooks, signals, cancelling, superseding."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from testing.running_cluster import Cluster
from testing.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

NUMBER = 6
HELD = """
heat_template_version: 2021-04-16
resources:
  held: {type: OS::Heat::TestResource, properties: {value: made}}
"""
SLOW = HELD.replace("value: made", "value: made, action_wait_secs: {create: 600}")
HOOK = {"resource_registry": {"resources": {"held": {"hooks": "pre-create"}}}}


@pytest.fixture(autouse=True)
def engines(cluster: Cluster) -> None:
    cluster.engines(2)


def each(cluster: Cluster, names: list[str]) -> dict[str, str]:
    return {name: cluster.stack(name)["id"] for name in names}


def resource(cluster: Cluster, name: str, identifier: str) -> dict[str, Any]:
    status, answer = cluster.call("GET", f"/stacks/{name}/{identifier}/resources/held")
    return answer["resource"] if status == 200 else {}


def test_hooks_are_cleared_through_any_engine(cluster: Cluster) -> None:
    made = {name: cluster.create(name, HELD, environment=HOOK) for name in (f"hook{n}" for n in range(NUMBER))}
    for name, identifier in made.items():
        wait_until(
            partial(_paused, cluster, name, identifier),
            f"{name} is held",
        )
    for name, identifier in made.items():
        status, answer = cluster.call(
            "POST", f"/stacks/{name}/{identifier}/resources/held/signal", {"unset_hook": "pre-create"}
        )
        assert status in (200, 204), answer
    cluster.settle(*made)


def _paused(cluster: Cluster, name: str, identifier: str) -> bool:
    reason = resource(cluster, name, identifier).get("resource_status_reason") or ""
    return "paused" in reason or _held(cluster, name, identifier)


def _held(cluster: Cluster, name: str, identifier: str) -> bool:
    events = cluster.call("GET", f"/stacks/{name}/{identifier}/resources/held/events")[1]["events"]
    return any("paused until Hook" in event["resource_status_reason"] for event in events)


def _is_deleted(cluster: Cluster, name: str) -> bool:
    return cluster.call("GET", f"/stacks/{name}")[0] == 404


def test_operation_on_other_engine_is_cancelled(cluster: Cluster) -> None:
    made = {name: cluster.create(name, HELD, environment=HOOK) for name in (f"cancel{n}" for n in range(NUMBER))}
    for name, identifier in made.items():
        wait_until(partial(_held, cluster, name, identifier), f"{name} is held")
        status, answer = cluster.call("POST", f"/stacks/{name}/{identifier}/actions", {"cancel_without_rollback": None})
        assert status == 200, answer
    cluster.settle(*made, state="CREATE_FAILED")
    wait_until(lambda: not any(cluster.unfinished(identifier) for identifier in made.values()), "nothing runs")


def test_operation_on_other_engine_is_superseded_by_update_and_deletion(cluster: Cluster) -> None:
    made = {name: cluster.create(name, SLOW) for name in (f"way{n}" for n in range(NUMBER))}
    for name, identifier in made.items():
        wait_until(partial(resource, cluster, name, identifier), f"{name} has begun")
    for name, identifier in list(made.items())[: NUMBER // 2]:
        status, answer = cluster.call("DELETE", f"/stacks/{name}/{identifier}")
        assert status == 204, answer
        made.pop(name)
        wait_until(partial(_is_deleted, cluster, name), f"{name} is gone")
    for name, identifier in made.items():
        status, answer = cluster.call("PUT", f"/stacks/{name}/{identifier}", {"template": EMPTY})
        assert status == 202, answer
    cluster.settle(*made, state="UPDATE_COMPLETE")
    operations = cluster.operations(*made.values())
    assert {operation.status for operation in operations} == {"SUPERSEDED", "COMPLETE"}


EMPTY = """
heat_template_version: 2021-04-16
resources:
  other: {type: OS::Heat::TestResource}
"""
