"""Notifications on a real broker, for whoever listens on the operator's bus."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg

from stoker.rpc.messaging import register_options
from testing.running_cluster import Cluster
from testing.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

TEMPLATE = """
heat_template_version: 2021-04-16
resources:
  wait: {type: OS::Heat::TestResource, properties: {action_wait_secs: {create: 2}}}
"""


class Listener:
    """What ceilometer and its like do: take notifications from the topic `notifications`."""

    def __init__(self) -> None:
        self.received: list[tuple[str, str, str]] = []

    def info(self, _context: Any, publisher: str, event_type: str, payload: Any, _metadata: Any) -> None:
        self.received.append((publisher, event_type, payload["stack_name"]))

    error = info

    def of(self, stack: str) -> list[str]:
        return [event_type for _, event_type, name in self.received if name == stack]


@pytest.fixture
def listener(cluster: Cluster) -> Iterator[Listener]:
    config = cfg.ConfigOpts()
    register_options(config)
    config([])
    config.set_override("transport_url", cluster.broker)
    transport = oslo_messaging.get_notification_transport(config)
    listener = Listener()
    target = oslo_messaging.Target(topic="notifications", exchange=cluster.exchange)
    server = oslo_messaging.get_notification_listener(transport, [target], [listener], executor="threading")
    server.start()
    yield listener
    server.stop()
    server.wait()
    transport.cleanup()


def test_notifications_are_sent_after_engine_is_killed(cluster: Cluster, listener: Listener) -> None:
    cluster.engines(1)
    cluster.create("notified", TEMPLATE)
    wait_until(lambda: listener.of("notified") == ["orchestration.stack.create.start"], "the start is notified")
    (killed,) = cluster.running
    killed.signal(signal.SIGKILL)
    killed.ended()
    cluster.engines(1)
    cluster.settle("notified")
    wait_until(lambda: "orchestration.stack.create.end" in listener.of("notified"), "the end is notified")
    publishers = {publisher for publisher, _, name in listener.received if name == "notified"}
    assert publishers == {f"orchestration.{engine.host}" for engine in (killed, *cluster.running)}
