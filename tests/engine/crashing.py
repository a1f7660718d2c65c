"""Kill an engine with SIGKILL at its n-th journal write, let a second one resume, and report what is recorded then.

Run beside a cloud: `python -m tests.engine.crashing URL TOKEN ACTION MOMENT FIRST STRIDE`, where ACTION is one
of `ACTIONS` and MOMENT is `before` or `after`. What must be there before is made once, and told as a JSON line. For
n = FIRST, FIRST + STRIDE, … the URL of a copy of the cloud is read, and on a copy of the database a forked engine runs
the action and is killed right before or after its n-th write reaches the disk; a second engine, forked after it, is
only started. One JSON line per n tells how that ended; after an empty line has been read, another one tells whether
the stacks have then been deleted. The last n is the one at which the action ended before the engine could be killed.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from stoker.store import queries, tables
from stoker.store.journal import Claim, Journal
from stoker_foundation.clock import SystemClock, Timer
from testing.compiled_statements import share_compiled_statements
from testing.harness import World

TEMPLATE = (Path(__file__).parent / "crashing.yaml").read_text()
CHANGED = (
    TEMPLATE.replace("10.77.1.0/24", "10.77.9.0/24")
    .replace("count: 2", "count: 3")
    .replace("value: first}", "value: second}")
)
MEMBER = (Path(__file__).parent / "crashing-member.yaml").read_text()
FILES = {"member.yaml": MEMBER}
CONTENTS = (Path(__file__).parent / "crashing-contents.yaml").read_text()
CONTENT_FILES = {
    "volume.yaml": "heat_template_version: 2021-04-16\n"
    "resources: {inside: {type: 'OS::Cinder::Volume', properties: {size: 1}}}\n"
}
NAME = "doomed"
OTHER = "other"
"""A second stack, which some actions use."""
MOVES = {"net": "network", "volume": "volumes", "group": "members", "address": "public"}
"""The new names of some resources by their former ones: nothing else changes."""

DELETED_OF = 3
"""Of so many resumed stacks, one is also deleted; the last one always is."""

SPEED = 20.0


class AcceleratedClock(SystemClock):
    """The machine's time of day; but whoever waits has to wait only a part of what they mean to."""

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        return super().call_later(delay / SPEED, callback)


class Emulated:
    """The part of `ServedCloud` that a world uses, for a cloud in another process."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._token = token

    def token(self, user: str, project: str) -> str:
        return self._token


def kill_at(number: int, moment: str) -> None:
    """Have this process die at a write of the journal."""
    write, count = Journal.write_group, 0

    def counted(self: Journal, group: list[Any]) -> set[Claim]:
        nonlocal count
        count += 1
        if count == number and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = write(self, group)
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    Journal.write_group = counted  # type: ignore[method-assign]


def make_ready(emulated: Emulated, *steps: Callable[[World], Awaitable[Any]]) -> None:
    """Take the steps once in this process: what that imports and compiles, no forked engine does again."""
    share_compiled_statements()
    with tempfile.TemporaryDirectory() as directory:
        for step in steps:
            asyncio.run(_with_world(step, Path(directory) / "stoker.db", emulated, lambda: None))
    assert threading.active_count() == 1, "a process with threads is not forked"
    gc.collect()
    gc.freeze()


def in_child(
    work: Callable[[World], Awaitable[Any]], path: Path, emulated: Emulated, before: Callable[[], None]
) -> Any:
    """Run `work` in a forked process; its answer, or None when the process was killed.

    `before` is called when the engine has started: how often that writes depends on the speed of the machine.
    """
    answer_read, answer_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(answer_read)
        try:
            answer = asyncio.run(_with_world(work, path, emulated, before))
            os.write(answer_write, json.dumps(answer).encode())
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
    os.close(answer_write)
    with os.fdopen(answer_read) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return None
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError("an engine process failed")
    return json.loads(text)


async def _with_world(
    work: Callable[[World], Awaitable[Any]], path: Path, emulated: Emulated, before: Callable[[], None]
) -> Any:
    world = await World(path, emulated, clock=AcceleratedClock()).start()
    before()
    answer = await work(world)
    await world.stop()
    return answer


async def create(world: World) -> str:
    stack = await world.create(NAME, TEMPLATE, files=FILES)
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def update(world: World) -> str:
    stack = await world.update(NAME, CHANGED, files=FILES)
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def move(world: World) -> str:
    template = TEMPLATE
    for former, name in MOVES.items():
        template = template.replace(f"\n  {former}:", f"\n  {name}:")
        template = template.replace(f"get_resource: {former}}}", f"get_resource: {name}}}")
        template = template.replace(f"get_attr: [{former},", f"get_attr: [{name},")
    environment = {"moved": [{"from": former, "to": name} for former, name in MOVES.items()]}
    stack = await world.update(NAME, template, files=FILES, environment=environment)
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


TIER = json.dumps({"heat_template_version": "2021-04-16", "resources": {"web": {"type": "OS::Neutron::Net"}}})


def members(**which: Any) -> dict[str, Any]:
    member = {"type": "member.yaml", "properties": {"number": "%index%"}}
    return {"type": "OS::Heat::ResourceGroup", "properties": {**which, "resource_def": member}}


async def create_group(world: World) -> str:
    resources = {"net": {"type": "OS::Neutron::Net"}, "group": members(count=2)}
    stack = await world.create(NAME, {"heat_template_version": "2021-04-16", "resources": resources}, files=FILES)
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def move_below(world: World) -> str:
    """Get a network into a new nested stack of a new one, a volume out of one, and members of a group to keys."""
    volume = {"type": "OS::Cinder::Volume", "properties": {"size": 1, "name": "same"}}
    without = {"heat_template_version": "2021-04-16", "parameters": {"number": {"type": "string"}}}
    files = {
        "tier.yaml": json.dumps({"heat_template_version": "2021-04-16", "resources": {"deep": {"type": "deep.yaml"}}}),
        "deep.yaml": TIER,
        "member.yaml": json.dumps({**without, "resources": {"net": {"type": "OS::Neutron::Net"}}}),
    }
    resources = {
        "tier": {"type": "tier.yaml"},
        "group": members(for_each=["blue", "green"]),
        "first": volume,
        "second": volume,
    }
    paths = {
        "net": "tier.deep.web",
        "group.0": "group.blue",
        "group.1": "group.green",
        "group.0.volume": "first",
        "group.1.volume": "second",
    }
    stack = await world.update(
        NAME,
        {"heat_template_version": "2021-04-16", "resources": resources},
        files=files,
        environment={"moved": [{"from": former, "to": path} for former, path in paths.items()]},
    )
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def delete(world: World) -> str:
    stack = await world.delete(NAME)
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def create_contents(world: World) -> str:
    stack = await world.create(NAME, CONTENTS, files=CONTENT_FILES)
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def snapshot(world: World) -> str:
    taken = await world.call("snapshot_create", ref={"name": NAME, "id": None}, name=None)
    stack = await world.settle(taken["stack_id"])
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def create_and_snapshot(world: World) -> str:
    await create_contents(world)
    return await snapshot(world)


async def restore(world: World) -> str:
    [taken] = await world.call("snapshot_list", ref={"name": NAME, "id": None})
    await world.call("snapshot_restore", ref={"name": NAME, "id": None}, snapshot_id=taken["id"])
    stack = await world.settle(taken["stack_id"])
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def forget(world: World) -> str:
    [taken] = await world.call("snapshot_list", ref={"name": NAME, "id": None})
    await world.call("snapshot_delete", ref={"name": NAME, "id": None}, snapshot_id=taken["id"])
    while world.engine.runs:
        await world.turn()
    return "forgotten"


async def recovered(world: World) -> dict[str, Any]:
    """Let what was interrupted end; then say how the stack stands and which objects it records."""
    while world.engine.runs:
        await world.turn()
    listed = await world.call("stack_list")
    if not listed["stacks"]:
        return {
            "state": "none",
            "recorded": [],
            "unfinished": 0,
            "begun": 0,
            "snapshots": [],
            "copies": [],
            "owners": [],
        }
    stack = next(each for each in listed["stacks"] if each["name"] == NAME)
    rows = await world.listed({"name": NAME, "id": None}, nested_depth=3)
    operations = await world.database.read(queries.unfinished_of, stack["id"])
    taken = await world.call("snapshot_list", ref={"name": NAME, "id": None})
    copies = [await world.database.read(queries.resources_of, item["id"]) for item in taken]
    owners = [
        [each["name"], row.name, row.physical_id]
        for each in listed["stacks"]
        for row in await world.database.read(queries.resources_of, each["id"])
    ]
    return {
        "owners": sorted(owners),
        "state": f"{stack['action']}_{stack['status']}",
        "reason": stack["status_reason"],
        "owned": sorted(
            [row["name"], row["physical_id"]]
            for row in rows
            if row["type"] in ("OS::Neutron::Net", "OS::Cinder::Volume")
        ),
        "names": sorted([row.name, row.uuid] for row in await world.database.read(queries.resources_of, stack["id"])),
        "recorded": sorted([row["type"], row["physical_id"] or ""] for row in rows),
        "unfinished": len(operations),
        "begun": await world.database.read(_begun),
        "snapshots": [f"{item['action']}_{item['status']}" for item in taken],
        "copies": sorted(row.physical_id or "" for rows in copies for row in rows),
    }


def _begun(connection: Connection) -> int:
    """Return the number of operations that have been recorded."""
    return connection.execute(select(func.count()).select_from(tables.operations)).scalar_one()


async def delete_retaining(world: World) -> str:
    stack = await world.delete(NAME, retain=["volume", "nested.inside"])
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def fail_to_update(world: World) -> str:
    thing = {"type": "OS::Heat::TestResource", "properties": {"value": "first"}}
    net = {"type": "OS::Neutron::Net"}
    before = {"heat_template_version": "2021-04-16", "resources": {"thing": thing, "net": net}}
    await world.create(NAME, before)
    failing = {**thing, "properties": {"value": "second", "fail": True}}
    volume = {"type": "OS::Cinder::Volume", "properties": {"size": 1}, "depends_on": "thing"}
    after = {**before, "resources": {"thing": failing, "net": net, "volume": volume}}
    stack = await world.update(NAME, after)
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def retry_skipping(world: World) -> str:
    stack = await world.call("stack_show", ref={"name": NAME, "id": None})
    await world.call("stack_action", ref={"name": NAME, "id": None}, action="retry", skip=["thing"])
    stack = await world.settle(stack["id"])
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


NET = {"type": "OS::Neutron::Net", "properties": {"name": "kept"}}
PLAIN: dict[str, Any] = {"net": NET, "volume": {"type": "OS::Cinder::Volume", "properties": {"size": 1}}}


def document(*names: str) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": {name: PLAIN[name] for name in names}}


async def create_two(world: World) -> str:
    await world.create(OTHER, document())
    stack = await world.create(NAME, document("net", "volume"))
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def refactor(world: World) -> str:
    templates = {NAME: json.dumps(document("volume")), OTHER: json.dumps(document("net"))}
    made = await world.call("stack_refactor_create", templates=templates)
    done = await world.call("stack_refactor_execute", refactor_id=made["id"])
    return str(done["execution_status"])


async def take(world: World) -> str:
    entry = {"from": {"stack": NAME, "resource": "net"}, "to": {"stack": OTHER, "resource": "net"}}
    stack = await world.update(OTHER, document("net"), environment={"moved": [entry]})
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def leave_a_network(world: World) -> str:
    await world.create(OTHER, {**document(), "resources": {"net": {**NET, "deletion_policy": "Retain"}}})
    await world.delete(OTHER)
    return "left"


async def import_it(world: World) -> str:
    environment = {"imports": [{"to": "net", "identity": {"name": "kept"}}]}
    stack = await world.create(NAME, document("net", "volume"), environment=environment)
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def import_below(world: World) -> str:
    """Import a network into the nested stack of a member of a group."""
    resources = {"group": members(for_each=["blue"]), "volume": PLAIN["volume"]}
    member = {"parameters": {"number": {"type": "string"}}, "resources": {"net": NET}}
    stack = await world.create(
        NAME,
        {"heat_template_version": "2021-04-16", "resources": resources},
        files={"member.yaml": json.dumps({"heat_template_version": "2021-04-16", **member})},
        environment={"imports": [{"to": "group.blue.net", "identity": {"name": "kept"}}]},
    )
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


async def delete_other(world: World) -> str:
    stack = await world.delete(OTHER)
    return f"{stack['action']}_{stack['status']} {stack['status_reason']}"


ACTIONS = {
    "create": create,
    "update": update,
    "move": move,
    "move_below": move_below,
    "delete": delete,
    "snapshot": snapshot,
    "restore": restore,
    "forget": forget,
    "delete_all": delete,
    "delete_retaining": delete_retaining,
    "retry_skipping": retry_skipping,
    "refactor": refactor,
    "take": take,
    "import": import_it,
    "import_below": import_below,
}
BEFORE = {
    "update": create,
    "move": create,
    "move_below": create_group,
    "delete": create,
    "snapshot": create_contents,
    "restore": create_and_snapshot,
    "forget": create_and_snapshot,
    "delete_all": create_and_snapshot,
    "delete_retaining": create_contents,
    "retry_skipping": fail_to_update,
    "refactor": create_two,
    "take": create_two,
    "import": leave_a_network,
    "import_below": leave_a_network,
}
"""What is there when an action begins."""

BETWEEN = ("refactor", "take")
"""The actions that move a resource from one stack to another."""


def copied(database: Path) -> Path:
    """A copy of a database that no process has open."""
    return Path(shutil.copytree(database.parent, Path(tempfile.mkdtemp()) / "copy")) / database.name


def main(url: str, token: str, action: str, moment: str, first: str, stride: str) -> None:
    emulated = Emulated(url, token)
    removal_options = [delete, delete_other] if action in BETWEEN else [delete]
    tried = delete if action == "delete_retaining" else ACTIONS[action]  # no objects remain after the trial
    ending = [] if tried is delete else removal_options
    make_ready(emulated, *([BEFORE[action]] if action in BEFORE else []), tried, recovered, *ending)
    prepared, had = Path(tempfile.mkdtemp()) / "stoker.db", None
    if action in BEFORE:
        in_child(BEFORE[action], prepared, emulated, lambda: None)
    if action in ("move", "move_below", *BETWEEN):
        had = in_child(recovered, prepared, emulated, lambda: None)
    print(json.dumps({"had": had}), flush=True)
    for index, number in enumerate(range(int(first), 500, int(stride))):
        emulated = Emulated(sys.stdin.readline().strip(), token)
        path = copied(prepared)
        ended = in_child(ACTIONS[action], path, emulated, partial(kill_at, number, moment))
        result = in_child(recovered, path, emulated, lambda: None)
        print(json.dumps({"number": number, "killed": ended is None, "had": had, **result}), flush=True)
        sys.stdin.readline()  # the test looks at the cloud, then lets us go on
        deletes = result["state"] != "none" and (ended is not None or index % DELETED_OF == 0)
        if deletes:
            for removal in removal_options:
                in_child(removal, path, emulated, lambda: None)
        print(json.dumps(deletes), flush=True)
        if ended is not None:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
