"""Groups of deployments that are updated in batches, with agents that the test plays."""

from __future__ import annotations

from typing import Any

from testing.harness import World

REF = {"name": "web", "id": None}


def template(word: str, *servers: str, size: int = 1) -> dict[str, Any]:
    config = {"config": "echo $word", "inputs": [{"name": "word"}]}
    properties = {
        "config": {"get_resource": "config"},
        "servers": {name: name for name in servers},
        "input_values": {"word": word},
        "signal_transport": "HEAT_SIGNAL",
    }
    group = {
        "type": "OS::Heat::SoftwareDeploymentGroup",
        "properties": properties,
        "update_policy": {"rolling_update": {"max_batch_size": size}},
    }
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "config": {"type": "OS::Heat::SoftwareConfig", "properties": config},
            "group": group,
        },
    }


class Agents:
    """The agents of all servers. `said`: the servers and words of the deployments that they got, in order."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.said: list[str] = []

    async def act(self, method: str, template: dict[str, Any], *failing: str) -> str:
        """Create or update the stack, and answer until that has ended; return the stack's status."""
        self.said = []
        place = {"name": "web"} if method == "stack_create" else {"ref": REF}
        stack = await self.world.call(method, template=template, disable_rollback=True, **place)
        while self.world.engine.runs.get(stack["id"]) is not None:
            await self.world.turn()
            await self._answer(failing)
        return str((await self.world.settle(stack["id"]))["status"])

    async def _answer(self, failing: tuple[str, ...]) -> None:
        found = await self.world.call("software_deployment_list")
        for one in found:
            if one["status"] != "IN_PROGRESS":
                continue
            self.said.append(f"{one['server_id']} {one['input_values']['word']}")
            bad = self.said[-1] in failing
            changes: dict[str, Any] = {"status": "FAILED", "status_reason": "broken"} if bad else {"status": "COMPLETE"}
            changes["output_values"] = {"deploy_stderr": f"said {one['input_values']['word']}"}
            await self.world.call("software_deployment_update", deployment_id=one["id"], values=changes)


async def test_an_update_after_a_failed_batch_deploys_to_the_failed_servers_first(world: World) -> None:
    """They get the new definition with the first batch; with the former one, they would fail again."""
    agents = Agents(world)
    names = ("a", "b", "c", "d")
    assert await agents.act("stack_create", template("first", *names)) == "COMPLETE"

    assert await agents.act("stack_update", template("bad", *names), "c bad") == "FAILED"
    assert agents.said == ["a bad", "b bad", "c bad"]

    assert await agents.act("stack_update", template("good", *names)) == "COMPLETE"
    assert agents.said == ["c good", "a good", "b good", "d good"]


async def test_all_failed_servers_are_in_the_first_batch_and_added_ones_take_their_turn(world: World) -> None:
    agents = Agents(world)
    assert await agents.act("stack_create", template("bad", "a", "b", "c"), "b bad", "c bad") == "FAILED"

    assert await agents.act("stack_update", template("good", "a", "b", "c", "d")) == "COMPLETE"
    assert sorted(agents.said[:2]) == ["b good", "c good"]
    assert agents.said[2:] == ["a good", "d good"]

    assert await agents.act("stack_update", template("better", "d", "a", "e", size=2)) == "COMPLETE"
    assert sorted(agents.said[:2]) == ["a better", "d better"]
    assert agents.said[2:] == ["e better"]
    found = await world.call("software_deployment_list")
    assert {one["server_id"] for one in found} == {"a", "d", "e"}


async def test_outputs_after_a_failed_update_are_those_of_the_failed_deployments(world: World) -> None:
    """They say why it has failed: values of the group that were recorded before must not hide them."""
    agents = Agents(world)

    def with_output(word: str) -> dict[str, Any]:
        value = {"get_attr": ["group", "deploy_stderrs"]}
        return {**template(word, "a", "b", size=2), "outputs": {"said": {"value": value}}}

    async def said() -> Any:
        [output] = (await world.call("stack_show", ref=REF))["outputs"]
        return output["output_value"]

    assert await agents.act("stack_create", with_output("first")) == "COMPLETE"
    assert await said() == {"a": "said first", "b": "said first"}
    assert await agents.act("stack_update", with_output("bad"), "a bad") == "FAILED"
    assert (await said())["a"] == "said bad"
