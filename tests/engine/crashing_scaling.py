"""Kill an engine at its n-th journal write while a group scales, let another one go on, and tell how the group stands.

Run as a program beside an emulated cloud: `python -m tests.engine.crashing_scaling URL TOKEN MOMENT`; see `crashing`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from testing.harness import World
from tests.engine.crashing import Emulated, copied, in_child, kill_at, make_ready

REF = {"name": "web", "id": None}
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "group": {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {"min_size": 1, "max_size": 3, "resource": {"type": "OS::Heat::RandomString"}},
        },
        "more": {
            "type": "OS::Heat::ScalingPolicy",
            "properties": {
                "auto_scaling_group_id": {"get_resource": "group"},
                "adjustment_type": "change_in_capacity",
                "scaling_adjustment": 1,
                "cooldown": 3600,
            },
        },
    },
    "outputs": {"size": {"value": {"get_attr": ["group", "current_size"]}}},
}


async def create(world: World) -> str:
    return str((await world.create("web", TEMPLATE))["status"])


async def scale(world: World) -> bool:
    await world.call("resource_signal", ref=REF, name="more")
    await _rest(world)
    return True


async def state_after_signal(world: World) -> dict[str, Any]:
    """How the group stands, and what a further signal makes of it."""
    await _rest(world)
    before = await _group(world)
    await scale(world)
    return {"before": before, "after": await _group(world)}


async def _rest(world: World) -> None:
    while world.engine.runs:
        await world.turn()


async def _group(world: World) -> dict[str, Any]:
    stack = await world.call("stack_show", ref=REF)
    metadata = await world.call("resource_metadata", ref=REF, name="group")
    return {
        "size": world.outputs(stack)["size"],
        "changing": metadata["scaling_in_progress"],
        "reason": next(iter(metadata["cooldown_end"].values())),
    }


async def delete(world: World) -> str:
    return str((await world.delete("web"))["status"])


def main(url: str, token: str, moment: str) -> None:
    emulated = Emulated(url, token)
    make_ready(emulated, create, scale, state_after_signal, delete)
    created = Path(tempfile.mkdtemp()) / "stoker.db"
    in_child(create, created, emulated, lambda: None)
    for number in range(1, 100):
        path = copied(created)  # nothing of the stack is in the cloud, so that only its database is new
        ended = in_child(scale, path, emulated, partial(kill_at, number, moment))
        result = in_child(state_after_signal, path, emulated, lambda: None)
        print(json.dumps({"number": number, "killed": ended is None, **result}), flush=True)
        if ended is not None:
            in_child(delete, path, emulated, lambda: None)
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
