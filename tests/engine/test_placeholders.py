"""A stack with types whose service no longer exists: nothing is created for them, and nothing stands in their way."""

from __future__ import annotations

from testing.harness import World


async def test_a_template_with_a_former_load_balancer_still_works(world: World) -> None:
    pool = {"type": "OS::Neutron::LBaaS::Pool", "properties": {"protocol": "HTTP", "anything": [1, {"else": None}]}}
    definition = {
        "heat_template_version": "2021-04-16",
        "resources": {"pool": pool, "net": {"type": "OS::Neutron::Net", "depends_on": "pool"}},
        "outputs": {"vip": {"value": {"get_attr": ["pool", "vip_address", "deep"]}}},
    }
    made = await world.create("web", definition)
    assert (made["status"], world.outputs(made)) == ("COMPLETE", {"vip": None})
    reference = (await world.resources("web"))["pool"]["physical_id"]
    assert reference
    assert (
        await world.update("web", {**definition, "resources": {"pool": {**pool, "properties": {}}}, "outputs": {}})
    )["status"] == "COMPLETE"
    assert (await world.delete("web"))["status"] == "COMPLETE"
