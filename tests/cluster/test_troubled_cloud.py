"""Failures of a cloud delay operations without changing their results; a rejected request is an error."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from testing.running_cluster import Cluster
from tests.cluster.test_cluster import begin, complete

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

NETWORKS = "POST /network/v2.0/networks"
TROUBLE: list[dict[str, Any]] = [
    {"do": "rate_limit", "seconds": 0.2},
    {"do": "fail", "status": 503},
    {"do": "fail", "status": 502},
    {"do": "drop"},
    {"do": "act_and_drop"},
    {"do": "succeed_but_fail", "status": 503},
    {"do": "succeed_but_fail", "status": 500},
]
REFUSED = """
heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net, properties: {name: net-refused}}
"""


@pytest.fixture
def faults(cluster: Cluster) -> Iterator[Any]:
    """Adds a rule of the emulated cloud."""
    served = cluster.served

    def add(**rule: Any) -> Fault:
        return served.do(partial(served.cloud.faults.add, Fault(on=NETWORKS, **rule)))

    yield add
    served.do(served.cloud.faults.clear)


def test_transient_cloud_errors_only_delay_operations(cluster: Cluster, faults: Any) -> None:
    cluster.engines(2)
    rules = [faults(times=2, **rule) for rule in TROUBLE]
    made = begin(cluster, "trouble", 4)
    complete(cluster, made)
    assert [rule.hits for rule in rules] == [2] * len(TROUBLE)
    cluster.remove(*made)


def test_a_refusal_fails_the_resource_at_once_with_the_services_words(cluster: Cluster, faults: Any) -> None:
    cluster.engines(2)
    rule = faults(do="fail", status=403, message="This project is out of favour.")
    cluster.create("refused", REFUSED)
    cluster.settle("refused", state="CREATE_FAILED")
    assert "This project is out of favour." in cluster.stack("refused")["stack_status_reason"]
    assert rule.hits == 1
    cluster.remove("refused")
