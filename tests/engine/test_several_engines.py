"""Two engines on one database: rows decide, and messages, which may all be lost, only make it quicker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.context import RequestContext
from stoker.base.errors import ActionInProgress, Fenced
from stoker.cloud.transport import Answer, Request
from stoker.contract import request as contract
from stoker.engine.core import Engine
from stoker.engine.ownership.peers import NoPeers, PeerUnavailable
from stoker.engine.running.stop import Stop
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.plugins.resource import Call
from stoker.store import claims, queries
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, PENDING, SUPERSEDED, Operation
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import World

REF = {"name": "shared", "id": None}
# The tests' clock runs much quicker than the machine works: leases are long, so that only tests make them lapse.
SETTINGS = EngineSettings(lease_seconds=5000.0, stack_action_timeout=10_000_000)
HELD = {"resource_registry": {"resources": {"held": {"hooks": "pre-create"}}}}


def template(value: str = "x", **others: Any) -> dict[str, Any]:
    held = {"type": "OS::Heat::TestResource", "properties": {"value": value}}
    return {"heat_template_version": "2021-04-16", "resources": {"held": held, **others}}


class Wires(NoPeers):
    """Messages to the other engine, while `cut` is not set."""

    def __init__(self) -> None:
        self.engines: dict[str, World] = {}
        self.cut = False
        self.notified: list[tuple[str, str]] = []

    def _others(self) -> list[World]:
        return [] if self.cut else list(self.engines.values())

    def offer(self, operation_id: str, engine_id: str | None = None) -> None:
        named = [world for world in self._others() if engine_id in (None, world.engine.services.id)]
        for world in named[-1:]:
            world.engine.services.background.spawn(world.engine.membership.offered(operation_id))

    def alert(self, engine_id: str) -> None:
        for world in self._others():
            if world.engine.services.id == engine_id:
                world.engine.services.background.spawn(world.engine.membership.alerted())

    def finished(self, operation_id: str, engine_id: str) -> None:
        for world in self._others():
            if world.engine.services.id == engine_id:
                self.notified.append((operation_id, engine_id))
                world.engine.services.background.spawn(world.engine.membership.ended(operation_id))

    async def forward(
        self, engine_id: str, context: RequestContext, request: contract.Request[contract.Answer], seconds: float
    ) -> contract.Answer:
        if self.cut:
            raise PeerUnavailable("the wire is cut")
        operation = OPERATIONS[request.method]
        answer: contract.Answer = await operation(self.engines[engine_id].engine, context, request.arguments())
        return answer


@pytest.fixture(params=["with messages", "all messages lost"])
def wires(request: pytest.FixtureRequest) -> Wires:
    wires = Wires()
    wires.cut = request.param == "all messages lost"
    return wires


@pytest.fixture
async def pair(served: ServedCloud, tmp_path: Path, wires: Wires) -> AsyncIterator[tuple[World, World]]:
    """Two engines that know of each other, on one clock."""
    clock = ManualClock(SystemClock().now())
    worlds = [World(tmp_path / "stoker.db", served, clock=clock, settings=SETTINGS, peers=wires) for _ in range(2)]
    for world in worlds:
        await world.start()
        wires.engines[world.engine.services.id] = world
    await worlds[0].engine.membership.beat()
    assert [world.engine.others.alive for world in worlds] == [True, True]
    yield worlds[0], worlds[1]
    for world in worlds:
        await world.stop()


async def operation(world: World, identifier: str) -> Operation:
    found = await world.database.read(queries.operation_by_id, identifier)
    assert found is not None
    return found


async def current(world: World) -> Operation:
    stack = await world.database.read(queries.stack_by_name, world.context.project_id, "shared")
    assert stack is not None and stack.operation is not None
    return await operation(world, stack.operation)


async def ended(world: World, identifier: str) -> Operation:
    """Return the operation once it has ended; the clock advances meanwhile."""
    for _ in range(4000):
        found = await operation(world, identifier)
        if found.finished_at is not None:
            return found
        await world.turn()
    raise AssertionError("the operation never ended")


async def running(pair: tuple[World, World], identifier: str) -> World:
    """Whichever of the two runs the operation, once its step is held."""
    for _ in range(2000):
        for world in pair:
            for run in world.engine.runs.values():
                if run.operation.id == identifier and run.waiting.paused:
                    return world
        await pair[0].turn()
    raise AssertionError(f"nobody holds it: {await operation(pair[0], identifier)}")


async def begun(world: World, environment: Mapping[str, Any] | None = None, **properties: Any) -> Operation:
    """An operation that the world's engine runs, held by a hook."""
    await world.call("stack_create", name="shared", template=template(), environment=environment or HELD)
    await world.until(lambda: any(run.waiting.paused for run in world.engine.runs.values()))
    found = await current(world)
    assert found.owner == world.engine.services.id
    return found


async def test_update_on_another_engine_supersedes_running_operation(pair: tuple[World, World]) -> None:
    owner, other = pair
    first = await begun(owner)
    await other.call("stack_update", ref=REF, template=template("y"))
    second = await current(other)
    assert (await ended(other, first.id)).status == SUPERSEDED
    assert (await ended(other, second.id)).status == COMPLETE


async def test_new_operation_waits_for_release_by_other_engine(pair: tuple[World, World], wires: Wires) -> None:
    owner, other = pair
    wires.cut = True
    first = await begun(owner)
    await other.call("stack_delete", ref=REF)
    waiting = await current(other)
    assert (waiting.status, waiting.owner) == (PENDING, None)
    assert not await other.engine.membership.takeovers.take([waiting.id])
    await owner.engine.membership.reconcile()
    assert (await ended(other, first.id)).status == SUPERSEDED
    assert (await ended(other, waiting.id)).status == COMPLETE


async def test_cancelling_reaches_the_engine_that_runs_the_stack(pair: tuple[World, World]) -> None:
    owner, other = pair
    first = await begun(owner)
    await other.call("stack_action", ref=REF, action="cancel_without_rollback")
    assert (await ended(other, first.id)).status == FAILED
    shown = await other.call("stack_show", ref=REF)
    assert (shown["action"], shown["status"]) == ("CREATE", FAILED)


async def test_a_hook_is_cleared_where_the_stack_runs_or_not_at_all(pair: tuple[World, World], wires: Wires) -> None:
    owner, other = pair
    first = await begun(owner)
    clear = other.call("resource_signal", ref=REF, name="held", details={"unset_hook": "pre-create"})
    if wires.cut:
        with pytest.raises(ActionInProgress, match="retry the request"):
            await clear
        assert (await operation(owner, first.id)).finished_at is None
    else:
        await clear
        assert (await ended(other, first.id)).status == COMPLETE


async def test_a_parent_continues_when_its_child_has_ended_on_another_engine(
    pair: tuple[World, World], wires: Wires
) -> None:
    owner, other = pair
    member = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 3, "resource_def": {"type": "member.yaml"}}}
    text = "heat_template_version: 2021-04-16\nresources: {r: {type: OS::Heat::TestResource}}\n"
    made = await owner.call("stack_create", name="shared", template=template(group=member), files={"member.yaml": text})
    assert (await ended(owner, (await current(owner)).id)).status == COMPLETE
    assert (await other.call("stack_show", ref={"name": None, "id": made["id"]}))["status"] == COMPLETE
    await other.until(lambda: not other.engine.services.background.tasks)
    # Only those that run where the operation above does not; none if that has seen the end by itself before.
    for identifier, notified in wires.notified:
        inner = await operation(owner, identifier)
        assert inner.parent_operation is not None and not wires.cut
        above = await operation(owner, inner.parent_operation)
        assert inner.owner != above.owner == notified


def pause(engine: Engine) -> None:
    """Have it report itself no more, as if its process stood still."""
    membership = engine.membership
    membership.leave()
    membership._gone = True
    engine.services.background.stopped = False  # it does not stop
    assert membership._timer is not None
    membership._timer.cancel()


async def test_an_engine_past_its_lease_is_replaced_and_refused(pair: tuple[World, World], kept: list[Any]) -> None:
    owner, other = pair
    first = await begun(owner)
    run = next(iter(owner.engine.runs.values()))
    pause(owner.engine)
    assert isinstance(owner.clock, ManualClock)
    owner.clock.advance(SETTINGS.lease_seconds + 1)
    while (taken := await operation(other, first.id)).owner != other.engine.services.id:
        await other.turn()
    assert taken.epoch == 2
    with pytest.raises(Fenced):
        await run.commit(Batch())
    held = asyncio.ensure_future(owner.engine.runs.lease.wait_until_valid())
    await other.turn()
    assert owner.engine.runs.lease.is_expired and not held.done()
    await owner.engine.membership.beat()
    await held
    assert run.progress.stopping is Stop.LOST
    about = {record.getMessage(): (record.operation, record.request_id) for record in kept if record.operation}
    named = f"[operation {first.id}] ", owner.context.request_id
    assert about[f"resuming CREATE of stack shared: taken over from engine {owner.engine.services.id}"] == named
    assert about[f"operation {first.id} of stack shared was taken over by another engine"] == named
    assert await running((other, other), first.id) is other
    await other.call("resource_signal", ref=REF, name="held", details={"unset_hook": "pre-create"})
    assert (await ended(other, first.id)).status == COMPLETE


async def test_operation_claimed_during_stop_is_handed_over(pair: tuple[World, World], wires: Wires) -> None:
    owner, other = pair
    first = await begun(owner)
    await owner.engine.stop()
    other.engine.services.background.spawn(other.engine.membership.offered(first.id))
    await asyncio.sleep(0)
    stopping = asyncio.ensure_future(other.engine.stop())
    await other.until(stopping.done)
    left = await operation(other, first.id)
    assert (left.owner, left.finished_at) == (None, None)
    taken = left.epoch - 1
    assert taken == 1 or (taken == 2 and not wires.cut)  # the goodbye of the first is a message, too


async def test_an_engine_that_stops_hands_over_at_once(
    pair: tuple[World, World], wires: Wires, kept: list[Any]
) -> None:
    owner, other = pair
    first = await begun(owner)
    await owner.engine.stop()
    if not wires.cut:
        assert (await operation(other, first.id)).owner in (None, other.engine.services.id)
    while (await operation(other, first.id)).owner != other.engine.services.id:
        await other.turn()
    assert await running((other, other), first.id) is other
    reported = [record.getMessage() for record in kept if record.name.startswith("stoker.engine")]
    handed_over = "handing over CREATE of stack shared"
    assert reported[reported.index(handed_over) :] == [
        handed_over, "resuming CREATE of stack shared: another engine handed it over"
    ]  # fmt: skip
    await other.call("resource_signal", ref=REF, name="held", details={"unset_hook": "pre-create"})
    assert (await ended(other, first.id)).status == COMPLETE


async def test_two_engines_that_find_the_same_object_do_not_both_own_it(
    pair: tuple[World, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two networks of one name one creation succeeds and says 503, the other is not carried out."""
    served = pair[0].served
    for do in ("succeed_but_fail", "fail"):
        rule = Fault(on="POST /network/v2.0/networks", match={"name": "twin"}, do=do, status=503, times=1)
        served.do(partial(served.cloud.faults.add, rule))
    found: list[str | None] = []
    both = asyncio.Event()

    def together(find: Any) -> Any:
        async def search(call: Call) -> str | None:
            result: str | None = await find(call)
            found.append(result)
            if len(found) == 2:
                both.set()
            await both.wait()
            return result

        return search

    for world in pair:
        kind = world.engine.services.types.registry.types.get("OS::Neutron::Net")
        assert kind is not None
        monkeypatch.setattr(kind, "find", together(kind.find))
    net = {"type": "OS::Neutron::Net", "properties": {"name": "twin"}}
    definition = {"heat_template_version": "2021-04-16", "resources": {"net": net}}
    made = [await world.call("stack_create", name=f"twin{n}", template=definition) for n, world in enumerate(pair)]
    shown = [await over(world, stack["id"]) for world, stack in zip(pair, made, strict=True)]
    assert [stack["status"] for stack in shown] == [COMPLETE, COMPLETE]
    assert found[0] is not None and found[0] == found[1]
    ids = {(await world.resources(f"twin{n}"))["net"]["physical_id"] for n, world in enumerate(pair)}
    listed = served.call("GET", "/network/v2.0/networks?name=twin", token=served.token()).json["networks"]
    assert ids == {network["id"] for network in listed} and len(listed) == 2


@pytest.mark.parametrize("engines", [(0, 1), (0, 0)], ids=["of two engines", "of one engine"])
@pytest.mark.parametrize("properties", [{}, {"tags": ["blue"]}], ids=["ready at once", "ready later"])
async def test_late_creation_response_does_not_record_object_twice(
    pair: tuple[World, World],
    monkeypatch: pytest.MonkeyPatch,
    engines: tuple[int, int],
    properties: dict[str, Any],
) -> None:
    """Two objects of one name: of one the answer is on its way, the other's creation is not carried out at first."""
    first, second = (pair[number] for number in engines)
    served = first.served
    answered, go_on = asyncio.Event(), asyncio.Event()
    exchange = first.pool.transport._exchange

    async def slow(request: Request) -> Answer:
        answer = await exchange(request)
        if request.method == "POST" and request.url.endswith("/networks") and not answered.is_set():
            answered.set()
            await go_on.wait()
        return answer

    monkeypatch.setattr(first.pool.transport, "_exchange", slow)
    definition = {
        "heat_template_version": "2021-04-16",
        "resources": {"twin": {"type": "OS::Neutron::Net", "properties": {"name": "twin", **properties}}},
    }
    made = [await first.call("stack_create", name="twin0", template=definition)]
    await answered.wait()
    served.do(partial(served.cloud.faults.add, Fault(on="POST /network/v2.0/networks", do="fail", status=503, times=1)))
    made.append(await second.call("stack_create", name="twin1", template=definition))
    assert (await over(second, made[1]["id"]))["status"] == COMPLETE

    go_on.set()
    assert (await over(first, made[0]["id"]))["status"] == COMPLETE

    ids = {(await first.resources(name))["twin"]["physical_id"] for name in ("twin0", "twin1")}
    listed = served.call("GET", "/network/v2.0/networks?name=twin", token=served.token()).json["networks"]
    assert ids == {network["id"] for network in listed} and len(listed) == 2


async def over(world: World, stack_id: str) -> dict[str, Any]:
    """Return the stack once no operation runs on it; the clock advances meanwhile."""
    for _ in range(4000):
        shown: dict[str, Any] = await world.call("stack_show", ref={"name": None, "id": stack_id})
        if shown["status"] != IN_PROGRESS:
            return shown
        await world.turn()
    raise AssertionError("it never ended")


async def test_nested_stack_changed_by_another_engine_is_read_again(
    pair: tuple[World, World],
) -> None:
    """The holder's row is written by the engine that acts on it: the note that something has changed survives."""
    owner, other = pair
    inner = {"type": "OS::Heat::TestResource", "properties": {"value": "made"}}
    files = {"member.yaml": json.dumps({"heat_template_version": "2021-04-16", "resources": {"inner": inner}})}
    definition: dict[str, Any] = {
        "heat_template_version": "2021-04-16",
        "resources": {"member": {"type": "member.yaml"}},
    }
    made = await owner.call("stack_create", name="shared", template=definition, files=files)
    await over(owner, made["id"])
    child = {"name": None, "id": (await owner.resources("shared"))["member"]["physical_id"]}
    before = await other.call("resource_show", ref=child, name="inner")

    definition["resources"] |= {
        "slow": {"type": "OS::Heat::TestResource", "properties": {"action_wait_secs": {"create": 50}}},
        "member": {"type": "member.yaml", "depends_on": "slow"},
    }
    await owner.call("stack_update", ref=REF, template=definition, files=files)
    run = owner.engine.runs[made["id"]]
    for _ in range(1000):  # the clock stands still
        if run.waiting.paused:
            break
        await asyncio.sleep(0.002)
    mark = {"mark_unhealthy": True, "resource_status_reason": "it is broken"}
    await other.call("resource_mark_unhealthy", ref=child, name="inner", **mark)
    await over(owner, made["id"])
    marked = await other.call("resource_show", ref=child, name="inner")
    assert (marked["action"], marked["status"]) == ("CHECK", FAILED)

    await owner.call("stack_update", ref=REF, template=definition, files=files)
    await over(owner, made["id"])
    after = await other.call("resource_show", ref=child, name="inner")
    assert (after["action"], after["status"]) == ("CREATE", COMPLETE)
    assert after["physical_id"] != before["physical_id"]
    recorded = await other.database.read(queries.stack_by_id, child["id"])
    assert recorded is not None and not recorded.changed_directly


async def superseded_creation(
    pair: tuple[World, World],
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    begin: Awaitable[Any],
    made: Callable[[], Awaitable[bool]],
) -> None:
    """Have the first engine's request for an object be under way for longer than its lease, so that the second one
    finds nothing and makes an object itself. The request, to which `begin` leads, is carried out when that is `made`.
    """
    owner, other = pair
    assert isinstance(owner.clock, ManualClock)
    under_way, go_on = asyncio.Event(), asyncio.Event()
    exchange = owner.pool.transport._exchange

    async def slow(request: Request) -> Answer:
        if request.method == "POST" and request.url.endswith(path):
            under_way.set()
            await go_on.wait()
        return await exchange(request)

    monkeypatch.setattr(owner.pool.transport, "_exchange", slow)
    await begin
    await under_way.wait()
    pause(owner.engine)
    owner.clock.advance(SETTINGS.lease_seconds + 1)
    while (await operation(other, (await current(other)).id)).owner != other.engine.services.id:
        await other.turn()
    while not await made():
        await other.turn()

    await owner.engine.membership.beat()
    assert not owner.engine.runs
    go_on.set()
    await owner.until(lambda: not owner.engine.services.background.tasks)
    stack = await other.call("stack_identify", ref=REF)
    assert (await over(other, stack["id"]))["status"] == COMPLETE


async def made_late(
    pair: tuple[World, World],
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    resource: Mapping[str, Any],
    meanwhile: str = COMPLETE,
) -> str:
    """As `superseded_creation`, for a resource's object: the id of the one that the second engine makes. The first
    request is carried out when the resource has that object and is in the status `meanwhile`.
    """
    owner, other = pair
    late: dict[str, Any] = {}

    async def made() -> bool:
        late.update((await other.resources("shared"))["late"])
        return late["physical_id"] is not None and late["status"] == meanwhile

    definition = {"heat_template_version": "2021-04-16", "resources": {"late": resource}}
    begin = owner.call("stack_create", name="shared", template=definition)
    await superseded_creation(pair, monkeypatch, path, begin, made)
    return str(late["physical_id"])


async def test_late_object_of_superseded_engine_is_removed(
    pair: tuple[World, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    net = {"type": "OS::Neutron::Net", "properties": {"name": "late"}}
    theirs = await made_late(pair, monkeypatch, "/networks", net)

    served = pair[0].served
    listed = served.call("GET", "/network/v2.0/networks?name=late", token=served.token()).json["networks"]
    assert [network["id"] for network in listed] == [theirs]


@pytest.mark.parametrize("status", [500, 403])
async def test_deleting_late_object_is_retried(
    pair: tuple[World, World], monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    served = pair[0].served
    refusal = Fault(on="DELETE /network/v2.0/networks/*", do="fail", status=status, times=4)
    pair[0].in_cloud(lambda: served.cloud.faults.add(refusal))
    net = {"type": "OS::Neutron::Net", "properties": {"name": "late"}}
    theirs = await made_late(pair, monkeypatch, "/networks", net)

    clock = pair[0].clock
    assert isinstance(clock, ManualClock)

    def only_theirs() -> bool:
        clock.advance(1.0)  # turns wait for the heartbeat, which does not come any more
        listed = served.call("GET", "/network/v2.0/networks?name=late", token=served.token()).json["networks"]
        return [network["id"] for network in listed] == [theirs]

    await pair[0].until(only_theirs)


async def test_search_for_late_object_is_retried(pair: tuple[World, World], monkeypatch: pytest.MonkeyPatch) -> None:
    (owner, other), served = pair, pair[0].served
    late: dict[str, Any] = {}

    async def made() -> bool:
        late.update((await other.resources("shared"))["late"])
        if late["status"] != COMPLETE:
            return False
        for fault in (
            Fault(on="POST /network/v2.0/networks", do="act_and_drop", times=1),
            Fault(on="GET /network/v2.0/networks", do="fail", status=503, times=4),
        ):
            owner.in_cloud(partial(served.cloud.faults.add, fault))
        return True

    resource = {"type": "OS::Neutron::Net", "properties": {"name": "late"}}
    definition = {"heat_template_version": "2021-04-16", "resources": {"late": resource}}
    begin = owner.call("stack_create", name="shared", template=definition)
    await superseded_creation(pair, monkeypatch, "/networks", begin, made)

    clock = owner.clock
    assert isinstance(clock, ManualClock)

    def deleted() -> bool:
        clock.advance(1.0)  # turns wait for the heartbeat, which does not come any more
        return bool(served.cloud.journal.select({"method": "DELETE", "status": "204"}))

    await owner.until(deleted)
    listed = served.call("GET", "/network/v2.0/networks?name=late", token=served.token()).json["networks"]
    assert [network["id"] for network in listed] == [late["physical_id"]]


async def test_late_duplicate_of_pending_object_is_removed(
    pair: tuple[World, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    volume = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
    theirs = await made_late(pair, monkeypatch, "/volumes", volume, meanwhile=IN_PROGRESS)

    served = pair[0].served
    listed = served.call("GET", "/volume/v3/volumes", token=served.token("demo", "demo"))
    assert [found["id"] for found in listed.json["volumes"]] == [theirs]


async def test_late_copy_of_superseded_engine_is_removed(
    pair: tuple[World, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, other = pair
    volume = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
    stack = await owner.call("stack_create", name="shared", template=template(volume=volume))
    assert (await over(owner, stack["id"]))["status"] == COMPLETE

    async def taken() -> bool:
        return bool((await other.call("snapshot_list", ref=REF))[0]["status"] == COMPLETE)

    begin = owner.call("snapshot_create", ref=REF, name=None)
    await superseded_creation(pair, monkeypatch, "/backups", begin, taken)

    [snapshot] = await other.call("snapshot_list", ref=REF)
    [copy] = await other.database.read(queries.resources_of, snapshot["id"])
    listed = owner.served.call("GET", "/volume/v3/backups", token=owner.served.token("demo", "demo"))
    assert [backup["id"] for backup in listed.json["backups"]] == [copy.physical_id]


async def test_object_with_unique_name_of_another_engine_is_kept(
    pair: tuple[World, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The late request is refused, and what bears the name is the other engine's."""
    pair_of_keys = {"type": "OS::Nova::KeyPair", "properties": {"name": "late"}}
    theirs = await made_late(pair, monkeypatch, "/os-keypairs", pair_of_keys)

    served = pair[0].served
    token = served.token("demo", "demo")
    assert theirs == "late"
    assert served.call("GET", "/compute/v2.1/os-keypairs/late", token=token).status == 200


async def test_starting_engine_removes_stale_engine_records(served: ServedCloud, tmp_path: Path) -> None:
    clock = ManualClock(SystemClock().now())
    path = tmp_path / "stoker.db"
    ids: list[str] = []
    for pause_after in (claims.REMEMBERED_SECONDS, claims.REMEMBERED_SECONDS - 100, 0):
        world = await World(path, served, clock=clock, settings=SETTINGS).start()
        ids.append(world.engine.services.id)
        kept = {engine.id for engine in await world.database.read(claims.list_engines)}
        await world.stop()
        clock.advance(pause_after + 1)
    assert kept == set(ids[1:])
