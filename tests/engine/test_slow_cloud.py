"""Stacks in a cloud whose services take long, limit the rate of calls, or fail for a minute; in virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from stoker.testing.sandbox import Sandbox

HEADER = "heat_template_version: 2021-04-16\nresources:\n"
SERVER = """
  port{number}:
    type: OS::Neutron::Port
    properties: {{network: wide}}
  server{number}:
    type: OS::Nova::Server
    properties: {{image: cirros, flavor: m1.small, networks: [{{port: {{get_resource: port{number}}}}}]}}
"""
SERVICES = ("compute", "image", "identity", "network")


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        made.cloud.add_network("wide", cidr="10.0.0.0/16")
        made.cloud.limit("compute", {"instances": -1, "cores": -1, "ram": -1})
        made.cloud.limit("network", {"port": -1})
        yield made


def delayed(sandbox: Sandbox, seconds: float) -> None:
    for service in SERVICES:
        sandbox.cloud.add_fault(f"* /{service}/*", "delay", seconds=seconds)


def deployed(sandbox: Sandbox, name: str, servers: int, directory: Path) -> float:
    """Create a stack of servers, each with its port; return the seconds that it took."""
    path = directory / f"{name}.yaml"
    path.write_text(HEADER + "".join(SERVER.format(number=number) for number in range(servers)))
    began = sandbox.clock.now()
    stack = sandbox.deploy(name, path)
    assert stack.state == "CREATE_COMPLETE", stack.reason
    return sandbox.clock.now() - began


def statuses(sandbox: Sandbox) -> Counter[int | None]:
    return Counter(call.status for call in sandbox.calls)


def test_200_servers_take_as_long_as_one(sandbox: Sandbox, tmp_path: Path) -> None:
    delayed(sandbox, 20.0)
    one = deployed(sandbox, "one", 1, tmp_path)
    assert one > 100.0
    assert deployed(sandbox, "many", 200, tmp_path) < one * 1.2


def test_a_rate_limit_costs_few_refusals(sandbox: Sandbox, tmp_path: Path) -> None:
    for service in ("compute", "network"):
        sandbox.cloud.add_fault(f"* /{service}/*", "rate_limit", seconds=1, allowed=10)
    delayed(sandbox, 0.2)
    assert deployed(sandbox, "web", 100, tmp_path) < 60.0  # ten seconds for each service at this rate, and the start
    assert 0 < statuses(sandbox)[429] < 150


def test_an_outage_delays_all_servers_as_much_as_one(sandbox: Sandbox, tmp_path: Path) -> None:
    """Each creation that got a 503 searches for its server: the searches do not wait for each other."""

    def outage() -> None:
        sandbox.cloud.clear_faults()
        sandbox.cloud.add_fault("* /compute/*", "fail", status=503)
        sandbox.clock.call_later(60.0, end)

    def end() -> None:
        sandbox.cloud.clear_faults()
        delayed(sandbox, 5.0)

    took = {}
    for name, servers in (("one", 1), ("many", 60)):
        delayed(sandbox, 5.0)
        sandbox.clock.call_later(60.0, outage)
        took[name] = deployed(sandbox, name, servers, tmp_path)
        sandbox.cloud.clear_faults()
    assert statuses(sandbox)[503] > 60
    assert took["many"] < took["one"] * 2.0, took
