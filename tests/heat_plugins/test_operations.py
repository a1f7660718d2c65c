"""Lifecycle plug-ins and event sinks that packages offer for Heat."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import StokerError
from stoker.plugins.registry import Registry
from tests.heat_plugins import appliance
from tests.heat_plugins.conftest import Begin

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {"token": {"type": "Vendor::Util::Token"}},
}


async def test_a_lifecycle_plug_in_is_called_and_may_refuse(begin: Begin) -> None:
    world = await begin()
    await world.create("audited", TEMPLATE)
    before, after = appliance.OPERATIONS
    assert (before, after) == (f"before CREATE of audited in {world.context.project_id}", "after CREATE: False")
    assert dict(Registry.from_entry_points().lifecycle)["auditor"].order == 7
    stack = await world.update("audited", {**TEMPLATE, "resources": {}})
    assert stack["status"] == "FAILED" and "An audited stack must not be emptied." in stack["status_reason"]
    assert "token" in await world.resources("audited")


async def test_an_event_sink_gets_the_events(begin: Begin) -> None:
    world = await begin()
    with pytest.raises(StokerError, match="missing 1 required positional argument: 'level'"):
        await world.create("logged", TEMPLATE, environment={"event_sinks": [{"type": "appliance-log"}]})
    sinks = [{"type": "appliance-log", "level": "info"}]
    stack = await world.create("logged", TEMPLATE, environment={"event_sinks": sinks})
    expected = f"info token COMPLETE {stack['id']}"
    await world.until(lambda: expected in appliance.OBJECTS.get("log", {}).get("entries", []))
