"""The user of a simulated cluster: asks for this and that, changes their mind, and answers what waits for signals."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from stoker.base.errors import StokerError, TemplateInvalid
from stoker.store.records import Resource
from testing.simulation.simulated_cluster import Lost
from testing.simulation.simulated_inspection import Inspection
from testing.simulation.simulated_parts import FaultInjector
from testing.simulation.simulated_templates import FILES, NET_TYPE, Draft

CHANCES: Mapping[str, int] = {
    "update": 12,
    "read_and_update": 2,
    "delete": 2,
    "cancel_update": 2,
    "cancel_without_rollback": 2,
    "check": 1,
    "suspend": 2,
    "resume": 3,
    "retry": 2,
    "rollback": 2,
    "signal": 2,
    "scale": 3,
    "mark": 3,
    "unmark": 3,
    "save": 3,
    "restore": 2,
    "forget": 2,
}
"""How often the user of an existing stack asks for what."""

ROLLBACKS = ("cancel_update", "rollback")
ACTIONS = ("cancel_update", "cancel_without_rollback", "check", "suspend", "resume", "retry", "rollback")


class Moving(NamedTuple):
    """A network that gets from one stack to the other: where it was, where it will be, and its definition there."""

    uuid: str
    network: str
    source: str
    path: str
    target: str
    arrival: str
    body: dict[str, Any]


class Requestable(Protocol):
    """What takes requests: a simulated cluster, or a real one."""

    injector: FaultInjector

    async def request(self, method: str, **arguments: Any) -> str:
        """Request an operation; return the outcome of the request."""

    async def call(self, method: str, **arguments: Any) -> Any:
        """Ask for something that must be taken. Raises what the answer is otherwise."""


class User:
    """Has two stacks, each with a draft of what it is to be; one who `renames` gives resources other names, one who
    `imports` gives networks away, and lets stacks import them again, one who `locks` locks stacks for a while, and one
    who `drifts` changes objects without the engine, and accepts or reverts that.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("alpha", "beta")

    def __init__(
        self,
        cluster: Requestable,
        inspection: Inspection,
        *,
        talkative: bool = False,
        renames: bool = False,
        imports: bool = False,
        locks: bool = False,
        drifts: bool = False,
        kinds: Sequence[str] = (),
    ) -> None:
        self._cluster = cluster
        self._inspection = inspection
        self._chance = cluster.injector.chance
        self.drafts = {name: Draft(self._chance, talkative=talkative, kinds=kinds) for name in self.NAMES}
        self._renames = renames
        self._imports = imports
        self._locks = locks
        self._drifts = drifts
        self._given_away: dict[str, dict[str, Any]] = {}
        self._signals = 0
        self._moving: Moving | None = None

    async def random_request(self) -> None:
        """One random request."""
        name = self._chance.choice(self.NAMES)
        if self._inspection.stack(name) is None:
            await self._create(name)
            return
        if self._locks and self._chance.random() < 0.3:
            await self._lock_for_a_while(name)
            return
        if self._drifts and self._chance.random() < 0.4:
            await self._settle_drift(name)
            return
        kind = self._chance.choices(list(CHANCES), list(CHANCES.values()))[0]
        if kind in ACTIONS:
            looking = self._refresh_option() if kind in ROLLBACKS else {}
            await self._cluster.request("stack_action", ref=ref(name), action=kind, **looking)
        else:
            await getattr(self, f"_{kind}")(name)

    async def _create(self, name: str) -> None:
        handling: dict[str, Any] = {"disable_rollback": self._chance.random() < 0.6}
        if self._chance.random() < 0.1:
            handling["timeout_mins"] = 1
        self._drop_lost(self.drafts[name])
        await self._cluster.request("stack_create", name=name, **_definition(self.drafts[name]), **handling)

    async def _update(self, name: str, **handling: Any) -> None:
        draft = self.drafts[name]
        draft.alter()
        if self._renames:
            draft.move()
        if self._imports:
            self._release_or_import(name, draft)
        await self._cluster.request("stack_update", ref=ref(name), **_definition(draft), **handling)

    def _release_or_import(self, name: str, draft: Draft) -> None:
        """Forget a network of the stack, or import one that belongs to nobody."""
        self._drop_lost(draft)
        free = [net for net in self._given_away if not self._inspection.owners_of(net)]
        stack = self._inspection.stack(name)
        rows = self._inspection.resources_of(stack)
        unused = {row.name: row.physical_id for row in rows if row.physical_id and row.name in draft.unused_nets()}
        if free and self._chance.random() < 0.6:
            net = self._chance.choice(free)
            draft.take(net, self._given_away.pop(net))
            self._cluster.injector.counts["imports"] += 1
        elif unused and stack is not None:
            former = self._chance.choice(sorted(unused))
            self._inspection.given_away.add((stack.id, former))
            self._given_away[unused[former]] = draft.release(former)

    def _drop_lost(self, draft: Draft) -> None:
        """Import no network that was deleted with its stack, or replaced."""
        draft.imports = {name: net for name, net in draft.imports.items() if self._inspection.is_there(net)}

    async def _lock_for_a_while(self, name: str) -> None:
        """Lock a stack, ask for what must be refused, and unlock it again, whatever becomes of the engines."""
        await self._cluster.request("stack_lock", ref=ref(name), reason="nothing changes now")
        if self._is_locked(name):
            self._cluster.injector.counts["locks"] += 1
            for random_request in self._chance.sample([self._update, self._delete, self._scale, self._mark], 2):
                operations = self._inspection.operations_of(name)
                await random_request(name)
                if self._is_locked(name) and self._inspection.operations_of(name) != operations:
                    self._cluster.injector.violate("stuck", f"an operation began on {name}, which is locked")
            await asyncio.sleep(self._chance.choice((0.5, 20.0, 70.0)))
        while self._is_locked(name):
            await self._cluster.request("stack_unlock", ref=ref(name))
            await asyncio.sleep(1.0)

    async def _settle_drift(self, name: str) -> None:
        """Rename a network of a stack without the engine, and accept or revert that, or leave it to a later request."""
        rows = self._inspection.resources_of(self._inspection.stack(name))
        nets = [
            row for row in rows if row.type == "OS::Neutron::Net" and self._inspection.is_there(row.physical_id or "")
        ]
        if nets:
            net = self._chance.choice(sorted(nets, key=lambda row: row.uuid))
            self._inspection.rename(net.physical_id or "", f"theirs-{self._chance.randint(1, 99)}")
            self._cluster.injector.counts["drifts"] += 1
        settled = self._chance.choice(("accept", "accept", "revert", "revert", "leave"))
        if settled == "accept":
            outcome = await self._cluster.request("drift_accept", ref=ref(name), resources=None)
            self._cluster.injector.counts["accepted"] += outcome == "taken"
        elif settled == "revert":
            outcome = await self._cluster.request("stack_patch", ref=ref(name), converge=True)
            self._cluster.injector.counts["reverted"] += outcome == "taken"

    def _is_locked(self, name: str) -> bool:
        stack = self._inspection.stack(name)
        return stack is not None and stack.locked is not None

    async def _read_and_update(self, name: str) -> None:
        await self._update(name, converge=True)

    async def _delete(self, name: str) -> None:
        await self._cluster.request("stack_delete", ref=ref(name))

    async def _signal(self, name: str) -> None:
        if resources := list(self.drafts[name].resources):
            details = {"any": "thing"}
            resource = self._chance.choice(resources)
            await self._cluster.request("resource_signal", ref=ref(name), name=resource, details=details)

    async def _scale(self, name: str) -> None:
        for policy in self.drafts[name].named("policy")[:1]:
            await self._cluster.request("resource_signal", ref=ref(name), name=policy)

    async def _mark(self, name: str) -> None:
        if rows := self._inspection.resources_of(self._inspection.stack(name)):
            resource = self._chance.choice(sorted(row.name for row in rows))
            await self._cluster.request("resource_mark_unhealthy", ref=ref(name), name=resource, mark_unhealthy=True)

    async def _unmark(self, name: str) -> None:
        if marked := self._marked(name):
            await self._undo(name, self._chance.choice(marked))

    async def _undo(self, name: str, resource: str) -> None:
        await self._cluster.request("resource_mark_unhealthy", ref=ref(name), name=resource, mark_unhealthy=False)

    def _marked(self, name: str) -> list[str]:
        """Resources of a stack that are marked as unhealthy."""
        rows = self._inspection.resources_of(self._inspection.stack(name))
        return sorted({row.name for row in rows if row.action == "CHECK" and row.status == "FAILED"})

    async def _save(self, name: str) -> None:
        await self._cluster.request("snapshot_create", ref=ref(name), name=None)

    async def _restore(self, name: str) -> None:
        await self._with_snapshot("snapshot_restore", name, **self._refresh_option())

    async def _forget(self, name: str) -> None:
        await self._with_snapshot("snapshot_delete", name)

    async def _with_snapshot(self, method: str, name: str, **more: Any) -> None:
        if saved := self._inspection.snapshots_of(name):
            await self._cluster.request(method, ref=ref(name), snapshot_id=self._chance.choice(saved).id, **more)

    def _refresh_option(self) -> dict[str, Any]:
        """What a rollback or a restoration compares with the cloud, if somebody changes objects there."""
        return {"refresh": self._chance.choice((None, "none", "changes", "all"))} if self._drifts else {}

    async def answer(self) -> None:
        """Signal every handle that a condition waits for, and report every deployment as done: by a signal, as agents
        do, or by a request.
        """
        waiting = set(self._inspection.waiting_deployments())
        for identifier in sorted(waiting):
            if self._chance.random() < 0.5:
                waiting.discard(identifier)
                values = {"status": "COMPLETE", "output_values": {"deploy_status_code": 0}}
                await self._cluster.request("software_deployment_update", deployment_id=identifier, values=values)
        for name in self.NAMES:
            rows = self._inspection.resources_of(self._inspection.stack(name))
            for deployment in [row.name for row in rows if row.uuid in waiting]:
                details = {"deploy_status_code": "0", "deploy_stdout": "done"}
                await self._cluster.request("resource_signal", ref=ref(name), name=deployment, details=details)
            if any(row.type == "OS::Heat::WaitCondition" and row.status == "IN_PROGRESS" for row in rows):
                for handle in [row.name for row in rows if row.type == "OS::Heat::WaitConditionHandle"]:
                    self._signals += 1
                    details = {"status": "SUCCESS", "id": str(self._signals), "data": "well", "reason": "done"}
                    await self._cluster.request("resource_signal", ref=ref(name), name=handle, details=details)

    async def regroup(self, *, changes: bool = False, deploys: bool = False) -> None:
        """Move a network that nothing refers to from one stack to the other, by a refactoring; once it is settled,
        `settle_move` notes the result. With `changes`, both stacks also change at random. One who `deploys` updates the
        stack that gets the network instead.
        """
        source, target = self._chance.sample(self.NAMES, 2)
        for draft in self.drafts.values() if changes else ():
            draft.alter()
        draft, there = self.drafts[source], self.drafts[target]
        nets = draft.unused_nets() + (draft.unused_shelves() if deploys else [])
        rows = {path: row for path, row in self._networks(source).items() if path.partition(".")[0] in nets}
        if not rows:
            return
        path = self._chance.choice(sorted(rows))
        former = path.partition(".")[0]
        there.number += 1
        body = {key: value for key, value in draft.resources[former].items() if key != "depends_on"}
        kind = self._chance.choice(("net", "shelf")) if deploys and body["properties"] else "net"
        name, body["type"] = f"{kind}{there.number}", "shelf.yaml" if kind == "shelf" else NET_TYPE
        arrival = f"{name}.inside" if kind == "shelf" else name
        self._moving = Moving(rows[path].uuid, rows[path].physical_id or "", source, path, target, arrival, body)
        here, after = self.drafts[source].template(), there.template()
        del here["resources"][former]
        after["resources"][name] = body
        moved = [{"from": {"stack": source, "resource": path}, "to": {"stack": target, "resource": arrival}}]
        if deploys:
            definition = {**_definition(there), "template": json.dumps(after)}
            environment = there.environment()
            definition["environment"] = {**environment, "moved": [*environment.get("moved", ()), *moved]}
            outcome = await self._cluster.request("stack_update", ref=ref(target), **definition)
            self._cluster.injector.counts["moves by deployments"] += outcome == "taken"
            return
        templates = {source: json.dumps(here), target: json.dumps(after)}
        try:
            made = await self._cluster.call("stack_refactor_create", templates=templates, moved=moved, changes=changes)
        except (Lost, StokerError):
            return
        if made["status"] != "CREATE_COMPLETE":
            self._cluster.injector.violate("stuck", f"{source}/{former} cannot be moved: {made['status_reason']}")
        outcome = await self._cluster.request("stack_refactor_execute", refactor_id=made["id"])
        self._cluster.injector.counts["moves with changes"] += changes and outcome == "taken"

    def settle_move(self) -> None:
        """Change the drafts as the record says, in which the resource that was moved has exactly one stack."""
        if self._moving is None:
            return
        moving, self._moving = self._moving, None
        source, target = self.drafts[moving.source], self.drafts[moving.target]
        places = {
            (stack, path)
            for stack in self.NAMES
            for path, row in self._networks(stack).items()
            if row.uuid == moving.uuid
        }
        if places == {(moving.target, moving.arrival)}:
            former = moving.path.partition(".")[0]
            source.resources.pop(former)
            source.imports = {name: net for name, net in source.imports.items() if net != moving.network}
            target.resources[moving.arrival.partition(".")[0]] = moving.body
            self._cluster.injector.counts["moves"] += 1
        elif places != {(moving.source, moving.path)}:
            self._cluster.injector.violate(
                "duplicated", f"the network {moving.source}/{moving.path} is {sorted(places)}"
            )

    def _networks(self, name: str) -> dict[str, Resource]:
        """The recorded networks of a stack, and those alone in a nested stack, by their paths."""
        found = {}
        for row in self._inspection.resources_of(self._inspection.stack(name)):
            if row.type == NET_TYPE:
                found[row.name] = row
            elif row.type == "shelf.yaml":
                inner = self._inspection.resources_of(self._inspection.child(row))
                found |= {f"{row.name}.{each.name}": each for each in inner}
        return found

    async def complete_draft(self, name: str, quiet: Any) -> None:
        """Ask once more for what the draft says, in whatever way the stack's state needs; `quiet` waits for the end."""
        draft = self.drafts[name]
        for _ in range(4):
            self._drop_lost(draft)
            arguments = _definition(draft)
            stack = self._inspection.stack(name)
            if stack is None:
                await self._cluster.call("stack_create", name=name, **arguments)
            elif stack.action == "DELETE":
                await self._cluster.call("stack_delete", ref=ref(name))
            elif stack.action == "SUSPEND":
                await self._cluster.call("stack_action", ref=ref(name), action="resume")
            else:
                looking = {"converge": True} if self._drifts else {}
                try:
                    await self._cluster.call("stack_update", ref=ref(name), **arguments, **looking)
                except TemplateInvalid as error:
                    if stack.status != "FAILED" or not draft.drop_refused_moves(error.diagnostics):
                        raise
                    continue
            await quiet()
            stack = self._inspection.stack(name)
            if stack is not None and (stack.action, stack.status) in (("CREATE", "COMPLETE"), ("UPDATE", "COMPLETE")):
                return
            for resource in self._marked(name):  # a subnet, for one, cannot be replaced by an equal one
                await self._undo(name, resource)
            await asyncio.sleep(30.0)
        state = f"{stack.action} {stack.status}: {stack.reason}" if stack is not None else "it is gone"
        self._cluster.injector.violate("stuck", f"{name} does not come to its last template: {state}")


def _definition(draft: Draft) -> dict[str, Any]:
    """What a request says of a stack."""
    environment = draft.environment()
    return {"template": draft.template(), "files": FILES, **({"environment": environment} if environment else {})}


def ref(name: str) -> dict[str, Any]:
    """A stack by its name, as requests have it."""
    return {"name": name, "id": None}
