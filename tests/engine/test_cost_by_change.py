"""What a request reads does not depend on the size of the estate: it reads what it shows or changes."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, update

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.core import Engine
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.processes.status import EngineMetrics
from stoker.store import tables
from stoker.store.database import Database
from stoker_foundation.clock import ManualClock, SystemClock
from testing.estate import multiply
from testing.harness import World
from testing.reading_meter import ReadingMeter, Spent

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cost-by-change")]

TREES = {"small": 100, "large": 2000}
"""Trees of ten resources, each a stack with a nested one: what reads one row of each takes thousands of steps more."""

PAGE = 20
RARE = "rare"
"""A tag, and the name of a user, that only one stack has."""

TRIES = 3
"""An engine that begins to work asks something itself: the least of some tries is the request's."""

LATER = 600.0
"""Seconds after which engines start on an estate: the clock of its first stack ran ahead, and engines look again at
what ends from their start on, which all copies would have done."""

LIST = re.compile(r"\(\?(, \?)*\)")
"""The values of a list in a statement, of which there are sometimes more."""

WHO: Mapping[str, Mapping[str, Any]] = {
    "find in all projects": {"is_admin": True},
    "page of stacks of all projects": {"is_admin": True},
    "page of a small project's stacks": {"project_id": "few"},
}
"""Attributes of the requester, where it is not the member of the project with most stacks."""

PORT = {"type": "OS::Neutron::Port", "properties": {"network": {"get_resource": "net"}}}
MEMBER = {
    "heat_template_version": "2021-04-16",
    "resources": {f"word{number}": {"type": "OS::Heat::RandomString"} for number in range(4)},
    "outputs": {"word": {"value": {"get_attr": ["word0", "value"]}}},
}


def template(length: int = 8) -> dict[str, Any]:
    """The template of each tree: ten resources, one of them a nested stack."""
    words = {
        f"word{number}": {"type": "OS::Heat::RandomString", "properties": {"length": length}} for number in range(3)
    }
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"net": {"type": "OS::Neutron::Net"}, "port": PORT, **words, "nested": {"type": "member.yaml"}},
        "outputs": {"word": {"value": {"get_attr": ["nested", "word"]}}},
    }


FILES = {"member.yaml": json.dumps(MEMBER)}
MINE: dict[str, Any] = {"name": "mine", "id": None}


def lookups(known: Mapping[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """The requests that change nothing, each with its operation and arguments."""
    inside = {**MINE, "id": known["id"]}
    changed = {"template": template(9), "files": FILES}
    return {
        "show": ("stack_show", {"ref": MINE}),
        "show by ID": ("stack_show", {"ref": {"name": None, "id": known["id"]}}),
        "page of stacks": ("stack_list", {"limit": PAGE}),
        "next page of stacks": ("stack_list", {"limit": PAGE, "marker": known["marker"]}),
        "page of stacks with hidden ones": ("stack_list", {"limit": PAGE, "show_hidden": True}),
        "page of stacks, oldest first": ("stack_list", {"limit": PAGE, "sort_dir": "asc"}),
        "page of stacks by name": ("stack_list", {"limit": PAGE, "sort_keys": ["stack_name"]}),
        "page of stacks by state": ("stack_list", {"limit": PAGE, "sort_keys": ["stack_status"]}),
        "next page of stacks by state": (
            "stack_list", {"limit": PAGE, "sort_keys": ["stack_status"], "marker": known["marker"]},
        ),
        "page of stacks by last update": ("stack_list", {"limit": PAGE, "sort_keys": ["updated_time"]}),
        "last updated stacks": ("stack_list", {"limit": PAGE, "sort_keys": ["updated_time"], "sort_dir": "desc"}),
        "next page of stacks by last update": (
            "stack_list", {"limit": PAGE, "sort_keys": ["updated_time"], "marker": known["marker"]},
        ),
        "page of stacks with a common tag": ("stack_list", {"limit": PAGE, "tags": ["blue"]}),
        "stacks with a rare tag": ("stack_list", {"limit": PAGE, "tags": ["blue", RARE]}),
        "stacks with one of some tags": ("stack_list", {"limit": PAGE, "tags_any": [RARE, "none"], "with_count": True}),
        "stacks of a user": ("stack_list", {"limit": PAGE, "filters": {"stack_owner": [RARE]}}),
        "page of all stacks, deleted and nested ones": (
            "stack_list", {"limit": PAGE, "show_deleted": True, "show_nested": True},
        ),
        "page of stacks of all projects": ("stack_list", {"limit": PAGE, "global_tenant": True}),
        "page of a small project's stacks": ("stack_list", {"limit": PAGE}),
        "stacks of a name": ("stack_list", {"limit": PAGE, "filters": {"name": ["mine"]}}),
        "a failed stack": ("stack_list", {"limit": PAGE, "filters": {"status": ["FAILED"]}}),
        "nested stacks of a stack": ("stack_list", {"limit": PAGE, "filters": {"owner_id": [known["id"]]}}),
        "page of described stacks": ("stack_describe_page", {"limit": PAGE}),
        "next page of described stacks": ("stack_describe_page", {"limit": PAGE, "marker": known["marker"]}),
        "description": ("stack_describe", {"ref": MINE}),
        "resources": ("resource_list", {"ref": MINE}),
        "resources of a tree": ("resource_list", {"ref": MINE, "nested_depth": 5, "with_detail": True}),
        "resource": ("resource_show", {"ref": MINE, "name": "port"}),
        "resource described": ("resource_describe", {"ref": MINE, "name": "port"}),
        "metadata": ("resource_metadata", {"ref": MINE, "name": "port"}),
        "stack of an object": ("stack_of_object", {"physical_id": known["port"]}),
        "events": ("event_list", {"ref": MINE}),
        "page of events": ("event_list", {"ref": MINE, "limit": 5, "nested_depth": 5, "sort_dir": "desc"}),
        "events in detail": ("event_page", {"ref": MINE, "limit": 5}),
        "event": ("event_show", {"ref": MINE, "resource_name": "port", "event_id": known["event"]}),
        "news": ("event_news", {"watched": {known["id"]: 5}, "after": known["sequence"]}),
        "news from now on": ("event_news", {"watched": {known["id"]: 5}, "after": None}),
        "operations": ("operation_list", {"ref": MINE, "limit": 5}),
        "operation": ("operation_show", {"ref": MINE, "operation_id": known["operation"]}),
        "template": ("stack_template", {"ref": MINE}),
        "environment": ("stack_environment", {"ref": MINE}),
        "files": ("stack_files", {"ref": MINE}),
        "outputs": ("output_list", {"ref": MINE}),
        "output": ("output_show", {"ref": MINE, "key": "word"}),
        "export": ("stack_export", {"ref": MINE}),
        "validation": ("validate_template", changed),
        "preview": ("stack_preview", {"name": "another", **changed}),
        "plan of one change": ("stack_update_preview", {"ref": inside, **changed}),
        "plan of no change": ("stack_update_preview", {"ref": inside, "template": template(), "files": FILES}),
        "plan of a deletion": ("stack_action_preview", {"ref": inside, "action": "delete"}),
        "settings": ("stack_settings_show", {"ref": MINE}),
        "snapshots": ("snapshot_list", {"ref": MINE}),
        "snapshot": ("snapshot_show", {"ref": MINE, "snapshot_id": known["snapshot"]}),
        "change sets": ("change_set_list", {"stack": "mine"}),
        "drift": ("drift_list", {"ref": MINE}),
        "find anything": ("resource_find", {"text": known["port"], "limit": PAGE}),
        "find a name": ("resource_find", {"name": "port", "limit": PAGE}),
        "find a type": ("resource_find", {"type": "OS::Neutron::Net", "limit": PAGE}),
        "find in all projects": ("resource_find", {"text": known["port"], "limit": PAGE, "global_tenant": True}),
        "find nothing": ("resource_find", {"text": "no such thing", "limit": PAGE}),
        "page of configurations": ("software_config_list", {"limit": PAGE}),
        "configuration": ("software_config_show", {"config_id": known["config"]}),
        "deployments of a server": ("software_deployment_list", {"server_id": "server"}),
        "metadata of a server": ("software_deployment_metadata", {"server_id": "server"}),
        "engines": ("service_list", {}),
    }  # fmt: skip


def distinguish(connection: Connection, known: Mapping[str, Any]) -> None:
    """Give the stack that requests are about a tag and an owner that no copy of it has."""
    mine = tables.stacks.c.id == known["id"]
    connection.execute(update(tables.stacks).where(mine).values(user_name=RARE))
    connection.execute(insert(tables.stack_tags).values(stack_id=known["id"], position=2, tag=RARE))


def copy_database(source: Path, target: Path) -> None:
    """Copy a database with what is still in its write-ahead log."""
    with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)


async def seed(world: World) -> dict[str, Any]:
    """Make the stack that requests are about, the original of all copies; return what they refer to."""
    stack = await world.create("mine", template(), files=FILES, tags=["blue", "green"])
    await world.update("mine", template(7), files=FILES)
    await world.update("mine", template(), files=FILES)
    snapshot = await world.call("snapshot_create", ref=MINE, name="kept")
    await world.at_rest(stack["id"])
    config = await world.call("software_config_create", name="setup", group="script", config="true")
    await world.call("software_deployment_create", config_id=config["id"], server_id="server")
    port = (await world.resources("mine"))["port"]
    events = await world.call("event_list", ref=MINE, resource_name="port")
    [operation, *_] = await world.call("operation_list", ref=MINE)
    news = await world.call("event_news", watched={stack["id"]: 5}, after=None)
    return {
        "id": stack["id"],
        "marker": stack["id"],
        "port": port["physical_id"],
        "event": events[0]["id"],
        "operation": operation["id"],
        "sequence": news["last"],
        "snapshot": snapshot["id"],
        "config": config["id"],
    }


@dataclass
class Costs:
    """What each request took that changes nothing, and what the statements of everything took, by their shapes."""

    requests: dict[str, Spent] = field(default_factory=dict)
    statements: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))

    def note(self, meter: ReadingMeter) -> Spent:
        """Take over what was measured since the last time; return what it took together."""
        for text, spent in meter.statements.items():
            self.statements[LIST.sub("(?)", text)].add(spent)
        total = meter.total()
        meter.statements.clear()
        return total


async def measured(path: Path, served: ServedCloud, known: Mapping[str, Any]) -> Costs:
    """Run everything on the database at `path`, with an engine that is started on it."""
    settings = EngineSettings(enable_stack_abandon=True, max_stacks_per_tenant=-1, deleted_stacks_kept=0)
    costs, began = Costs(), SystemClock().now() + LATER
    with ReadingMeter().attached() as meter:
        world = await World(path, served, clock=ManualClock(began), settings=settings).start()
        costs.note(meter)
        for name, (method, arguments) in lookups(known).items():
            tries = []
            for _ in range(TRIES):
                context = replace(world.context, **WHO.get(name, {}))
                await world.ended(OPERATIONS[method](world.engine, context, arguments))
                tries.append(costs.note(meter))
            costs.requests[name] = min(tries, key=lambda spent: spent.steps)
        await world.stop()
        settings = replace(settings, deleted_stacks_kept=10)
        world = await World(path, served, clock=ManualClock(began + LATER), settings=settings).start()
        await change(world)
        await EngineMetrics(world.engine).text()
        assert isinstance(world.clock, ManualClock)
        for seconds in (0.0, 3600.0, 86400.0):
            world.clock.advance(seconds)
            await heartbeat(world.engine)
        await world.stop()
        costs.note(meter)
    return costs


async def change(world: World) -> None:
    """Create, update and delete a stack, which may be purged at once: few deleted ones are kept."""
    stack = await world.create("new", template(), files=FILES)
    await world.update("new", template(9), files=FILES)
    await world.call("stack_delete", ref={"name": "new", "id": None})
    await world.at_rest(stack["id"])


async def heartbeat(engine: Engine) -> None:
    """One heartbeat, until all that it has begun in the background has ended."""
    tasks = engine.services.background.tasks
    before = set(tasks)
    await engine.membership.beat()
    await asyncio.gather(*(tasks - before))


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Costs]:
    """What everything takes on estates of both sizes."""
    directory = tmp_path_factory.mktemp("estates")

    async def run(served: ServedCloud) -> Mapping[str, Costs]:
        world = await World(directory / "seed.db", served).start()
        known = await seed(world)
        await world.stop()
        found = {}
        for size, trees in TREES.items():
            path = directory / f"{size}.db"
            copy_database(directory / "seed.db", path)
            database = Database(f"sqlite:///{path}")
            with database.writing() as connection:
                multiply(connection, trees)
                distinguish(connection, known)
            database.close()
            found[size] = await measured(path, served, known)
        return found

    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        return asyncio.run(run(served))


@pytest.mark.parametrize("name", lookups(defaultdict(str)))
def test_a_request_reads_what_it_shows(costs: Mapping[str, Costs], name: str) -> None:
    few, many = costs["small"].requests[name], costs["large"].requests[name]
    assert many.rows == few.rows
    assert many.bytes <= 1.2 * few.bytes
    assert many.steps <= 1.1 * few.steps + 20, few.steps


def test_no_statement_reads_more_in_a_larger_estate(costs: Mapping[str, Costs]) -> None:
    """Neither of requests that change something nor of what an engine does by itself."""
    few = costs["small"].statements
    grown = {
        text: (few[text].most, spent.most)
        for text, spent in costs["large"].statements.items()
        if spent.most > 1.2 * few[text].most + 200
    }
    assert not grown
