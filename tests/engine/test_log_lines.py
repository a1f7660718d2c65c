"""What is logged while an operation runs names it, and the request that asked for it, on whatever engine it runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from world import World

from stoker.base.logging import protect
from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import Call

LOG = logging.getLogger("stoker.somewhere")
TEMPLATE = "heat_template_version: 2021-04-16\nresources: {net: {type: OS::Neutron::Net}}\n"


class Kept(logging.Handler):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler = Kept()
    protect(handler)
    LOG.addHandler(handler)
    yield handler
    LOG.removeHandler(handler)


async def test_lines_name_their_operation(world: World, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = world.engine.registry.get("OS::Neutron::Net")
    assert kind is not None
    create = kind.create

    async def talkative(call: Call) -> Outcome:
        LOG.warning("making %s", call.name)
        return await create(call)

    monkeypatch.setattr(kind, "create", talkative)
    LOG.warning("before")
    made = await world.call("stack_create", name="web", template=TEMPLATE)
    operation = world.engine.runs[made["id"]].operation.id
    await world.settle(made["id"])
    before, during, *_ = kept.records
    assert (before.operation, during.operation) == ("", f"[operation {operation}] ")
    assert during.extra == {"operation_id": operation}
    assert during.request_id == world.context.request_id
