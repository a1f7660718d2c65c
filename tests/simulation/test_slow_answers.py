"""Every service, Keystone included, takes ten seconds for each answer: no request waits longer than its sender.

The time is that of the simulation, so that what follows one after the other is counted, not the speed of the machine.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest

from stoker.testing.sandbox import empty_database
from stoker.testing.simulated_loop import SimulatedLoop
from stoker.testing.virtual_loop import Arguments, Result
from testing.simulation.lost_answers import REF, FaultTestbed, SingleFaultInjector

SECONDS = 10.0
LONGEST = 54.0
"""When a request is answered at the latest, of the default `rpc_response_timeout` of 60 seconds."""
NUMBER = 12


class ConstantLatency(SingleFaultInjector):
    """A network with constant latency."""

    def latency(self) -> float:
        return SECONDS / 2


class SlowLoginLoop(SimulatedLoop):
    """Logins, which are the only work of the default threads, take as long as any other request."""

    def run_in_executor(
        self, executor: Executor | None, work: Callable[[*Arguments], Result], *arguments: *Arguments
    ) -> asyncio.Future[Result]:
        self._threads = (lambda: SECONDS) if executor is None else (lambda: 0.0)
        return super().run_in_executor(executor, work, *arguments)


class DistantCloudTestbed(FaultTestbed):
    """A cloud at the end of the network, and an engine that has not asked it anything yet."""

    injector_class = ConstantLatency
    loop_class = SlowLoginLoop

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._open())

    async def _open(self) -> None:
        self.cloud.start()
        await self.engines.start()

    def seconds(self, method: str, **arguments: Any) -> float:
        """How long the request of a user with a new token takes."""
        began = self.loop.time()
        self.loop.run_until_complete(self.engines.call(method, **arguments))
        return self.loop.time() - began


@pytest.fixture
def testbed() -> Iterator[DistantCloudTestbed]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "stoker.db"
        path.write_bytes(empty_database())
        yield DistantCloudTestbed(path)
    asyncio.set_event_loop(None)


def template(version: str) -> dict[str, Any]:
    """Return a template with dozens of values that services check."""
    resources: dict[str, Any] = {"handle": {"type": "OS::Heat::WaitConditionHandle"}}
    for number in range(NUMBER):
        resources |= {
            f"server{number}": {
                "type": "OS::Nova::Server",
                "properties": {
                    "name": f"{version}-{number}",
                    "flavor": ("m1.tiny", "m1.small", "1")[number % 3],
                    "image": ("cirros", "cirros-0.6.2-x86_64-disk")[number % 2],
                    "networks": [{"network": "private"}],
                },
            },
            f"volume{number}": {
                "type": "OS::Cinder::Volume",
                "properties": {"size": 1, "volume_type": "lvmdriver-1", "description": version},
            },
            f"port{number}": {
                "type": "OS::Neutron::Port",
                "properties": {"network": "private", "security_groups": ["default"], "name": version},
            },
            f"address{number}": {"type": "OS::Neutron::FloatingIP", "properties": {"floating_network": "public"}},
        }
    resources["policy"] = {"type": "OS::Neutron::QoSPolicy", "properties": {"name": version}}
    return {"heat_template_version": "2021-04-16", "resources": resources}


def test_requests_of_a_new_user_on_a_new_engine_are_answered_in_time(testbed: DistantCloudTestbed) -> None:
    """The first one also creates the trust of the user's stacks."""
    assert SECONDS < testbed.seconds("stack_create", name=REF["name"], template=template("one")) < LONGEST
    assert testbed.seconds("stack_update_preview", ref=REF, template=template("two"), show_nested=True) < LONGEST
    assert testbed.seconds("stack_update", ref=REF, template=template("two")) < LONGEST


@pytest.mark.parametrize(("method", "more"), [("stack_preview", {"name": "other"}), ("validate_template", {})])
def test_the_first_request_that_only_checks_is_answered_in_time(
    testbed: DistantCloudTestbed, method: str, more: dict[str, Any]
) -> None:
    assert SECONDS < testbed.seconds(method, template=template("one"), **more) < LONGEST
