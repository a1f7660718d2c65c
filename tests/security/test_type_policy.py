"""Resource types that policy refuses to a user, under other names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stoker.base.clock import SystemClock
from stoker.base.errors import Forbidden
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from tests.harness import World

REFUSED = "OS::Nova::Flavor"
FLAVOR = {"ram": 64, "vcpus": 1}
EVASIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "an alias": ("My::Size", {"My::Size": REFUSED}),
    "an alias of an alias": ("My::Size", {"My::Size": "My::Other", "My::Other": REFUSED}),
    "a wildcard": ("My::Flavor", {"My::*": "OS::Nova::*"}),
    "an override of a permitted type": ("OS::Heat::Value", {"OS::Heat::Value": REFUSED}),
    "an override of one resource": ("OS::Heat::Value", {"resources": {"r": {"OS::Heat::Value": REFUSED}}}),
    "the name itself": (REFUSED, {}),
}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01)) as served:
        found = await World(tmp_path / "stoker.db", served, settings=EngineSettings(enable_stack_adopt=True)).start()
        found.context = replace(found.context, denied_types=(REFUSED, "OS::Keystone::*"))
        try:
            yield found
        finally:
            await found.stop()


def template(type_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
    resource = {"type": type_name, "properties": FLAVOR if properties is None else properties}
    return {"heat_template_version": "2018-08-31", "resources": {"r": resource}}


def arguments(written: str, registry: dict[str, Any], shape: str) -> dict[str, Any]:
    inner = template(written)
    files: dict[str, Any] = {}
    if shape == "nested":
        files = {"inner.yaml": inner}
        outer = template("inner.yaml", {})
    elif shape == "group":
        member = {"type": written, "properties": FLAVOR}
        outer = template("OS::Heat::ResourceGroup", {"count": 1, "resource_def": member})
    else:
        outer = inner
    return {"template": outer, "environment": {"resource_registry": registry}, "files": files}


@pytest.mark.parametrize("shape", ["plain", "nested", "group"])
@pytest.mark.parametrize("evasion", EVASIONS)
async def test_a_refused_type_under_another_name(world: World, evasion: str, shape: str) -> None:
    """A user makes a resource of a type that policy refuses, by a name that the resource registry maps to it."""
    written, registry = EVASIONS[evasion]
    if shape != "plain" and "resources" in registry:
        registry = {"OS::Heat::Value": REFUSED}
    request = arguments(written, registry, shape)
    with pytest.raises(Forbidden, match=REFUSED):
        await world.call("stack_create", name="web", **request)
    with pytest.raises(Forbidden, match=REFUSED):
        await world.call("stack_preview", name="web", **request)
    with pytest.raises(Forbidden, match=REFUSED):
        await world.call("validate_template", **request)
    await world.create("web", {"heat_template_version": "2018-08-31"})
    for verb in ("stack_update", "stack_update_preview"):
        with pytest.raises(Forbidden, match=REFUSED):
            await world.call(verb, ref={"name": "web", "id": None}, **request)
    record = {"type": written, "resource_id": "x", "name": "r", "status": "COMPLETE", "action": "CREATE"}
    adopted = {
        "name": "taken", "status": "COMPLETE", "action": "CREATE", "resources": {"r": record},
        "template": request["template"], "environment": request["environment"], "files": request["files"],
    }  # fmt: skip
    with pytest.raises(Forbidden, match=REFUSED):
        await world.call("stack_create", name="taken", adopt_stack_data=adopted, **request)


async def test_a_permitted_alias_stays_permitted(world: World) -> None:
    """A check that is too strict: an alias of a permitted type must still work."""
    registry = {"resource_registry": {"My::Word": "OS::Heat::RandomString"}}
    made = await world.create("web", template("My::Word", {}), environment=registry)
    assert made["status"] == "COMPLETE"
