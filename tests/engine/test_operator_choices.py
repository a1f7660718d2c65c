"""What the operator's settings do to stacks: the environment under every stack, limits, quotas."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import EntityNotFound, RequestLimitExceeded, TemplateInvalid
from stoker.engine.operator_environment import OperatorEnvironment
from stoker.engine.settings import EngineSettings
from testing.harness import World

MakeWorld = Callable[..., Awaitable[World]]
VERSION = "heat_template_version: 2021-04-16\n"

GREETER = f"""{VERSION}
parameters:
  name: {{type: string, default: nobody}}
  greeting: {{type: string}}
resources:
  text:
    type: OS::Heat::Value
    properties: {{value: {{list_join: [" ", [{{get_param: greeting}}, {{get_param: name}}]]}}}}
outputs:
  said: {{value: {{get_attr: [text, value]}}}}
"""
GREETED = f"""{VERSION}
resources:
  greeter: {{type: "Our::Greeter", properties: {{name: you}}}}
outputs:
  said: {{value: {{get_attr: [greeter, said]}}}}
"""


@pytest.fixture
async def make_world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[MakeWorld]:
    """Starts a world with these settings; a second one uses the database of the first."""
    worlds: list[World] = []

    async def make(**settings: Any) -> World:
        for world in worlds:
            await world.stop()
        worlds[:] = [World(tmp_path / "stoker.db", served, settings=EngineSettings(**settings))]
        return await worlds[0].start()

    yield make
    for world in worlds:
        await world.stop()


@pytest.fixture
def operator(tmp_path: Path) -> Callable[..., OperatorEnvironment]:
    """The operator's environment with these mappings, and the greeter's template as `greeter.yaml`."""

    def read(template: str = GREETER, **registry: str) -> OperatorEnvironment:
        (tmp_path / "greeter.yaml").write_text(template)
        mappings = "".join(f"  '{name}': '{target}'\n" for name, target in registry.items())
        lines = f"resource_registry:\n  Our::Greeter: greeter.yaml\n{mappings}parameter_defaults: {{greeting: hello}}\n"
        (tmp_path / "environment.yaml").write_text(lines)
        (tmp_path / "environment.d").mkdir(exist_ok=True)
        (tmp_path / "environment.d" / "all.yaml").write_text(lines)
        return OperatorEnvironment.read(str(tmp_path / "environment.d"), str(tmp_path))

    return read


Operator = Callable[..., OperatorEnvironment]


async def test_operator_template_type_uses_operator_defaults(make_world: MakeWorld, operator: Operator) -> None:
    world = await make_world(operator=operator())
    stack = await world.create("greeting", GREETED)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack) == {"said": "hello you"}
    nested = await world.resources("greeting", depth=1)
    assert {row["type"] for row in nested.values()} == {"Our::Greeter", "OS::Heat::Value"}
    assert (await world.delete("greeting"))["status"] == "COMPLETE"


async def test_user_environment_overrides_operator_environment(make_world: MakeWorld, operator: Operator) -> None:
    world = await make_world(operator=operator())
    own = {"parameter_defaults": {"greeting": "welcome"}}
    assert world.outputs(await world.create("one", GREETED, environment=own)) == {"said": "welcome you"}
    files = {"mine.yaml": GREETER.replace("list_join", "list_join").replace('" "', '", "')}
    mapped = {"resource_registry": {"Our::Greeter": "mine.yaml"}}
    assert world.outputs(await world.create("two", GREETED, environment=mapped, files=files)) == {"said": "hello, you"}


async def test_operator_environment_is_not_stored_with_stack(make_world: MakeWorld, operator: Operator) -> None:
    world = await make_world(operator=operator())
    await world.create("greeting", GREETED)
    shown = await world.call("stack_environment", ref={"name": "greeting", "id": None})
    assert (shown["parameter_defaults"], shown["resource_registry"]) == ({}, {})
    again = await make_world(operator=operator(GREETER.replace('" "', '"; "')))
    assert again.outputs(await again.update("greeting", GREETED)) == {"said": "hello; you"}
    gone = await make_world()
    with pytest.raises(TemplateInvalid, match="Our::Greeter"):
        await gone.update("greeting", GREETED)


async def test_types_of_the_operators_are_listed_and_shown(make_world: MakeWorld, operator: Operator) -> None:
    world = await make_world(operator=operator(**{"Old::Value": "OS::Heat::Value", "Gone::*": "OS::Heat::*"}))
    listed = await world.call("resource_type_list")
    assert {"Our::Greeter", "Old::Value", "OS::Heat::Value"} <= set(listed)
    assert "Gone::*" not in listed
    shown = await world.call("resource_type_show", type_name="Our::Greeter")
    assert set(shown["properties"]) == {"name", "greeting"}
    with pytest.raises(EntityNotFound):
        await world.call("resource_type_show", type_name="Our::Other")


async def test_operator_types_are_limited_to_template_directory(
    make_world: MakeWorld, operator: Operator, tmp_path: Path
) -> None:
    world = await make_world(operator=operator())
    (tmp_path / "private.yaml").write_text(GREETER)
    url = (tmp_path / "private.yaml").as_uri()
    for name, environment in (("by type", None), ("by mapping", {"resource_registry": {"Our::Greeter": url}})):
        template = GREETED if environment else GREETED.replace("Our::Greeter", url)
        with pytest.raises(TemplateInvalid):
            await world.create(name.replace(" ", "-"), template, environment=environment)


async def test_yaql_limits_are_configurable(make_world: MakeWorld) -> None:
    template = (
        VERSION
        + """
resources: {sum: {type: "OS::Heat::Value", properties: {value: {yaql: {expression: "range(50).sum()", data: {}}}}}}
outputs: {sum: {value: {get_attr: [sum, value]}}}
"""
    )
    world = await make_world()
    assert world.outputs(await world.create("enough", template)) == {"sum": 1225}
    world = await make_world(yaql_limit_iterators=10)
    with pytest.raises(TemplateInvalid):
        await world.create("less", template)


async def test_template_size_limit_is_configurable(make_world: MakeWorld) -> None:
    world = await make_world(max_template_size=100)
    with pytest.raises(RequestLimitExceeded, match="max_template_size"):
        await world.create("large", VERSION + f"description: {'x' * 100}\n")


async def test_software_configurations_per_project_are_limited(make_world: MakeWorld) -> None:
    world = await make_world(max_software_configs_per_tenant=1)
    first = await world.call("software_config_create", name="one")
    with pytest.raises(RequestLimitExceeded, match="more are not allowed"):
        await world.call("software_config_create", name="two")
    stack = await world.create("three", VERSION + "resources: {config: {type: 'OS::Heat::SoftwareConfig'}}\n")
    assert "max_software_configs_per_tenant" in stack["status_reason"]
    await world.call("software_config_delete", config_id=first["id"])
    await world.call("software_config_create", name="two")
    unlimited = await make_world(max_software_configs_per_tenant=-1)
    await unlimited.call("software_config_create", name="three")


async def test_snapshots_of_volumes_need_backups(make_world: MakeWorld) -> None:
    volume = "resources: {v: {type: 'OS::Cinder::Volume', deletion_policy: Snapshot, properties: {size: 1}}}\n"
    world = await make_world(type_options={"backups_enabled": False})
    with pytest.raises(TemplateInvalid, match="does not support snapshots"):
        await world.create("refused", VERSION + volume)


async def test_the_host_of_an_engine_is_the_configured_one(make_world: MakeWorld) -> None:
    world = await make_world(host="rack-7")
    assert [service["host"] for service in await world.call("service_list")] == ["rack-7"]


async def test_hidden_stacks_are_left_out_of_lists(make_world: MakeWorld) -> None:
    world = await make_world(hidden_stack_tags=("internal",))
    await world.create("seen", VERSION + "resources: {}\n", tags=["other"])
    await world.create("unseen", VERSION + "resources: {}\n", tags=["internal"])
    listed = await world.call("stack_list")
    assert [stack["name"] for stack in listed["stacks"]] == ["seen"]
    everything = await world.call("stack_list", show_hidden=True)
    assert {stack["name"] for stack in everything["stacks"]} == {"seen", "unseen"}


async def test_group_size_is_not_limited_by_template_size(make_world: MakeWorld) -> None:
    world = await make_world(max_template_size=2000)
    member = {"type": "OS::Heat::Value", "properties": {"value": "the same"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 100, "resource_def": member}}
    definition = {"heat_template_version": "2021-04-16", "resources": {"values": group}}
    assert (await world.create("many", definition))["status"] == "COMPLETE"
