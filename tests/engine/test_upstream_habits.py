"""What clients that were written for Heat rely on: messages, names and forms that its functional tests compare."""

from __future__ import annotations

from typing import Any

from tests.harness import World

REF = {"name": "habits", "id": None}
HOT = {"heat_template_version": "2018-08-31"}


async def test_a_test_resource_fails_as_its_properties_say(world: World) -> None:
    """An update of `fail` alone fails, in place; a check examines the object, not the last action."""

    def template(**properties: Any) -> dict[str, Any]:
        resources = {"res": {"type": "OS::Heat::TestResource", "properties": {"value": "a", **properties}}}
        return {**HOT, "resources": resources, "outputs": {"o": {"value": {"get_attr": ["res", "output"]}}}}

    failed = "Resource UPDATE failed: ValueError: resources.res: Test Resource failed res"
    await world.create("habits", template())
    for change in ({"fail": True}, {"fail": True, "value": "b"}):
        stack = await world.update("habits", template(**change))
        assert (stack["status"], stack["status_reason"]) == ("FAILED", failed)
        shown = await world.call("resource_show", ref=REF, name="res")
        assert (shown["action"], shown["status"], shown["attributes"]["output"]) == ("UPDATE", "FAILED", "a")
        await world.call("stack_action", ref=REF, action="check")
        stack = await world.settle(stack["id"])
        assert (stack["action"], stack["status"]) == ("CHECK", "COMPLETE")
    stack = await world.update("habits", template(value="b"))
    assert (stack["status"], world.outputs(stack)) == ("COMPLETE", {"o": "b"})
