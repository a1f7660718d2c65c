"""How tests run an engine: `World`, on the loop of the test, and `ThreadedWorld`, on a loop and a thread of its own.

A world is everything that Stoker consists of below its APIs: an engine with its database, its sessions with an emulated
cloud, and a clock. Nothing is replaced but what the caller passes: clock, settings, database, peers, notification bus.
`serve_rest` and `serve_query` serve the APIs over a threaded world, with tokens and signatures checked by the cloud.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from oslo_config import cfg

from openstack_emulator.testing import ServedCloud
from stoker.api.app import make_app
from stoker.api.cfn.app import make_cfn_app
from stoker.api.server import Server
from stoker.base.config import load_config
from stoker.base.context import RequestContext
from stoker.base.extensions import remembered
from stoker.base.ids import new_request_id
from stoker.cloud.auth import CloudPool
from stoker.cloud.credentials import TokenCredential
from stoker.engine.core import Engine
from stoker.engine.notifications.announcer import Bus
from stoker.engine.ownership.peers import Peers
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.plugins.registry import Registry
from stoker.rpc.dispatch import DirectClient, Dispatcher
from stoker.store.database import Pool
from stoker.store.sealing import Sealer
from stoker.testing.connections import settings_of
from stoker.testing.sandbox import do_not_synchronize, empty_database
from stoker_foundation.clock import Clock, ManualClock, SystemClock
from testing.outstanding import CountedDatabase, CountedJournal, outstanding

Result = TypeVar("Result")

KEY = "k" * 32
"""The key with which a world seals secrets unless it is given others."""

KEYSTONE_SETTINGS = """
[DEFAULT]
region_name_for_services = RegionOne
[keystone_authtoken]
www_authenticate_uri = {url}/identity/v3
auth_type = password
auth_url = {url}/identity/v3
username = heat
password = {password}
project_name = service
user_domain_id = default
project_domain_id = default
http_request_max_retries = 0
"""
"""A configuration file of an API that checks tokens at the identity service at `url`, as the user heat."""

_READERS = 2
"""Threads of a world that read: each opens a connection, which takes a tenth of what a small test does."""

RARE_HEARTBEATS = EngineSettings(heartbeat_seconds=300.0, lease_seconds=1500.0)
"""Settings for an engine that is alone and waits for long: nearly all that it does meanwhile is to report itself."""

_TURN = 0.002
_TURNS = 20_000
_MOST_HELD = 25
_LONGEST_CALL = 60.0


def registry(settings: EngineSettings) -> Registry:
    """The installed resource types; with default options, the engines of a process share them."""
    if settings.type_options:
        return Registry.from_entry_points(settings.type_options)
    return _registry()


@remembered
def _registry() -> Registry:
    return Registry.from_entry_points()


class EmulatedCloud(Protocol):
    """The part of a `ServedCloud` that an engine needs; the cloud may run in another process."""

    @property
    def url(self) -> str:
        """The root of the services' URLs."""

    def token(self, user: str, project: str) -> str:
        """A token of a seeded user for a project."""


def manual_clock() -> ManualClock:
    """A clock that only tests move; it starts at the present time, which tokens of the emulated cloud are valid at."""
    return ManualClock(SystemClock().now())


class World:
    """An engine beside an emulated cloud, used as the user demo: `world = await World(path, served).start()`.

    `database` is the path of an SQLite file, or the URL of a database; its tables are created or upgraded. Without a
    `clock`, time passes only with `turn`, and with what waits by it (`settle`, `until`). `keys` seal secrets, the first
    one new ones. With `peers`, other engines may be alive on the same database; without, `settings` are RARE_HEARTBEATS
    by default.
    """

    def __init__(
        self,
        database: Path | str,
        cloud: EmulatedCloud,
        *,
        clock: Clock | None = None,
        settings: EngineSettings | None = None,
        peers: Peers | None = None,
        bus: Bus | None = None,
        keys: Sequence[str] = (KEY,),
    ) -> None:
        self.url = f"sqlite:///{database}" if isinstance(database, Path) else database
        self._file = database if isinstance(database, Path) else None
        self.clock = clock or manual_clock()
        self.settings = settings or (RARE_HEARTBEATS if peers is None else EngineSettings())
        self.peers = peers
        self.bus = bus
        self.keys = keys
        self.takes_over = True
        self.engine: Engine
        self._cloud = cloud
        self._held = 0

    @property
    def served(self) -> ServedCloud:
        """The emulated cloud, where it runs in this process."""
        assert isinstance(self._cloud, ServedCloud)
        return self._cloud

    async def start(self) -> World:
        """Start the engine, and log in as the user demo."""
        is_new = self._file is not None and not self._file.exists()
        if self._file is not None and is_new:
            self._file.write_bytes(empty_database())
        # Tests kill processes, not the machine: nobody reads a file from before a power failure.
        self.database = CountedDatabase(self.url, Pool(readers=_READERS))
        if self._file is not None:
            do_not_synchronize(self.database)
        if not is_new:
            self.database.migrate()
        self.journal = CountedJournal(self.database)
        self.pool = CloudPool(settings_of(self._cloud.url), self.clock)
        self.engine = Engine(
            database=self.database,
            journal=self.journal,
            sealer=Sealer(self.keys),
            registry=registry(self.settings),
            pool=self.pool,
            clock=self.clock,
            settings=self.settings,
            peers=self.peers,
            bus=self.bus,
        )
        await self.engine.start(alone=self.peers is None)
        if self.takes_over:
            await self.engine.take_over()
            await self.engine.membership.takeovers.complete()
        token = self._cloud.token("demo", "demo")
        cloud = await self.pool.cloud(TokenCredential(token))
        self.context = RequestContext(
            request_id=new_request_id(),
            user_id=cloud.user_id or "",
            user_name="demo",
            project_id=cloud.project_id or "",
            roles=tuple(cloud.role_names),
            token=token,
        )
        return self

    async def stop(self) -> None:
        """Stop the engine, which hands its operations over, and close what it used."""
        await self.ended(self.engine.stop())
        self.journal.close()
        await self.pool.close()
        self.database.close()

    # -- requests ------------------------------------------------------------------------------------------------

    async def call(self, method: str, **arguments: Any) -> Any:
        """Run an operation of the engine as the user demo. Raises what the operation raises."""
        return await self.ended(OPERATIONS[method](self.engine, self.context, arguments))

    async def create(self, name: str, template: Any, **arguments: Any) -> dict[str, Any]:
        """Create a stack; return it as `stack_show` does, when the operation has ended."""
        created = await self.call("stack_create", name=name, template=template, **arguments)
        return await self.settle(created["id"])

    async def update(self, name: str, template: Any, **arguments: Any) -> dict[str, Any]:
        """Update a stack; return it when the operation has ended."""
        view = await self.call("stack_update", ref={"name": name, "id": None}, template=template, **arguments)
        return await self.settle(view["id"])

    async def delete(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Delete a stack; return it when the operation has ended."""
        found = await self.call("stack_identify", ref={"name": name, "id": None})
        await self.call("stack_delete", ref={"name": name, "id": None}, **arguments)
        return await self.settle(found["id"])

    async def resources(self, name: str, depth: int = 0) -> Mapping[str, dict[str, Any]]:
        """The resources of a stack by name, with those of nested stacks down to `depth`."""
        rows = await self.listed({"name": name, "id": None}, nested_depth=depth)
        return {row["name"]: row for row in rows}

    async def listed(self, ref: Mapping[str, Any], **arguments: Any) -> list[dict[str, Any]]:
        """The resources as `resource_list` returns them, each with the place of its stack."""
        found = await self.call("resource_list", ref=ref, **arguments)
        return [{**row, **found["stacks"][row["stack_id"]]} for row in found["resources"]]

    def outputs(self, stack: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the outputs of a stack that is shown."""
        return {output["output_key"]: output["output_value"] for output in stack["outputs"]}

    def in_cloud(self, action: Callable[[], Any]) -> Any:
        """Run `action` on the emulated cloud's thread and return its result."""
        return self.served.do(action)

    # -- waiting -------------------------------------------------------------------------------------------------

    async def turn(self) -> None:
        """Let tasks run for a moment, and advance a manual clock to what is due next, by at most a second.

        The clock stands still while answers of the database or of services are on their way: the engine would report
        itself again and again meanwhile, and a service on a busy machine would seem to be silent. If there is an
        outstanding one in each of many turns, some never comes, and the clock moves on.
        """
        await asyncio.sleep(_TURN)
        if isinstance(self.clock, ManualClock) and not self._is_held():
            self.move(self.clock)

    def move(self, clock: ManualClock) -> None:
        """Advance the clock by what a turn takes."""
        due = clock.next_due()
        if due is not None:
            clock.advance(min(max(due - clock.now(), 0.0), 1.0))

    def _is_held(self) -> bool:
        """Whether the clock has to stand still in this turn."""
        waits = outstanding(self.database, self.journal, self.pool)
        self._held = self._held + 1 if waits else 0
        return waits and self._held <= _MOST_HELD

    async def ended(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for `work` and return its result. A manual clock moves only if that takes long: on a busy machine the
        engine may wait for its next heartbeat, which is due by that clock.

        Raises TimeoutError after a minute; the traceback of its cause shows what `work` waited for.
        """
        task = asyncio.ensure_future(work)
        for _ in range(int(_LONGEST_CALL)):
            if (await asyncio.wait([task], timeout=1.0))[0]:
                return task.result()
            await self.turn()
        task.cancel()
        try:
            return await task
        except asyncio.CancelledError as error:
            raise TimeoutError(f"{task.get_coro()} did not end") from error

    async def until(self, condition: Callable[[], bool]) -> None:
        """Take turns until a condition holds. Raises AssertionError when it does not after many of them."""
        for _ in range(_TURNS):
            if condition():
                return
            await self.turn()
        raise AssertionError("The condition did not become true")

    async def at_rest(self, stack_id: str) -> None:
        """Take turns until this engine runs no operation on a stack."""
        while self.engine.runs.get(stack_id) is not None:
            await self.turn()

    async def settle(self, stack_id: str) -> dict[str, Any]:
        """Wait until this engine runs no operation on a stack, and return it as `stack_show` does."""
        await self.at_rest(stack_id)
        shown: dict[str, Any] = await self.call("stack_show", ref={"name": None, "id": stack_id})
        return shown


class ThreadedWorld:
    """A world on a loop and a thread of its own, for tests that use an API; it is started at once.

    The clock is the system's, so that clients in other threads wait as users do.
    """

    def __init__(self, directory: Path, cloud: ServedCloud, settings: EngineSettings | None = None) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.world = World(directory / "stoker.db", cloud, clock=SystemClock(), settings=settings)
        self.run(self.world.start())

    @property
    def engine(self) -> Engine:
        return self.world.engine

    @property
    def served(self) -> ServedCloud:
        return self.world.served

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine on the world's loop and return its result. Raises TimeoutError after a minute."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(_LONGEST_CALL)

    def settle(self, stack_id: str) -> None:
        """Wait until the engine runs no operation on a stack."""
        self.run(self.world.at_rest(stack_id))

    def client(self) -> DirectClient:
        """A client of the engine, as APIs use it."""
        return DirectClient(self.loop, Dispatcher(self.engine, OPERATIONS))

    def stop(self) -> None:
        """Stop the engine, the loop and the thread."""
        self.run(self.world.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


def api_config(directory: Path, served: ServedCloud) -> cfg.ConfigOpts:
    """The configuration of an API that checks tokens at the emulated cloud, from a file in `directory`."""
    path = directory / "heat.conf"
    path.write_text(KEYSTONE_SETTINGS.format(url=served.url, password=served.cloud.password_of("heat")))
    return load_config([], [str(path)])


def serve_rest(world: ThreadedWorld, directory: Path, port: int = 0, *, streams: int = 4, threads: int = 8) -> Server:
    """Serve the REST API over a world's engine, at most `streams` event streams at a time; the caller stops it."""
    config = api_config(directory, world.served)
    config.set_override("event_streams", streams, group="heat_api")
    server = Server(make_app(config, world.client()), "127.0.0.1", port, threads)
    server.start()
    return server


def serve_query(world: ThreadedWorld, config: cfg.ConfigOpts) -> Server:
    """Serve the CloudFormation Query API over a world's engine; the caller stops it."""
    server = Server(make_cfn_app(config, world.client()), "127.0.0.1", 0)
    server.start()
    return server
