"""A value that somebody has put in the place of a hidden one is as secret as the former, in plans and in drift."""

from __future__ import annotations

import json
from typing import Any

from tests.harness import World

NETWORKS = "/network/v2.0/networks"
OTHER = "opensesame-2"


async def test_a_value_in_the_place_of_a_hidden_one_is_not_shown(world: World) -> None:
    properties = {"name": {"get_param": "word"}, "tags": [{"get_param": "word"}]}
    made: dict[str, Any] = {
        "heat_template_version": "2021-04-16",
        "parameters": {"word": {"type": "string", "hidden": True}},
        "resources": {"net": {"type": "OS::Neutron::Net", "properties": properties}},
    }
    await world.create("web", made, parameters={"word": "swordfish-1"})
    identifier = (await world.resources("web"))["net"]["physical_id"]
    token = world.served.token("demo", "demo")
    assert world.served.call("PUT", f"{NETWORKS}/{identifier}", {"network": {"name": OTHER}}, token).status == 200
    assert world.served.call("PUT", f"{NETWORKS}/{identifier}/tags", {"tags": [OTHER]}, token).status == 200
    ref = {"name": "web", "id": None}
    report = await world.call("drift_detect_resource", ref=ref, name="net")
    assert report["status"] == "MODIFIED"
    assert {each["path"][0] for each in report["differences"]} == {"name", "tags"}
    found = await world.call("stack_patch_preview", ref=ref, converge=True)
    assert [step["kind"] for step in found["plan"]["steps"]] == ["update"]
    for answer in (report, found):
        assert OTHER not in json.dumps(answer)
        assert "swordfish" not in json.dumps(answer)
