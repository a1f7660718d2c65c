from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from tests.cfn.query_service import Keys, QueryService


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QueryService]:
    with (
        ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served,
        QueryService(tmp_path_factory.mktemp("query"), served) as world,
    ):
        yield world


@pytest.fixture(scope="module")
def keys(world: QueryService) -> Keys:
    return world.keys()


@pytest.fixture(scope="module")
def boto(world: QueryService, keys: Keys) -> Any:
    return world.client(keys)


@pytest.fixture
def clean(boto: Any) -> Iterator[None]:
    """Leaves no stack behind."""
    yield
    for page in boto.get_paginator("describe_stacks").paginate():
        for stack in page["Stacks"]:
            name = stack["StackName"]
            boto.update_termination_protection(StackName=name, EnableTerminationProtection=False)
            boto.delete_stack(StackName=name)
            boto.get_waiter("stack_delete_complete").wait(
                StackName=stack["StackId"], WaiterConfig={"Delay": 0.05, "MaxAttempts": 1000}
            )
