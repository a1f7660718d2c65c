"""A sandbox: an engine and an emulated cloud in this process, in virtual time."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import orjson
from sqlalchemy import event

from stoker.authoring.plan_steps import FAILS, denials, findings
from stoker.base.context import RequestContext
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import Invalid, NotFound, TemplateInvalid, UserError
from stoker.base.ids import new_request_id
from stoker.cli.client.problem_places import placed
from stoker.cli.client.sources import Sources, collect
from stoker.cli.terminal.errors import CommandFailed
from stoker.cloud.credentials import TokenCredential
from stoker.engine.core import Engine
from stoker.engine.plan_policies.policy import Policy
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.plugins.registry import Registry
from stoker.rpc.dispatch import Dispatcher
from stoker.store.database import Database
from stoker.store.records import IN_PROGRESS
from stoker.store.sealing import Sealer
from stoker.testing.calls import CloudCalls
from stoker.testing.connections import CLOUD_URL, LoopJournal, LoopPool, settings_of
from stoker.testing.emulated_cloud import CloudTransport, EmulatedCloud
from stoker.testing.plans import Plan
from stoker.testing.virtual_loop import VirtualLoop
from stoker_foundation.clock import Clock, ManualClock

Result = TypeVar("Result")

_KEY = "k" * 32
_DEPTH = 20
_UPDATE = {"existing_parameters": True, "refresh": "changes"}
"""What `stoker deploy` asks for without options when it updates a stack."""
_POLL = 1.0
"""Virtual seconds between two looks at whether an operation has ended."""
_SETTINGS = EngineSettings(lease_seconds=600.0, heartbeat_seconds=60.0)
"""No other engine waits for the heartbeats of this one, and each of them costs time."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of a stack. `path` leads through nested stacks (`group.0.server`), `state` is like `CREATE_COMPLETE`.

    `calls` are the requests that were sent for it.
    """

    path: str
    type: str
    state: str
    reason: str
    physical_id: str | None
    calls: CloudCalls = field(repr=False, compare=False)

    @property
    def sent(self) -> Any:
        """What the service received about the object when it was created; None if nothing was sent."""
        creation = self.calls.that_made(self.physical_id or "")
        return None if creation is None else creation.properties


@dataclass(frozen=True, slots=True)
class Signal:
    """What a program in a server sends to a resource, by its path, such as a handle of a wait condition."""

    path: str
    details: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack after an operation: its state, such as `CREATE_COMPLETE`, its outputs by name, its resources by path."""

    name: str
    id: str
    state: str
    reason: str
    outputs: Mapping[str, object]
    resources: Mapping[str, Resource]

    def __getitem__(self, path: str) -> Resource:
        """The resource at a path. Raises KeyError with the paths that exist."""
        if path not in self.resources:
            raise KeyError(f"The stack {self.name} has no resource {path!r}, but {', '.join(self.resources)}.")
        return self.resources[path]


class Sandbox:
    """An engine beside an emulated cloud: `with Sandbox() as sandbox: sandbox.deploy("web", "web.yaml")`.

    Time is virtual: it passes only while something is waited for, and then at once. No process, thread or socket is
    used. Templates and environments are paths or URLs, which are read with all that they refer to, as `stoker deploy`
    reads them. Errors of templates have their places in the user's files.
    """

    _settings = _SETTINGS

    def __init__(self, clock: ManualClock | None = None, policies: Sequence[Policy] = ()) -> None:
        self._settings = replace(self._settings, plan_policies=tuple(policies))
        self.clock = clock or ManualClock(float(int(time.time())))
        self._loop = self._new_loop()
        self.cloud = self._new_cloud()
        self._files = ExitStack()
        self._run(self._start())

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the engine, and forget all stacks."""
        self._run(self._stop())
        self._loop.close()
        self.cloud.close()
        self._files.close()

    @property
    def calls(self) -> CloudCalls:
        """The requests that the cloud has received from the engine."""
        return self.cloud.calls

    # -- stacks --------------------------------------------------------------------------------------------------

    def plan(
        self,
        name: str,
        template: str | Path,
        *,
        environments: Sequence[str | Path] = (),
        parameters: Mapping[str, object] | None = None,
    ) -> Plan:
        """What `deploy` would do. Raises TemplateInvalid with all problems of the template and its inputs."""
        return self._run(self._planned(name, Definition.read(template, environments, parameters)))

    def check(
        self,
        name: str,
        template: str | Path,
        *,
        environments: Sequence[str | Path] = (),
        parameters: Mapping[str, object] | None = None,
    ) -> Plan:
        """Return the plan, like `plan`. Raises TemplateInvalid also for one that is known to fail, or is denied."""
        return self._run(self._checked(name, Definition.read(template, environments, parameters)))

    def deploy(
        self,
        name: str,
        template: str | Path,
        *,
        environments: Sequence[str | Path] = (),
        parameters: Mapping[str, object] | None = None,
        rollback: bool = False,
        signals: Sequence[Signal] = (),
    ) -> Stack:
        """Create the stack, or update the one with this name; return it when the operation has ended.

        Parameters that are not given keep their values, as with `stoker deploy`. Each signal is sent when its resource
        has been created or changed by the operation, or waits for it. A resource that fails is no error of this method:
        look at `Stack.state`. Raises TemplateInvalid like `plan`, also for a plan that is known to fail, and Invalid
        for a signal that its resource has not taken until the end.
        """
        definition = Definition.read(template, environments, parameters)
        return self._run(self._deployed(name, definition, rollback, signals))

    def plan_deletion(self, name: str) -> Plan:
        """What `delete` would do. Raises NotFound if there is no such stack."""
        preview = self.call("stack_action_preview", ref=_ref(name), action="delete")
        return Plan(name, preview["plan"])

    def delete(self, name: str) -> None:
        """Delete a stack. Raises Invalid if its objects cannot be deleted, NotFound if there is no such stack."""
        self._run(self._deleted(name))

    def drift(self, name: str) -> Plan:
        """What would bring the objects of a stack back to its definition; a plan without actions if nothing differs."""
        preview = self.call("stack_patch_preview", ref=_ref(name), converge=True)
        return Plan(name, preview["plan"])

    def stack(self, name: str) -> Stack:
        """A stack as it is now. Raises NotFound."""
        return self._run(self._shown(_ref(name)))

    def signal(self, name: str, resource: str, details: Mapping[str, object] | None = None) -> None:
        """Send a signal to a resource of a stack on which no operation runs, such as a scaling policy."""
        self.call("resource_signal", ref=_ref(name), name=resource, details=details)

    def advance(self, seconds: float) -> None:
        """Let virtual time pass."""
        self._run(_passed(seconds))

    def call(self, method: str, **arguments: object) -> Any:
        """Run an operation of the engine (`stoker.operations`) as the user demo; return its JSON data."""
        return self._run(self._called(method, **arguments))

    # -- coroutines on the loop ----------------------------------------------------------------------------------

    def _run(self, work: Coroutine[object, object, Result]) -> Result:
        return self._loop.run_until_complete(work)

    def _new_loop(self) -> VirtualLoop:
        return VirtualLoop(self.clock)

    def _new_cloud(self) -> EmulatedCloud:
        return EmulatedCloud(self.clock)

    async def _start(self) -> None:
        self._database = self._new_database()
        await self._start_engine()

    def _new_database(self) -> Database:
        directory = self._files.enter_context(tempfile.TemporaryDirectory(prefix="stoker-sandbox-"))
        path = Path(directory) / "stoker.db"
        path.write_bytes(empty_database())
        return unsynchronized_database(f"sqlite:///{path}")

    async def _start_engine(self) -> None:
        self._assemble(self.clock, LoopJournal(self._database, self._loop))
        await self.engine.start(alone=True)

    def _assemble(self, clock: Clock, journal: LoopJournal) -> None:
        """Make an engine that uses this clock and this journal."""
        settings = settings_of(CLOUD_URL)
        transport = CloudTransport(settings, clock)
        transport.cloud = self.cloud
        self._journal = journal
        self._pool = LoopPool(settings, clock, transport, self.cloud.answered_login)
        self.engine = Engine(
            database=self._database,
            journal=journal,
            sealer=Sealer([_KEY]),
            registry=_registry(),
            pool=self._pool,
            clock=clock,
            settings=self._settings,
        )
        self.cloud.orchestration.service = Dispatcher(self.engine, OPERATIONS)

    async def _stop(self) -> None:
        await self.engine.stop()
        self._journal.close()
        await self._pool.close()
        self._database.close()

    async def _context(self) -> RequestContext:
        token = self.cloud.token("demo")
        cloud = await self._pool.cloud(TokenCredential(token))
        return RequestContext(
            request_id=new_request_id(),
            user_id=cloud.user_id or "",
            user_name="demo",
            project_id=cloud.project_id or "",
            roles=tuple(cloud.role_names),
            token=token,
        )

    async def _called(self, method: str, **arguments: object) -> Any:
        plain = orjson.loads(orjson.dumps(arguments))
        return await OPERATIONS[method](self.engine, await self._context(), plain)

    async def _exists(self, name: str) -> bool:
        try:
            await self._called("stack_identify", ref=_ref(name))
        except NotFound:
            return False
        return True

    async def _planned(self, name: str, definition: Definition) -> Plan:
        try:
            if await self._exists(name):
                answer = await self._called("stack_update_preview", ref=_ref(name), **definition.body, **_UPDATE)
            else:
                answer = await self._called("stack_preview", name=name, **definition.body)
        except TemplateInvalid as error:
            raise definition.refusal(error.diagnostics) from error
        plan = answer["plan"]
        denied = [Diagnostic.from_dict(denial) for denial in denials(plan)]
        return Plan(name, plan, definition.refusal(denied).diagnostics if denied else ())

    async def _checked(self, name: str, definition: Definition) -> Plan:
        plan = await self._planned(name, definition)
        failing = [
            Diagnostic.from_dict(finding["diagnostic"])
            for finding in findings(plan.data)
            if finding["verdict"] == FAILS
        ]
        if failing or plan.denials:
            placed = definition.refusal(failing).diagnostics if failing else ()
            raise TemplateInvalid([*placed, *plan.denials])
        return plan

    async def _deployed(self, name: str, definition: Definition, rollback: bool, signals: Sequence[Signal]) -> Stack:
        await self._checked(name, definition)
        body = {**definition.body, "disable_rollback": not rollback}
        began = self.clock.now()
        if await self._exists(name):
            begun = await self._called("stack_update", ref=_ref(name), **body, **_UPDATE)
        else:
            begun = await self._called("stack_create", name=name, **body)
        pending = list(signals)
        while self._runs(begun["id"]):
            pending = [signal for signal in pending if not await self._is_taken(begun["id"], signal, began)]
            await _passed(_POLL)
        if pending:
            raise Invalid(f"The resource {pending[0].path} of the stack {name} has not taken its signal.")
        return await self._shown({"name": None, "id": begun["id"]})

    async def _is_taken(self, stack_id: str, signal: Signal, began: float) -> bool:
        """Send a signal, if its resource is there for it already, and return whether it has taken it."""
        listed = await self._called("resource_list", ref={"name": None, "id": stack_id}, nested_depth=_DEPTH)
        row = dict(by_path(stack_id, listed["resources"])).get(signal.path)
        if row is None or not row["physical_id"]:
            return False
        if row["status"] != IN_PROGRESS and (row["updated_at"] or 0.0) < began:
            return False
        owner = {"name": None, "id": row["stack_id"]}
        try:
            await self._called("resource_signal", ref=owner, name=row["name"], details=signal.details)
        except UserError:
            return False
        return True

    async def _deleted(self, name: str) -> None:
        identity = await self._called("stack_identify", ref=_ref(name))
        await self._called("stack_delete", ref=_ref(name))
        while self._runs(identity["id"]):
            await _passed(_POLL)
        if await self._exists(name):
            stack = await self._shown(_ref(name))
            raise Invalid(f"The stack {name} cannot be deleted: {stack.reason}")

    def _runs(self, stack_id: str) -> bool:
        """Return whether an operation runs on a stack."""
        return self.engine.runs.get(stack_id) is not None

    async def _shown(self, ref: Mapping[str, object]) -> Stack:
        shown = await self._called("stack_show", ref=ref)
        listed = await self._called("resource_list", ref=ref, nested_depth=_DEPTH)
        outputs = {output["output_key"]: output.get("output_value") for output in shown["outputs"]}
        state = f"{shown['action']}_{shown['status']}"
        resources = _resources(shown["id"], listed["resources"], self.calls)
        return Stack(shown["name"], shown["id"], state, shown["status_reason"], outputs, resources)


@dataclass(frozen=True, slots=True)
class Definition:
    """What a stack should be, with all files that it refers to."""

    sources: Sources
    parameters: Mapping[str, Any]

    @classmethod
    def read(
        cls, template: str | Path, environments: Sequence[str | Path], parameters: Mapping[str, object] | None
    ) -> Definition:
        """Read the files. Raises Invalid, with the place of the reference, for one that cannot be read."""
        try:
            return cls(collect(str(template), [str(path) for path in environments]), dict(parameters or {}))
        except CommandFailed as error:
            raise Invalid(error.message) from error

    @property
    def body(self) -> dict[str, Any]:
        """The arguments of requests."""
        return {**self.sources.definition(), "parameters": self.parameters}

    def refusal(self, diagnostics: Sequence[Diagnostic]) -> TemplateInvalid:
        """The error with these diagnostics, at their places in the user's files."""
        return TemplateInvalid(placed(self.sources, self.parameters, diagnostics)[0])


@cache
def _registry() -> Registry:
    return Registry.from_entry_points(_SETTINGS.type_options)


@cache
def empty_database() -> bytes:
    """Return an SQLite database with the tables of this release and nothing in them."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "stoker.db"
        database = Database(f"sqlite:///{path}")
        database.migrate()
        with database.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        return path.read_bytes()


def unsynchronized_database(url: str) -> Database:
    """Return a database that does not wait for the disk: nobody reads it after the process has ended."""
    database = Database(url)
    do_not_synchronize(database)
    return database


def do_not_synchronize(database: Database) -> None:
    """Have an SQLite database's connections, which are opened from now on, not wait for the disk."""
    event.listen(database.engine, "connect", _forget)


def _forget(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA synchronous=OFF")


async def _passed(seconds: float) -> None:
    """Return when virtual time has passed, in which everything that is due happens."""
    await asyncio.sleep(seconds)


def _ref(name: str) -> dict[str, object]:
    return {"name": name, "id": None}


def _resources(root: str, rows: Sequence[Mapping[str, object]], calls: CloudCalls) -> dict[str, Resource]:
    """Return the resources by path, those of nested stacks after the resources that have these."""
    resources = {}
    for path, row in by_path(root, rows):
        own = calls.of(row["stack_id"], row["name"])
        state = f"{row['action']}_{row['status']}"
        resources[path] = Resource(path, row["type"], state, row["status_reason"], row["physical_id"], own)
    return resources


def by_path(root: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield resources with their paths from the stack `root`."""
    places = {root: ""}
    waiting = list(rows)
    while known := [row for row in waiting if row["stack_id"] in places]:
        waiting = [row for row in waiting if row["stack_id"] not in places]
        for row in known:
            path = f"{places[row['stack_id']]}{row['name']}"
            if row["nested_id"]:
                places[row["nested_id"]] = f"{path}."
            yield path, row
