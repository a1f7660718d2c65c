"""What operations have known is gone when they have ended, also while the garbage collector does not look."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from stoker.engine.memory import MANY, TOO_MANY, FreedMemory
from stoker.engine.planning.plan import Step
from stoker.engine.records.state import ResourceState
from stoker.store.records import Resource, StoredState
from testing.harness import World

KINDS = (ResourceState, Resource, StoredState, Step)
RESOURCES = 40
TEMPLATE = "heat_template_version: 2021-04-16\nresources:\n" + "".join(
    f"  r{number}: {{type: 'OS::Heat::RandomString'}}\n" for number in range(RESOURCES)
)
NESTED = (
    "heat_template_version: 2021-04-16\n"
    "resources: {members: {type: OS::Heat::ResourceGroup, properties: {count: 3, resource_def: {type: inner.yaml}}}}\n"
)


@pytest.fixture
def unwatched() -> Iterator[None]:
    """No garbage collector: what is kept by cycles alone stays."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def living() -> Counter[str]:
    return Counter(type(item).__name__ for item in gc.get_objects() if isinstance(item, KINDS))


@pytest.mark.parametrize("nested", [False, True])
async def test_repeated_creation_and_deletion_leaks_no_python_objects(
    world: World, unwatched: None, nested: bool
) -> None:
    template, files = (NESTED, {"inner.yaml": TEMPLATE}) if nested else (TEMPLATE, {})

    async def round_of() -> None:
        assert (await world.create("a", template, files=files))["status"] == "COMPLETE"
        await world.update("a", template.replace("resources:", "description: again\nresources:", 1), files=files)
        await world.delete("a")
        await world.until(lambda: not world.engine.runs)

    await round_of()
    before = living()
    for _ in range(3):
        await round_of()
    grown = living() - before
    assert sum(grown.values()) < RESOURCES, grown


async def test_failed_operation_leaks_no_python_objects(world: World, unwatched: None) -> None:
    failing = TEMPLATE + "  bad: {type: 'OS::Heat::TestResource', properties: {fail: true}}\n"
    before: Counter[str] = Counter()
    for number in range(3):
        assert (await world.create(f"a{number}", failing))["status"] == "FAILED"
        await world.delete(f"a{number}")
        before = before or living()
    grown = living() - before
    assert sum(grown.values()) < RESOURCES, grown


@pytest.mark.parametrize("nested", [False, True])
async def test_preview_creates_no_reference_cycles(world: World, unwatched: None, nested: bool) -> None:
    arguments: dict[str, Any] = {"name": "a", "template": TEMPLATE}
    if nested:
        arguments = {
            "name": "a",
            "template": NESTED,
            "files": {"inner.yaml": TEMPLATE.replace("Heat::RandomString", "Neutron::Net")},
        }
    await world.call("stack_preview", **arguments)
    gc.collect()
    await world.call("stack_preview", **arguments)
    assert gc.collect() < RESOURCES


def test_freed_memory_is_returned_preferably_when_idle() -> None:
    freed = FreedMemory()
    freed.ended(MANY - 1)
    assert not freed.is_due(idle=True)
    freed.ended(1)
    assert not freed.is_due(idle=False)
    assert freed.is_due(idle=True)
    freed.release()
    assert not freed.is_due(idle=True)
    freed.ended(TOO_MANY)
    assert freed.is_due(idle=False)


def test_requests_do_not_wait_for_the_return_of_memory_while_large_templates_are_evaluated() -> None:
    freed = FreedMemory()
    for _ in range(TOO_MANY):
        freed.evaluated()
        assert not freed.is_due(idle=True)
    assert not freed.is_due(idle=False)
    assert freed.is_due(idle=True)
    freed.release()
    assert not freed.is_due(idle=True)
