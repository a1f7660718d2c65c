"""Compare what plans announce with what updates do, after failures, checks, restores and suspensions.

Run as a program: `python -m testing.simulation.kept_plans SEED [NUMBER]` runs NUMBER random scenarios, from SEED on. A
scenario creates a stack, lets events happen to it, and asks for the plan before each update. If the update completes,
each resource must have been created, updated, replaced, deleted or kept as its plan says; only what depends on a value
that the plan could not know may turn out milder. One JSON line per scenario is printed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sqlalchemy import select

from openstack_emulator.core.dispatch import dispatch
from openstack_emulator.core.faults import Fault
from openstack_emulator.core.http import Request
from stoker.base.errors import StokerError
from stoker.store.tables import resources
from stoker.testing.sandbox import empty_database
from testing.simulation.lost_answers import REF, FaultTestbed, SingleFaultInjector

CHILD = """
heat_template_version: 2021-04-16
parameters: {word: {type: string}}
resources:
  inner: {type: OS::Neutron::Net, properties: {name: {get_param: word}}}
  volume: {type: OS::Cinder::Volume, properties: {size: 1, description: {get_param: word}}}
outputs: {id: {value: {get_resource: inner}}}
"""
FILES = {"child.yaml": CHILD}
WORDS = ("net", "subnet", "port", "web", "data", "disk", "nested", "group", "marked")
START: Mapping[str, str] = {**dict.fromkeys(WORDS, "one"), "count": "2"}
ACTION = "POST /compute/v2.1/servers/*/action"
CREATIONS = (
    "POST /network/v2.0/networks",
    "POST /network/v2.0/subnets",
    "POST /network/v2.0/ports",
    "POST /network/v2.0/security-groups",
    "POST /compute/v2.1/servers",
    "POST /compute/v2.1/servers/*/os-volume_attachments",
    "POST /volume/v3/*/volumes",
)
CHANGES = (
    *CREATIONS,
    ACTION,
    "PUT /network/v2.0/networks/*",
    "PUT /network/v2.0/subnets/*",
    "PUT /network/v2.0/ports/*",
    "PUT /network/v2.0/security-groups/*",
    "PUT /compute/v2.1/servers/*",
    "PUT /volume/v3/*/volumes/*",
    "DELETE /network/v2.0/ports/*",
    "DELETE /network/v2.0/networks/*",
    "DELETE /compute/v2.1/servers/*",
    "DELETE /volume/v3/*/volumes/*",
)
OBJECTS: Mapping[str, str] = {
    "net": "/network/v2.0/networks",
    "port": "/network/v2.0/ports",
    "marked": "/network/v2.0/security-groups",
    "web": "/compute/v2.1/servers",
    "disk": "/volume/v3/volumes",
    "inner": "/network/v2.0/networks",
    "volume": "/volume/v3/volumes",
}
"""Where the objects of resources are."""
MILDER: Mapping[str, tuple[str, ...]] = {"replace": ("update", "keep"), "update": ("keep",)}
"""What a step that depends on an unknown value can turn out to be besides."""


def template(words: Mapping[str, str]) -> dict[str, Any]:
    """Return a definition with these words in its resources."""
    net = {"get_resource": "net"}
    resources: dict[str, Any] = {
        "net": {"type": "OS::Neutron::Net", "properties": {"name": words["net"]}},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": net, "cidr": "10.9.0.0/24", "name": words["subnet"]},
        },
        "port": {
            "type": "OS::Neutron::Port",
            "depends_on": "subnet",
            "properties": {"network": net, "name": words["port"]},
        },
        "web": {
            "type": "OS::Nova::Server",
            "properties": {
                "image": "cirros", "flavor": "m1.tiny", "name": words["web"], "user_data_format": "RAW",
                "user_data": words["data"], "networks": [{"port": {"get_resource": "port"}}],
            },
        },
        "disk": {"type": "OS::Cinder::Volume", "properties": {"size": 1, "description": words["disk"]}},
        "link": {
            "type": "OS::Cinder::VolumeAttachment",
            "properties": {"instance_uuid": {"get_resource": "web"}, "volume_id": {"get_resource": "disk"}},
        },
        "value": {"type": "OS::Heat::Value", "properties": {"value": {"get_attr": ["web", "name"]}}},
        "nested": {"type": "child.yaml", "properties": {"word": words["nested"]}},
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": int(words["count"]),
                "resource_def": {"type": "OS::Neutron::Net", "properties": {"name": words["group"]}},
            },
        },
        "marked": {"type": "OS::Neutron::SecurityGroup", "properties": {"description": words["marked"]}},
    }  # fmt: skip
    return {"heat_template_version": "2021-04-16", "resources": resources}


@dataclass(frozen=True)
class Event:
    """Something that happens to the stack. `refused` is a request to the cloud that fails once meanwhile."""

    verb: str
    words: Mapping[str, str] = field(default_factory=lambda: START)
    refused: str = ""
    victim: str = ""


@dataclass(frozen=True)
class PlanScenario:
    """How a stack is created, and what happens to it; it is updated with `last` at the end."""

    first: Event
    events: tuple[Event, ...]
    last: Event


def random_scenario(chance: random.Random) -> PlanScenario:
    """Return a random scenario."""

    def words() -> dict[str, str]:
        return {**{name: chance.choice(("one", "one", "one", "two")) for name in WORDS}, "count": chance.choice("1223")}

    def event() -> Event:
        verb = chance.choice(("update", "update", "update", "check", "suspend", "resume", "restore", "unhealthy"))
        if verb == "update":
            return Event(verb, words(), chance.choice((*CHANGES, "", "")))
        refused = chance.choice((ACTION, "", "")) if verb in ("suspend", "resume", "restore") else ""
        return Event(verb, START, refused, chance.choice(sorted(OBJECTS)))

    first = Event("create", START, chance.choice((*CREATIONS, *[""] * 15)))
    events = tuple(event() for _ in range(chance.randint(1, 4)))
    return PlanScenario(first, events, Event("update", chance.choice((START, words()))))


class RefusingInjector(SingleFaultInjector):
    """Kind, but for one request that is refused once."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = ""

    def fault(self, request: Request) -> Fault | None:
        method, _, path = self.refused.partition(" ")
        if not self.refused or request.method != method or not fnmatchcase(request.path, path):
            return None
        self.refused = ""
        return Fault(on="* *", do="fail", status=400, message="This is refused.")


class PlanScenarios(FaultTestbed):
    """Runs scenarios, one after the other, on one cloud."""

    injector_class = RefusingInjector

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.problems: list[str] = []
        self.compared = 0
        self._snapshot = ""

    def begin(self) -> None:
        """Start the cloud and the engine."""
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._start())

    async def _start(self) -> None:
        self.cloud.start()
        await self.engines.start()
        await self._warm_up()
        self.engines.user = "demo"

    def run_scenario(self, scenario: PlanScenario) -> list[str]:
        """Let a scenario happen; return the differences between plans and what was done."""
        return self.loop.run_until_complete(self._run_scenario(scenario))

    async def _run_scenario(self, scenario: PlanScenario) -> list[str]:
        self.problems, self._snapshot = [], ""
        self._refuse(scenario.first)
        await self.engines.call(
            "stack_create", name=REF["name"], template=template(START), files=FILES, disable_rollback=True
        )
        await self._rest()
        if (await self._state()) == "CREATE COMPLETE":
            self._snapshot = (await self.engines.call("snapshot_create", ref=REF, name="saved"))["id"]
            await self._rest()
        for event in (*scenario.events, scenario.last):
            await self._happen(event)
        await self.engines.call("stack_delete", ref=REF)
        await self._rest()
        return self.problems

    async def _happen(self, event: Event) -> None:
        self._refuse(event)
        verbs: Mapping[str, Callable[[Event], Awaitable[None]]] = {
            "update": self._update,
            "check": self._check,
            "suspend": self._act,
            "resume": self._act,
            "restore": self._restore,
            "unhealthy": self._mark,
        }
        try:
            await verbs[event.verb](event)
        except StokerError as error:  # not every request is possible in every state
            self.injector.trace.append(f"{event.verb}: {error.message}")
        await self._rest()
        self._refuse(Event(""))

    def _refuse(self, event: Event) -> None:
        assert isinstance(self.injector, RefusingInjector)
        self.injector.refused = event.refused

    async def _update(self, event: Event) -> None:
        request = {"ref": REF, "template": template(event.words), "files": FILES, "refresh": "changes"}
        plan = (await self.engines.call("stack_update_preview", **request, show_nested=True))["plan"]
        state, before, seen = await self._state(), await self._rows(), len(await self._events())
        await self.engines.call("stack_update", **request, disable_rollback=True)
        await self._rest()
        if (await self._state()) == "UPDATE COMPLETE":
            self.compared += 1
            updated = {path for path, action in (await self._events())[seen:] if action in ("UPDATE", "RESUME")}
            found = done(before, await self._rows(), updated)
            self.problems += [f"after {state}: {text}" for text in differences(plan, found)]

    async def _check(self, event: Event) -> None:
        """Delete an object without Stoker's knowledge, and check the stack."""
        rows = {path.rpartition(".")[2]: row for path, row in (await self._rows()).items()}
        found = rows.get(event.victim, {}).get("physical_id")
        if found is not None:
            token, _ = self.engines._log_in("admin", "admin")
            path = f"{OBJECTS[event.victim]}/{found}"
            dispatch(self.cloud, Request("DELETE", path, headers={"X-Auth-Token": token}))
        await self.engines.call("stack_action", ref=REF, action="check")

    async def _act(self, event: Event) -> None:
        await self.engines.call("stack_action", ref=REF, action=event.verb)

    async def _restore(self, event: Event) -> None:
        if self._snapshot:
            await self.engines.call("snapshot_restore", ref=REF, snapshot_id=self._snapshot)

    async def _mark(self, event: Event) -> None:
        arguments = {"mark_unhealthy": True, "resource_status_reason": "it is slow"}
        await self.engines.call("resource_mark_unhealthy", ref=REF, name=event.victim, **arguments)

    # -- what can be seen ----------------------------------------------------------------------------------------------

    async def _rest(self) -> None:
        """Return when no operation is in progress."""
        while self._unfinished():  # noqa: ASYNC110  operations set no event
            await asyncio.sleep(1.0)

    async def _state(self) -> str:
        shown = await self.engines.call("stack_show", ref=REF)
        return f"{shown['action']} {shown['status']}"

    async def _rows(self) -> dict[str, dict[str, Any]]:
        """Return the current resources by their paths, each with the UUIDs of all resources of its name."""
        found = await self.engines.call("resource_list", ref=REF, nested_depth=3)
        listed = [{**row, **found["stacks"][row["stack_id"]]} for row in found["resources"]]
        paths = self._paths(listed)
        query = select(resources.c.uuid, resources.c.name, resources.c.stack_id, resources.c.created_at)
        rows = {f"{paths[row['stack_id']]}{row['name']}": {**row, "uuids": {}} for row in listed}
        with self.engines.database.engine.connect() as connection:
            for uuid, name, stack_id, created_at in connection.execute(query):
                path = f"{paths.get(stack_id, '?')}{name}"
                if path in rows:
                    rows[path]["uuids"][uuid] = created_at
        return rows

    def _paths(self, listed: list[dict[str, Any]]) -> dict[str, str]:
        """Return the beginning of the paths in each stack."""
        paths = {row["root_stack_id"]: "" for row in listed}
        for _ in range(3):
            for row in listed:
                if row["nested_id"] and row["stack_id"] in paths:
                    paths[row["nested_id"]] = f"{paths[row['stack_id']]}{row['name']}."
        return paths

    async def _events(self) -> list[tuple[str, str]]:
        """Return path and action of all events of resources, oldest first."""
        events = await self.engines.call("event_list", ref=REF, nested_depth=3)
        found = await self.engines.call("resource_list", ref=REF, nested_depth=3)
        paths = self._paths([{**row, **found["stacks"][row["stack_id"]]} for row in found["resources"]])
        return [(f"{paths.get(event['stack_id'], '?')}{event['resource_name']}", event["action"]) for event in events]


def done(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]], updated: set[str]
) -> dict[str, str]:
    """Return what was done to each resource. One that was not created before, or was to be deleted, is created."""
    found = {}
    for path in {**before, **after}:
        old, new = before.get(path), after.get(path)
        if old is None or old["action"] == "INIT":
            found[path] = "create"
        elif new is None:
            found[path] = "delete"
        elif new["uuids"].keys().isdisjoint(old["uuids"]):
            found[path] = "create" if old["action"] == "DELETE" else "replace"
        else:
            found[path] = "update" if path in updated else "keep"
    return found


def differences(plan: Mapping[str, Any], found: Mapping[str, str]) -> Iterator[str]:
    """Yield where a plan and what was done differ."""
    steps = [_as_recorded(step) for step in plan["steps"] if step["kind"] != "delete"]
    replaced = {step["path"] for step in steps if step["kind"] == "replace"}
    removed = [step for step in plan["steps"] if step["kind"] == "delete" and step["path"] not in replaced]
    announced = {step["path"]: step for step in (*removed, *steps)}
    for path, what in found.items():
        step = announced.get(path)
        kind = step["kind"] if step is not None else "keep"
        if kind == what:
            continue
        unknown = step is not None and any(reason["code"] == "may-change" for reason in step["reasons"])
        if not (unknown and what in MILDER.get(kind, ())):
            why = "; ".join(reason["message"] for reason in step["reasons"]) if step is not None else "not in the plan"
            yield f"{path}: the plan says {kind} ({why}), the update did {what}"
    for path in announced.keys() - found.keys():
        if announced[path]["kind"] not in ("delete", "keep"):
            yield f"{path}: the plan says {announced[path]['kind']}, and there is nothing"


def _as_recorded(step: dict[str, Any]) -> dict[str, Any]:
    """Return a step as the record shows it: a new object for a resource that has lost its object replaces that one."""
    is_gone = any(reason["code"] == "deleted-outside" for reason in step["reasons"])
    return {**step, "kind": "replace"} if is_gone and step["kind"] == "create" else step


def memory_directory() -> str | None:
    """Return a directory in memory, where commits wait for no disk; None, which means the usual one, without it."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def opened(directory: str) -> PlanScenarios:
    """Return an empty place for scenarios in a directory."""
    path = Path(directory) / "stoker.db"
    path.write_bytes(empty_database())
    scenarios = PlanScenarios(path)
    scenarios.begin()
    return scenarios


def main(seed: int, number: int = 1) -> None:
    """Tell random scenarios."""
    with tempfile.TemporaryDirectory(prefix="stoker-plans-", dir=memory_directory()) as directory:
        scenarios = opened(directory)
        for each in range(seed, seed + number):
            random.seed(each)
            scenario = random_scenario(random.Random(each))
            problems = scenarios.run_scenario(scenario)
            events = [f"{event.verb} {event.refused or event.victim}".strip() for event in scenario.events]
            reported = {"seed": each, "first": scenario.first.refused, "events": events, "problems": problems}
            print(json.dumps({**reported, "compared": scenarios.compared}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
