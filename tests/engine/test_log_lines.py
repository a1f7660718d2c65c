"""What is logged while an operation runs names it, and the request that asked for it, on whatever engine it runs."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from stoker.base.errors import Invalid
from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import Call
from testing.harness import World

LOG = logging.getLogger("stoker.somewhere")
SECONDS = re.compile(r"after \d+\.\d seconds")
TEMPLATE = "heat_template_version: 2021-04-16\nresources: {net: {type: OS::Neutron::Net}}\n"


async def test_lines_name_their_operation(world: World, kept: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    kind = world.engine.services.types.registry.types.get("OS::Neutron::Net")
    assert kind is not None
    create = kind.create

    async def logging_create(call: Call) -> Outcome:
        LOG.warning("making %s", call.resource.name)
        return await create(call)

    monkeypatch.setattr(kind, "create", logging_create)
    LOG.warning("before")
    made = await world.call("stack_create", name="web", template=TEMPLATE)
    operation = world.engine.runs[made["id"]].operation.id
    await world.settle(made["id"])
    before, during, *_ = [record for record in kept if record.name == LOG.name]
    assert (before.operation, during.operation) == ("", f"[operation {operation}] ")
    assert during.extra == {"operation_id": operation}
    assert during.request_id == world.context.request_id


async def test_each_operation_is_reported_when_it_begins_and_when_it_ends(
    world: World, kept: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service echoes a value that is hidden, and breaks the line."""
    kind = world.engine.services.types.registry.types.get("OS::Neutron::Net")
    assert kind is not None

    async def refuse(call: Call) -> Outcome:
        raise Invalid(f"no network\nis called {call.properties['name']}")

    await world.create("web", TEMPLATE)
    monkeypatch.setattr(kind, "create", refuse)
    hidden = {
        "heat_template_version": "2021-04-16",
        "parameters": {"word": {"type": "string", "hidden": True}},
        "resources": {"net": {"type": "OS::Neutron::Net", "properties": {"name": {"get_param": "word"}}}},
    }
    failed = await world.create("db", hidden, parameters={"word": "s3cret-word"})
    assert "s3cret-word" not in "".join(record.getMessage() for record in kept)
    reported = [record for record in kept if record.name == "stoker.engine.running.completion"]
    lines = [SECONDS.sub("after N seconds", record.getMessage()) for record in reported]
    assert lines == [
        "starting CREATE of stack web",
        "CREATE of stack web has ended: COMPLETE after N seconds: Stack CREATE completed successfully",
        "starting CREATE of stack db",
        "CREATE of stack db has ended: FAILED after N seconds: Resource CREATE failed: Invalid: resources.net: "
        "no network is called ******",
    ]
    history = await world.call("operation_list", ref={"name": None, "id": failed["id"]})
    assert [record.operation for record in reported[2:]] == [f"[operation {history[0]['id']}] "] * 2
    assert {record.request_id for record in reported} == {world.context.request_id}
