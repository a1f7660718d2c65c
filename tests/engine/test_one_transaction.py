"""Everything that a request records is in one transaction: an engine that dies after it has lost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stoker.contract.stacks import CreateStackWithSettings
from stoker.store.journal import Batch
from stoker.store.records import Event
from testing.harness import World

REF = {"name": "web", "id": None}
SETTINGS = {"protected": True, "notification_topics": ["topic"]}


def template(value: str) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"a": {"type": "OS::Heat::Value", "properties": {"value": value}}},
    }


class EngineCrashed(Exception):
    """The engine has died after the commit of an operation's beginning."""


@contextmanager
def dying(world: World) -> Iterator[None]:
    """Let the engine die in a request, after the commit that begins an operation."""
    commit = world.engine.services.journal.commit
    begun: list[Event] = []

    async def once(batch: Batch) -> None:
        if begun and batch.claim is None:
            raise EngineCrashed
        await commit(batch)
        begun.extend(row for row in batch.added if isinstance(row, Event))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world.engine.services.journal, "commit", once)
        yield
    assert begun


async def settings(world: World) -> dict[str, Any]:
    shown = await world.call("stack_settings_show", ref=REF)
    return {name: shown[name] for name in SETTINGS}


async def propose(world: World, kind: str, value: str) -> None:
    await world.call(
        "change_set_create",
        stack_name="web",
        name=f"set-{value}",
        kind=kind,
        description=None,
        body={"template": template(value)},
        settings=SETTINGS,
    )


async def execution(world: World, name: str) -> str:
    found = await world.call("change_set_show", name=name, stack="web")
    return str(found["execution_status"])


async def test_an_update_is_recorded_with_its_settings(world: World) -> None:
    stack = await world.create("web", template("a"))
    with dying(world):
        await world.call("stack_patch", ref=REF, template=template("b"), settings=SETTINGS)
    assert await settings(world) == SETTINGS
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"


async def test_settings_that_are_refused_change_nothing(world: World) -> None:
    stack = await world.create("web", template("a"))
    with pytest.raises(Exception, match="A stack policy must be a map"):
        await world.call("stack_patch", ref=REF, template=template("b"), settings={**SETTINGS, "policy": "x"})
    shown = await world.call("stack_show", ref=REF)
    assert (shown["action"], shown["updated_at"]) == ("CREATE", stack["updated_at"])
    assert await settings(world) == {"protected": False, "notification_topics": []}


async def test_a_new_stack_is_recorded_with_its_settings(world: World) -> None:
    with dying(world):
        method = CreateStackWithSettings.method
        stack = await world.call(method, name="web", template=template("a"), settings=SETTINGS)
    assert await settings(world) == SETTINGS
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"


@pytest.mark.parametrize("kind", ["CREATE", "UPDATE"])
async def test_the_execution_of_a_change_set_is_recorded_with_it(world: World, kind: str) -> None:
    if kind == "UPDATE":
        await world.create("web", template("a"))
    await propose(world, kind, "b")
    with dying(world):
        await world.call("change_set_execute", name="set-b", stack="web")
    assert await execution(world, "set-b") in ("EXECUTE_IN_PROGRESS", "EXECUTE_COMPLETE")
    assert await settings(world) == SETTINGS


async def test_a_deletion_is_recorded_with_the_deletion_of_change_sets(world: World) -> None:
    stack = await world.create("web", template("a"))
    await propose(world, "UPDATE", "b")
    with dying(world):
        await world.call("stack_delete", ref=REF)
    await world.settle(stack["id"])
    assert await world.call("change_set_list", stack=stack["id"]) == []
