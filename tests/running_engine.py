"""A real engine on a loop and a thread of its own, beside an emulated cloud, with the API served over it."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

from stoker.api.app import make_app
from stoker.api.server import Server
from stoker.base.clock import SystemClock
from stoker.base.config import load_config
from stoker.cloud.auth import CloudPool
from stoker.cloud.settings import CloudSettings
from stoker.emulator.testing import ServedCloud
from stoker.engine.core import Engine
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.plugins.registry import Registry
from stoker.rpc.direct import DirectClient
from stoker.rpc.dispatch import Dispatcher
from stoker.store.database import Database
from stoker.store.journal import Journal
from stoker.store.sealing import Sealer

KEYSTONE_SETTINGS = """
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
"""A configuration that checks tokens at the identity service at `url`, as the user heat."""


class RunningEngine:
    """An engine on a loop and a thread of its own."""

    def __init__(self, directory: Path, served: ServedCloud, settings: EngineSettings | None = None) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self._database = Database(f"sqlite:///{directory / 'stoker.db'}")
        self._settings = CloudSettings(
            auth_url=f"{served.url}/identity",
            username="heat",
            password="secret",
            project_name="service",
            stack_user_domain_name="heat",
            stack_domain_admin="heat_domain_admin",
            stack_domain_admin_password="secret",
        )
        self.engine: Engine = self.run(self._start(settings or EngineSettings()))

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    async def _start(self, settings: EngineSettings) -> Engine:
        self._database.migrate()
        self._journal = Journal(self._database)
        self._pool = CloudPool(self._settings, SystemClock())
        engine = Engine(
            database=self._database,
            journal=self._journal,
            sealer=Sealer(["k" * 32]),
            registry=Registry.from_entry_points(),
            pool=self._pool,
            clock=SystemClock(),
            settings=settings,
        )
        await engine.start(alone=True)
        return engine

    def settle(self, stack_id: str) -> None:
        """Wait until nothing runs on the stack."""

        async def wait() -> None:
            while (run := self.engine.runs.get(stack_id)) is not None:
                await run.done.wait()
                await asyncio.sleep(0)

        self.run(wait())

    def stop(self) -> None:
        async def stop() -> None:
            await self.engine.stop()
            self._journal.close()
            await self._pool.close()
            self._database.close()

        self.run(stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


def free_port() -> int:
    """A port for an API whose address the catalog must know beforehand."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(
    running: RunningEngine, served: ServedCloud, directory: Path, port: int = 0, *, streams: int = 4, threads: int = 8
) -> Server:
    """The API over the engine, with tokens checked by the emulated Keystone; the caller stops it."""
    settings = directory / "heat.conf"
    settings.write_text(KEYSTONE_SETTINGS.format(url=served.url, password=served.cloud.password_of("heat")))
    client = DirectClient(running.loop, Dispatcher(running.engine, OPERATIONS))
    config = load_config([], [str(settings)])
    config.set_override("event_streams", streams, group="heat_api")
    server = Server(make_app(config, client), "127.0.0.1", port, threads)
    server.start()
    return server
