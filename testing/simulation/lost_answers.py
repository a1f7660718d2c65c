"""Lose the response to each request by which each resource type creates its object, and count the objects at the end.

Run as a program: `python -m testing.simulation.lost_answers [TYPE …]`, by default for all types. Each set of resources
in `lost_answers.yaml` is first created and deleted without failures. This is repeated for each change that the creation
of its `thing` requests from the cloud, and for each way in which the response can get lost. The service has always
carried out the request. There must be as many objects of each kind as without failures, and none after the stack is
deleted. One JSON line per type is printed.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from enum import StrEnum
from pathlib import Path
from typing import Any

from openstack_emulator.core.cloud import Cloud, Records, Service, new_id
from openstack_emulator.core.errors import conflict
from openstack_emulator.core.faults import Fault
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.typed import TypedRecord, to_plain
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.loadbalancer.records import Pool
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing
from openstack_emulator.services import SERVICES
from stoker.plugins.recovery import Recovery
from stoker.plugins.registry import Registry
from stoker.resources.aws import nested_stack
from stoker.store.records import UNFINISHED
from stoker.store.search import unsearchable
from stoker.testing.cloud_objects import OUTLIVING, ObjectKind, objects
from stoker.testing.connections import CLOUD_URL
from stoker.testing.sandbox import empty_database
from stoker.testing.simulated_loop import SimulatedLoop
from stoker_foundation.clock import ManualClock
from testing.simulation.cases import THING, creating, template
from testing.simulation.simulated_cluster import Cluster
from testing.simulation.simulated_parts import LOOKS, FaultInjector

_UNFINISHED = f"SELECT 1 FROM operations WHERE status IN ({', '.join('?' * len(UNFINISHED))}) LIMIT 1"
_LEFT = "SELECT action, status, reason FROM stacks WHERE live_name = ?"
_BEGUN = (
    "SELECT 1 FROM resources JOIN stacks ON stacks.id = resources.stack_id"
    " WHERE stacks.deleted_at IS NULL AND resources.name = ? LIMIT 1"
)

REF = {"name": "case", "id": None}
MEMBER = "heat_template_version: 2021-04-16\nresources: {net: {type: OS::Neutron::Net}}\n"
BALANCER = Path(__file__).with_name("load_balancer.yaml")
FILES = {"member.yaml": MEMBER}
WITH_PARTS_FOR_ADMINISTRATORS = frozenset({"OS::Blazar::Lease"})
"""Types whose cases have other resources that only administrators may create."""
REPEATED = {("zaqar", "messages")}
"""What may be there twice: a message is said again when it is not known whether it was heard."""
TIMEOUT = 60.0
"""Seconds after which whatever is still in progress waits for a signal: more than engines need to take over."""
SETTLED = 4.0
"""Seconds after the end of an operation in which the engine removes what nobody lives on any more."""

Census = dict[ObjectKind, set[str]]


class Loss(StrEnum):
    """The fate of an answer."""

    CRASH = "the engine dies"
    DROP = "the connection breaks"
    REPEATABLE = "the answer is 503"
    FAILED = "the answer is 500"
    DELETED = "the engine dies, and the stack is deleted"


FURTHER = (Loss.CRASH, Loss.DELETED)
"""The fates of the answers to further changes, and where other properties lead to the same first one."""


# -- services that the emulated cloud does not have ----------------------------------------------------------------


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class RemoteStack(TypedRecord):
    """A stack of the other service."""

    stack_name: str
    stack_status: str = "CREATE_COMPLETE"
    outputs: list[Any] = dataclasses.field(default_factory=list)


class RemoteRecords(Records):
    """Stacks of another orchestration service, which are complete at once."""

    service = "heat"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.stacks = self.table("stacks", RemoteStack)


def validate(remote: RemoteRecords, request: Request) -> Response:
    return Response({"Description": "", "Parameters": {}})


def make_stack(remote: RemoteRecords, request: Request) -> Response:
    name = request.json["stack_name"]
    if remote.stacks.first(stack_name=name) is not None:
        raise conflict(f"The stack {name} is there already.")
    made = remote.stacks.add(RemoteStack(id=new_id(), stack_name=name))
    return Response({"stack": {"id": made.id}}, 201)


def list_stacks(remote: RemoteRecords, request: Request) -> Response:
    return Response({"stacks": list(map(to_plain, remote.stacks.select(stack_name=request.query.get("name"))))})


def show_stack(remote: RemoteRecords, request: Request) -> Response:
    return Response({"stack": to_plain(remote.stacks.require(request.vars["id"]))})


def update_stack(remote: RemoteRecords, request: Request) -> Response:
    remote.stacks.update(remote.stacks.require(request.vars["id"]), stack_status="UPDATE_COMPLETE")
    return Response(None, 202)


def delete_stack(remote: RemoteRecords, request: Request) -> Response:
    remote.stacks.remove(remote.stacks.require(request.vars["id"]))
    return Response(None, 204)


ELSEWHERE = (
    Service(
        name="heat",
        mount="/orchestration",
        records=RemoteRecords,
        endpoints={"orchestration": "/orchestration/v1", "cloudformation": "/orchestration/v1"},
        routes={
            "/v1/validate": {"POST": validate},
            "/v1/stacks": {"GET": list_stacks, "POST": make_stack},
            "/v1/stacks/{name}/{id}": {"GET": show_stack, "PUT": update_stack, "DELETE": delete_stack},
        },
    ),
)


# -- faults ---------------------------------------------------------------------------------------------------------


class SingleFaultInjector(FaultInjector):
    """Injects one fault: the response to one of the changes that the creation requests is lost."""

    def __init__(self) -> None:
        super().__init__(seed=1)
        self.begun: Callable[[], bool] = lambda: False
        self.kill: Callable[[], None] = lambda: None
        self.watching = False
        self.asked: list[str] = []
        """The changes that were asked for."""
        self.victim, self.loss = -1, Loss.DROP

    def fault(self, request: Request) -> Fault | None:
        if not self.watching or request.method in LOOKS or request.path.endswith("/auth/tokens") or not self.begun():
            return None
        self.asked.append(f"{request.method} {request.path}")
        if len(self.asked) - 1 != self.victim:
            return None
        if self.loss in (Loss.CRASH, Loss.DELETED):
            self.kill()
        status = {Loss.REPEATABLE: 503, Loss.FAILED: 500}.get(self.loss)
        return Fault(on="* *", do="succeed_but_fail" if status else "act_and_drop", status=status)


class Engines(Cluster):
    """An engine, and another one when it has died.

    Heartbeats are rare, since they would take as much time as the work: no other engine waits for the end of a lease.
    """

    heartbeat_seconds = 20.0


# -- cases ------------------------------------------------------------------------------------------------------------


class FaultTestbed:
    """One cloud and one cluster, in which one stack after the other is created and deleted."""

    injector_class: type[SingleFaultInjector] = SingleFaultInjector
    loop_class: type[SimulatedLoop] = SimulatedLoop

    def __init__(self, path: Path) -> None:
        self.injector = self.injector_class()
        self.loop = self.loop_class(ManualClock(), lambda: 0.0)
        self.injector.now = self.loop.time
        self.cloud = Cloud((*SERVICES, *ELSEWHERE), clock=self.loop.clock, endpoint=CLOUD_URL)
        self.engines = Engines(self.loop, self.cloud, self.injector, path, 1)
        balancer = self.engines.registry.types["AWS::ElasticLoadBalancing::LoadBalancer"]
        balancer.configure({"loadbalancer_template": str(BALANCER)})
        self.injector.begun = self._begun
        self.injector.kill = self._kill_busy_engines
        self.seen: set[tuple[Recovery | None, str]] = set()
        self.outliving: frozenset[ObjectKind] = frozenset()
        self.ref = REF

    def run(self, cases_by_type: Mapping[str, Any]) -> None:
        """Everything, with a line for each type."""
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._all(cases_by_type))

    async def _all(self, cases_by_type: Mapping[str, Any]) -> None:
        self.cloud.start()
        await self.engines.start()
        await self._warm_up()
        await self._all_types(cases_by_type)

    async def _all_types(self, cases_by_type: Mapping[str, Any]) -> None:
        for name, cases in cases_by_type.items():
            began = time.process_time()
            problems: list[str] = []
            changes: list[Any] = []
            self.outliving = OUTLIVING.get(name, frozenset())
            self.empty = self._objects_now()
            self.engines.user = self._user_for(name)
            recovery = self.engines.registry.types[name].recovery
            for case in cases:
                changes.append(await self._case(template(name, case), recovery, problems))
            report(name, changes, problems, time.process_time() - began)
            gc.freeze()  # what dead engines were doing is kept until the end, and need not be searched for garbage

    def _user_for(self, name: str) -> str:
        """Return who may create the resources of a type."""
        privileged = self.engines.registry.types[name].for_administrators or name in WITH_PARTS_FOR_ADMINISTRATORS
        return "admin" if privileged else "demo"

    async def _warm_up(self) -> None:
        """What services make of themselves for a project, once, is there before anything is counted."""
        self.cloud.open_all()  # services are seeded when they are opened
        self._add_pool()
        self.empty = self._objects_now()
        for self.engines.user in ("admin", "demo"):
            await self._make({"heat_template_version": "2021-04-16", "resources": {"net": {"type": "OS::Neutron::Net"},
                "port": {"type": "OS::Neutron::Port", "properties": {"network": {"get_resource": "net"}}},
                "group": {"type": "OS::Neutron::SecurityGroup"}}})  # fmt: skip
            await self._delete()

    def _add_pool(self) -> None:
        """The pool of a load balancer, for what needs one to exist."""
        project = self.cloud.of(Identity).projects.rows.first(name="demo")
        known: dict[str, Any] = {"id": "web", "name": "web", "admin_state_up": True, "provisioning_status": "ACTIVE"}
        fields: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(Pool))
        pool = Pool(**{**fields, **known, "project_id": project and project.id})
        self.cloud.of(LoadBalancing).tables.pools.add(pool)

    def _losses(self, number: int, recovery: Recovery | None, change: str) -> Iterable[Loss]:
        """What is to become of the answer to a change.

        What types that are found again in the same way ask for besides their objects is the same code: once is enough.
        """
        known = (recovery, change) in self.seen
        self.seen.add((recovery, change))
        if known and number:
            return ()
        return FURTHER if known or number else Loss

    async def _case(self, properties: dict[str, Any], recovery: Recovery | None, problems: list[str]) -> list[str]:
        """Make and delete a stack, at first without a fault; the changes that its thing asked for."""
        injector = self.injector
        injector.victim = -1
        usual = await self._make(properties)
        changes = list(injector.asked)
        problems += () if usual["state"].split()[1] == "COMPLETE" else (f"without a fault: {usual['state']}",)
        with self.engines.database.engine.connect() as connection:
            unseen = unsearchable(connection, None)
        problems += [f"{unseen} resources cannot be found by what their services call the objects"] if unseen else []
        problems += await self._delete()
        for number, change in enumerate(changes):
            for loss in self._losses(number, recovery, without_names(change)):
                injector.victim, injector.loss = number, loss
                reported = await self._with_fault(properties, usual)
                problems += [f"{change}, {loss}: {text}" for text in (*reported, *injector.violations)]
                injector.violations.clear()
        return changes

    async def _with_fault(self, properties: dict[str, Any], usual: Mapping[str, Any]) -> list[str]:
        """Make and delete a stack with a fault; what is not as it usually is."""
        if self.injector.loss is Loss.DELETED:
            await self._begin(properties)
            await asyncio.sleep(TIMEOUT)
            return await self._delete()
        found = await self._make(properties)
        return [*differences(found, usual, failing=self.injector.loss is Loss.FAILED), *await self._delete()]

    async def _begin(self, properties: dict[str, Any]) -> None:
        self.injector.asked, self.injector.watching = [], True
        await self.engines.call("stack_create", name=self.ref["name"], template=properties, files=FILES)

    async def _make(self, properties: dict[str, Any]) -> dict[str, Any]:
        """Return the stack's state and the number of objects of each kind."""
        await self._begin(properties)
        await self._wait_until_idle()
        shown = await self.engines.call("stack_show", ref=self.ref)
        counted = {" ".join(key): len(found) for key, found in self._objects_now().items() if key not in REPEATED}
        return {"state": f"{shown['action']} {shown['status']} {shown['status_reason']}", **counted}

    async def _delete(self) -> list[str]:
        """What is there that was not, or the other way round."""
        self.injector.watching = False
        await self.engines.call("stack_delete", ref=self.ref)
        await self._wait_until_idle()
        for row in self.engines.database.observe(_LEFT, self.ref["name"]):
            raise AssertionError(" ".join(row))
        now = self._objects_now()
        reported = [
            f"{' '.join(key)} left: {found - self.empty[key]}" for key, found in now.items() if found - self.empty[key]
        ]
        reported += [
            f"{' '.join(key)} gone: {self.empty[key] - found}" for key, found in now.items() if self.empty[key] - found
        ]
        self.empty = now
        return reported

    async def _wait_until_idle(self) -> None:
        """Return when nothing is done any more; who waits for a signal gets one."""
        began = self.loop.time()
        while self._unfinished():
            await asyncio.sleep(1.0)
            if self.loop.time() - began > TIMEOUT:
                await self.engines.request(
                    "resource_signal", ref=self.ref, name=THING, details={"deploy_status_code": 0}
                )
                began = self.loop.time()
        await asyncio.sleep(SETTLED)

    # -- what can be seen ----------------------------------------------------------------------------------------------

    def _objects_now(self) -> Census:
        return objects(self.cloud, self.outliving)

    def _unfinished(self) -> bool:
        return bool(self.engines.database.observe(_UNFINISHED, *UNFINISHED))

    def _begun(self) -> bool:
        return bool(self.engines.database.observe(_BEGUN, THING))

    def _kill_busy_engines(self) -> None:
        for member in list(self.engines.members):
            if member.up and member.engine.runs:
                member.process.kill()


def report(name: str, changes: list[Any], problems: list[str], seconds: float) -> None:
    """Print the line of a type."""
    line = {"type": name, "changes": changes, "problems": problems, "seconds": round(seconds, 2)}
    print(json.dumps(line), flush=True)


def differences(found: Mapping[str, Any], usual: Mapping[str, Any], *, failing: bool) -> Iterator[str]:
    """What is not as it is without a fault. Where the cloud says that it has failed, the resource may believe it."""
    for key, value in found.items():
        fewer = failing and (key == "state" or value < usual[key])
        if value != usual[key] and not fewer:
            yield f"{key} {value} instead of {usual[key]}"


def without_names(change: str) -> str:
    """A change of the cloud that differs from others of its kind only in IDs and physical names."""
    return re.sub(r"[0-9a-f]{8}-?[0-9a-f-]{23,}|case-thing-\w+", "*", change)


def _fetched(content: str) -> Future[str]:
    """A fetch that has ended."""
    done: Future[str] = Future()
    done.set_result(content)
    return done


def main(*names: str, testbed: type[FaultTestbed] = FaultTestbed) -> None:
    """Run the cases of these types, or of all that make something outside of the record."""
    cases = creating()
    nested_stack.__dict__["fetch_text"] = lambda url, *limits: _fetched(MEMBER)  # there is nothing to fetch it from
    random.seed(1)
    types = Registry.from_entry_points().types
    type_names = names or sorted(name for name, kind in types.items() if not kind.local)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="stoker-lost-answers-", dir=memory) as directory:
        path = Path(directory) / "stoker.db"
        path.write_bytes(empty_database())
        testbed(path).run({name: cases[name] for name in type_names if name in cases})
    sys.stdout.flush()
    os._exit(0)  # what the dead engines were doing is not to be unwound


if __name__ == "__main__":
    main(*sys.argv[1:])
