"""While a cluster is upgraded, API processes and engines of the release before and of this one call each other."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.context import RequestContext
from stoker.contract.request import ADDED, Answer, Request, wire_name
from stoker.engine.ownership.peers import NoPeers
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.rpc.contract import answer_of, packed, reply_of, unpacked
from stoker.rpc.dispatch import Dispatcher
from stoker.store.database import Database
from stoker.store.records import COMPLETE, PENDING, UNFINISHED
from stoker.store.tables import operations, stacks
from stoker_foundation.clock import SystemClock
from testing.harness import World
from tests.upgrades import mixed_releases, releases

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("releases")]

BEFORE = "0.1.0"
PROGRAM = Path(mixed_releases.__file__)


def requests() -> dict[str, type[Request[Any]]]:
    """Every request class by its method."""
    found: dict[str, type[Request[Any]]] = {}
    waiting: list[type[Request[Any]]] = [Request]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__dict__.get("method") in OPERATIONS:
            found[kind.method] = kind
    return found


@pytest.fixture
def sources(extracted: Callable[[str], Path]) -> Path:
    return extracted(BEFORE)


def test_every_method_of_the_release_before_takes_what_this_one_sends(sources: Path) -> None:
    done = releases.run(sources, str(PROGRAM), "signatures")
    assert done.returncode == 0, done.stderr
    known = requests()
    for method, taken in json.loads(done.stdout).items():
        ours = {wire_name(item): item.default for item in fields(known[method])}  # type: ignore[arg-type]
        declared = {wire_name(item) for item in fields(known[method]) if item.metadata.keys() & ADDED}  # type: ignore[arg-type]
        assert declared == ours.keys() - taken.keys(), method
        for name, argument in taken.items():
            if "default" not in argument:
                assert ours.get(name, "absent") is MISSING, f"{method}: {name} must always be sent"
        for name, default in ours.items():
            if default is MISSING:
                assert name in taken, f"{method}: {name} is always sent"
            elif name in taken:
                before = taken[name]["default"]
                assert before == (list(default) if isinstance(default, tuple) else default), f"{method}: {name}"


async def test_an_api_of_the_release_before_calls_an_engine_of_this_one(sources: Path, tmp_path: Path) -> None:
    with ServedCloud(new_cloud(pace=0.0)) as served:
        world = await World(tmp_path / "stoker.db", served, clock=SystemClock()).start()
        context = world.context
        identity = {"user_id": context.user_id, "project_id": context.project_id, "roles": list(context.roles)}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(PROGRAM),
            "api",
            json.dumps({**identity, "token": context.token}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            limit=2**24,
            env=dict(releases.environment(sources)),
        )
        assert process.stdin is not None and process.stdout is not None
        service = Dispatcher(world.engine, OPERATIONS)
        methods, seen = set(), None
        while line := await process.stdout.readline():
            call = json.loads(line)
            if "seen" in call:
                seen = call["seen"]
                break
            methods.add(call["method"])
            caller = RequestContext.from_dict(call["caller"])
            reply = await reply_of(service, caller, call["method"], unpacked(call["arguments"]))
            process.stdin.write(json.dumps(reply).encode() + b"\n")
        await process.wait()
        await world.stop()
    assert seen is not None
    assert methods == set(OPERATIONS) - NOT_USED - NEW


NOT_USED = {"container_files", "event_news", "service_list", "stack_abandon", "stack_export", "stack_of_object"}
"""Methods that need an administrator, an object store, streams or other options; their signatures are compared."""

NEW = {
    "drift_accept", "generated_template_create", "generated_template_delete", "generated_template_list",
    "generated_template_show", "generated_template_update", "generated_type_list", "project_generate", "resource_find",
    "resource_scan_list", "resource_scan_objects", "resource_scan_show", "resource_scan_start", "stack_action_preview",
    "stack_lock", "stack_unlock", "orphan_find", "operation_events", "drift_watch_change", "drift_watch_show",
    "stack_refactor_actions", "stack_refactor_create", "stack_refactor_execute", "stack_refactor_list",
    "stack_refactor_show", "change_control_change", "change_control_show", "change_request_break_glass",
    "change_request_judge", "change_request_list", "change_request_show", "plan_policies_change", "plan_policies_show",
    "policy_result_list", "policy_result_show",
}  # fmt: skip
"""Methods that the release before does not have."""


class PipedClient:
    """An `EngineClient` that calls an engine in another process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def call(self, context: RequestContext, request: Request[Answer], timeout: float = 60.0) -> Answer:
        arguments = packed("the arguments", request.arguments())
        assert self._process.stdin is not None and self._process.stdout is not None
        sent = {"caller": context.to_dict(), "method": request.method, "arguments": arguments}
        print(json.dumps(sent), file=self._process.stdin, flush=True)
        return answer_of(request, json.loads(self._process.stdout.readline()))


def test_an_api_of_this_release_calls_an_engine_of_the_one_before(sources: Path, tmp_path: Path) -> None:
    with ServedCloud(new_cloud(pace=0.0)) as served:
        arguments = (str(tmp_path / "stoker.db"), served.url, served.token("demo", "demo"))
        with subprocess.Popen(
            [sys.executable, str(PROGRAM), "engine", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(releases.environment(sources)),
        ) as process:
            assert process.stdout is not None and process.stdin is not None
            identity = json.loads(process.stdout.readline())
            seen = mixed_releases.scenario(PipedClient(process), identity)
            process.stdin.close()
        assert process.returncode == 0
    assert seen


# -- engines of two releases on one database --------------------------------------------------------------------------

MEMBERS = 12
TREE = {"name": "tree", "id": None}


def tree(label: str) -> dict[str, Any]:
    """A request for a group of nested stacks, each with a network."""
    net = {"type": "OS::Neutron::Net", "properties": {"name": {"get_param": "label"}}}
    member = {**mixed_releases.HEAD, "parameters": {"label": {"type": "string"}}, "resources": {"net": net}}
    definition = {"type": "member.yaml", "properties": {"label": f"{label}-%index%"}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": MEMBERS, "resource_def": definition}}
    return {
        "template": {**mixed_releases.HEAD, "resources": {"group": group}},
        "files": {"member.yaml": json.dumps(member)},
    }


@contextmanager
def engine_of_the_release_before(sources: Path, path: Path, served: ServedCloud) -> Iterator[str]:
    """An engine on a database, in a process of its own, until the end of the context: its ID."""
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), "join", str(path), served.url, served.token("demo", "demo")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(releases.environment(sources)),
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        yield process.stdout.readline().strip()
        process.stdin.close()
    assert process.returncode == 0


@contextmanager
def served_cloud() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(pace=0.0)) as served:
        yield served


async def engine_that_offers(path: Path, served: ServedCloud, *, takes: bool) -> World:
    """An engine of this release that offers nearly all nested stacks; unless it `takes` offers, to others only."""
    settings = EngineSettings(
        heartbeat_seconds=mixed_releases.HEARTBEAT_SECONDS,
        lease_seconds=mixed_releases.LEASE_SECONDS,
        nested_at_once=1,
    )
    world = await World(path, served, clock=SystemClock(), settings=settings, peers=NoPeers()).start()
    world.engine.membership.shared_work._is_trial = not takes
    return world


async def until(database: Database, *statuses: str, some: bool) -> None:
    """Return when some operations have one of these statuses, or none any more."""
    query = select(operations.c.id).where(operations.c.status.in_(statuses)).limit(1)
    for _ in range(3000):
        found = await database.read(lambda connection: connection.execute(query).first())
        if (found is not None) == some:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the operations do not get there")


def changes(served: ServedCloud) -> Counter[str]:
    """How many requests have changed networks, by their method."""
    entries = served.do(lambda: served.cloud.journal.select({}))
    return Counter(entry["method"] for entry in entries if "/networks" in entry["path"] and entry["method"] != "GET")


@pytest.mark.parametrize("takes", [False, True])
async def test_an_engine_of_the_release_before_shares_what_one_of_this_release_offers(
    sources: Path, tmp_path: Path, takes: bool
) -> None:
    """It takes offers over as operations without an owner; each is carried out once."""
    path = tmp_path / "stoker.db"
    with served_cloud() as served:
        world = await engine_that_offers(path, served, takes=takes)
        with engine_of_the_release_before(sources, path, served) as before:
            await world.engine.membership.beat()
            assert world.engine.others.alive
            for method, arguments in (
                ("stack_create", {"name": "tree", **tree("first")}),
                ("stack_update", {"ref": TREE, **tree("second")}),
                ("stack_delete", {"ref": TREE}),
            ):
                await world.call(method, **arguments)
                await until(world.database, *UNFINISHED, some=False)
            columns = operations.c
            query = select(columns.action, columns.owner, columns.epoch, columns.status)
            rows = await world.database.read(lambda connection: connection.execute(query).all())
        await world.stop()
        assert Counter((row.action, row.epoch, row.status) for row in rows) == {
            (action, 1, COMPLETE): MEMBERS + 2 for action in ("CREATE", "UPDATE", "DELETE")
        }
        assert changes(served) == {"POST": MEMBERS, "PUT": MEMBERS, "DELETE": MEMBERS}
        theirs = Counter(row.action for row in rows if row.owner == before)
        # Which engine is first with the last ones depends on the machine: this one continues with its own.
        assert takes or all(theirs[action] > MEMBERS // 2 for action in ("CREATE", "UPDATE", "DELETE"))


async def test_previous_release_completes_operations_of_this_release(sources: Path, tmp_path: Path) -> None:
    """With offers that nobody has taken yet."""
    path = tmp_path / "stoker.db"
    with served_cloud() as served:
        world = await engine_that_offers(path, served, takes=False)
        with engine_of_the_release_before(sources, path, served):
            await world.engine.membership.beat()
            await world.call("stack_create", name="tree", **tree("first"))
            await until(world.database, PENDING, some=True)
            await world.stop()
            database = Database(f"sqlite:///{path}")
            await until(database, *UNFINISHED, some=False)
            statuses = database.read_now(lambda connection: connection.execute(select(stacks.c.status)).scalars().all())
            database.close()
        assert Counter(statuses) == {COMPLETE: MEMBERS + 2}
        assert changes(served) == {"POST": MEMBERS}
