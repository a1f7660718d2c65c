"""Failures that release 0.1.0 has recorded in sentences are read as data by this one, and only those."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import select, update

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.store import schema
from stoker.store.database import Database
from stoker.store.records import FAILED, IN_PROGRESS, RUNNING
from stoker.store.tables import operations, resources, stacks
from testing.backends import BACKENDS
from testing.harness import World
from testing.tables import with_tables
from tests.engine.test_nested import FILES, group

REF = {"name": "tree", "id": None}
SENTENCE = "Resource CREATE failed: Forbidden: resources[0].resources.leaf: No: resources.b: is locked"
"""What release 0.1.0 has written about the operation on the group's nested stack."""

BEFORE = "0008"
"""The revision before those that record failures as data. Release 0.1.0 is upgraded in test_released_states.py."""

_numbers = itertools.count()


@pytest.fixture(params=BACKENDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'stoker.db'}"
    return with_tables(request.getfixturevalue(request.param), f"failures{next(_numbers)}")


def interrupt(url: str) -> None:
    """Let the operation on the root be interrupted, before it has noticed the failure of the nested stack."""
    database = Database(url)
    with database.engine.begin() as connection:
        root = select(stacks.c.id).where(stacks.c.parent_id.is_(None)).scalar_subquery()
        going_on = {"status": RUNNING, "reason": "", "finished_at": None, "failure": None}
        connection.execute(update(operations).where(operations.c.stack_id == root).values(going_on))
        connection.execute(update(resources).where(resources.c.stack_id == root).values(status=IN_PROGRESS))
        connection.execute(update(stacks).where(stacks.c.parent_id.is_(None)).values(status=IN_PROGRESS))
    database.close()


def nested_reason(url: str, reason: str) -> None:
    """Record the reason for which the operation on the nested stack has failed."""
    database = Database(url)
    with database.engine.begin() as connection:
        nested = select(stacks.c.id).where(stacks.c.depth == 1).scalar_subquery()
        connection.execute(update(operations).where(operations.c.stack_id == nested).values(reason=reason))
    database.close()


def forget_failures(url: str) -> None:
    """Leave in the tables what is there after such an upgrade."""
    database = Database(url)
    with database.writing() as connection:
        for table in (operations, resources):
            connection.execute(update(table).values(failure=None))
    database.close()


def upgrade_again(url: str) -> None:
    """Leave in the tables what a release before failures as data would have left, and upgrade them again."""
    database = Database(url)
    with database.writing() as connection:
        command.downgrade(schema.migrations(connection), BEFORE)
    database.migrate()
    database.close()


async def resumed(url: str, served: ServedCloud) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the stack and its resource after the interrupted operation was resumed and has failed."""
    world = await World(url, served).start()
    try:
        stack = await world.settle((await world.call("stack_identify", ref=REF))["id"])
        rows = await world.resources("tree")
    finally:
        await world.stop()
    assert stack["status"] == FAILED
    return stack, rows["group"]


@pytest.fixture
async def interrupted(url: str) -> Any:
    """The database and the cloud of an interrupted creation."""
    with ServedCloud(new_cloud(pace=0.0)) as served:
        world = await World(url, served).start()
        await world.create("tree", group(1, fail=True), files=FILES)
        await world.stop()
        interrupt(url)
        yield url, served


async def test_a_failure_that_is_recorded_in_a_sentence_only_has_its_path(interrupted: Any) -> None:
    url, served = interrupted
    nested_reason(url, SENTENCE)
    upgrade_again(url)
    stack, resource = await resumed(url, served)
    expected = {"kind": "Forbidden", "path": ("group", "0", "leaf"), "message": "No: resources.b: is locked"}
    assert stack["failure"] == resource["failure"] == expected
    path = "resources.group.resources[0].resources.leaf"
    assert resource["status_reason"] == f"Forbidden: {path}: No: resources.b: is locked"


async def test_another_reason_of_the_release_before_is_kept_as_it_is(interrupted: Any) -> None:
    url, served = interrupted
    nested_reason(url, "Timed out")
    forget_failures(url)
    stack, resource = await resumed(url, served)
    expected = {"kind": "ResourceFailure", "path": ("group",), "message": "Timed out"}
    assert stack["failure"] == resource["failure"] == expected


async def test_the_sentence_of_a_failure_that_is_recorded_as_data_is_not_read(interrupted: Any) -> None:
    url, served = interrupted
    nested_reason(url, SENTENCE)
    stack, resource = await resumed(url, served)
    assert stack["failure"] == resource["failure"]
    assert stack["failure"]["path"] == ("group", "0", "leaf") and stack["failure"]["kind"] != "Forbidden"


async def test_a_failure_is_not_shown_with_the_reason_that_an_engine_of_the_release_before_has_recorded(
    url: str,
) -> None:
    with ServedCloud(new_cloud(pace=0.0)) as served:
        world = await World(url, served).start()
        await world.create("tree", group(1, fail=True), files=FILES)
        assert (await world.resources("tree"))["group"]["failure"]["path"] == ("group", "0", "leaf")
        with world.database.engine.begin() as connection:  # which does not know the column
            connection.execute(update(resources).values(reason="NotFound: resources.group: it is gone"))
        found = (await world.resources("tree"))["group"]
        await world.stop()
    assert (found["status"], found["failure"]) == (FAILED, None)
