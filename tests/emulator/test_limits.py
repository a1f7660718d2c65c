"""The limits of projects, which most services share."""

from __future__ import annotations

import pytest

from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.testing import ServedCloud


@pytest.mark.parametrize(
    ("requested", "exceeded"),
    [
        ({"containers": 40, "cpu": 20}, {}),
        ({"cpu": 20.5, "disk": 1, "containers": 41}, {"cpu": 20, "containers": 40}),
        ({"disk": 0}, {}),
        ({"disk": -1}, {}),
        ({"disk": 1}, {"disk": 100}),
        ({"memory": 10**9}, {}),
    ],
)
def test_exceeded_limits(served: ServedCloud, requested: dict[str, float], exceeded: dict[str, int]) -> None:
    quotas = served.cloud.of(SingleContainers).quotas
    quotas.set_limits("some", {"memory": -1})
    used = {"containers": 0, "cpu": 0, "memory": 0, "disk": 0 if "cpu" in requested else 100}

    assert quotas.exceeded("some", requested, used) == exceeded
