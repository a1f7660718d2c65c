"""The trusts by which stacks outlive their owner's token."""

from __future__ import annotations

from dataclasses import replace

import orjson
from world import World

from stoker.emulator.identity.records import IdentityRecords
from stoker.store import queries

TEMPLATE = {"heat_template_version": "2021-04-16", "resources": {"a": {"type": "OS::Heat::TestResource"}}}


async def trust_of(world: World, stack_id: str) -> str:
    stack = await world.engine.database.read(queries.stack_by_id, stack_id)
    assert stack is not None and stack.credential is not None
    return str(orjson.loads(stack.credential)["id"])


def trusts(world: World) -> int:
    return len(world.in_cloud(lambda: list(world.served.cloud.of(IdentityRecords).trusts)))


async def test_a_trust_goes_with_the_last_stack_that_lives_on_it(world: World) -> None:
    for name in ("one", "two"):
        await world.create(name, TEMPLATE)
    assert trusts(world) == 1
    await world.delete("one")
    assert trusts(world) == 1
    await world.delete("two")
    await world.until(lambda: trusts(world) == 0)


async def test_a_stack_made_by_a_stack_leaves_the_trust_that_it_was_lent(world: World) -> None:
    outer = await world.create("outer", TEMPLATE)
    owner = world.context
    world.context = replace(owner, trust_id=await trust_of(world, outer["id"]))
    await world.create("inner", TEMPLATE)
    await world.delete("inner")
    world.context = owner
    assert (await world.update("outer", TEMPLATE))["status"] == "COMPLETE"
    assert trusts(world) == 1
