"""A whole Stoker without HTTP: engine, store and operations beside an emulated cloud, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stoker.base.clock import Clock, ManualClock, SystemClock
from stoker.base.context import RequestContext
from stoker.base.ids import new_request_id
from stoker.cloud.auth import CloudPool
from stoker.cloud.credentials import TokenCredential
from stoker.cloud.settings import CloudSettings
from stoker.emulator.testing import ServedCloud
from stoker.engine.core import Engine
from stoker.engine.notifications.announcer import Bus
from stoker.engine.ownership.peers import Peers
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.plugins.registry import Registry
from stoker.store.database import Database
from stoker.store.journal import Journal
from stoker.store.sealing import Sealer

KEY = "k" * 32


class World:
    """`await World(...).start()`; `call` runs an operation as the user demo; `settle` waits for a stack to end."""

    def __init__(
        self,
        path: Path,
        served: ServedCloud,
        clock: Clock | None = None,
        settings: EngineSettings | None = None,
        peers: Peers | None = None,
        bus: Bus | None = None,
        keys: Sequence[str] = (KEY,),
    ) -> None:
        self.keys = keys
        self.bus = bus
        self.peers = peers
        self.path = path
        self.served = served
        self.clock = clock or SystemClock()
        self.settings = settings or EngineSettings()
        self.engine: Engine

    async def start(self) -> World:
        self.database = Database(f"sqlite:///{self.path}")
        self.database.migrate()
        self.journal = Journal(self.database)
        self.pool = CloudPool(
            CloudSettings(
                auth_url=f"{self.served.url}/identity",
                username="heat",
                password="secret",
                project_name="service",
                stack_user_domain_name="heat",
                stack_domain_admin="heat_domain_admin",
                stack_domain_admin_password="secret",
            ),
            self.clock,
        )
        self.engine = Engine(
            database=self.database,
            journal=self.journal,
            sealer=Sealer(self.keys),
            registry=Registry.from_entry_points(self.settings.type_options),
            pool=self.pool,
            clock=self.clock,
            settings=self.settings,
            peers=self.peers,
            bus=self.bus,
        )
        await self.engine.start(alone=self.peers is None)
        token = self.served.token("demo", "demo")
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
        await self.engine.stop()
        self.journal.close()
        await self.pool.close()
        self.database.close()

    async def call(self, method: str, **arguments: Any) -> Any:
        return await OPERATIONS[method](self.engine, self.context, arguments)

    async def create(self, name: str, template: Any, **arguments: Any) -> dict[str, Any]:
        created = await self.call("stack_create", name=name, template=template, **arguments)
        return await self.settle(created["id"])

    async def update(self, name: str, template: Any, **arguments: Any) -> dict[str, Any]:
        view = await self.call("stack_update", ref={"name": name, "id": None}, template=template, **arguments)
        return await self.settle(view["id"])

    async def delete(self, name: str) -> dict[str, Any]:
        found = await self.call("stack_identify", ref={"name": name, "id": None})
        await self.call("stack_delete", ref={"name": name, "id": None})
        return await self.settle(found["id"])

    async def settle(self, stack_id: str) -> dict[str, Any]:
        """The stack once nothing runs on it any more."""
        while self.engine.runs.get(stack_id) is not None:
            await self.turn()
        shown: dict[str, Any] = await self.call("stack_show", ref={"name": None, "id": stack_id})
        return shown

    async def turn(self) -> None:
        """Let things happen for a moment; a manual clock goes on by at most a second."""
        await asyncio.sleep(0.002)
        if isinstance(self.clock, ManualClock):
            due = self.clock.next_due()
            if due is not None:
                self.clock.advance(min(max(due - self.clock.now(), 0.0), 1.0))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Turn until something is the case."""
        for _ in range(5000):
            if condition():
                return
            await self.turn()
        raise AssertionError("it never came to be")

    async def resources(self, name: str, depth: int = 0) -> Mapping[str, dict[str, Any]]:
        rows = await self.listed({"name": name, "id": None}, nested_depth=depth)
        return {row["name"]: row for row in rows}

    async def listed(self, ref: Mapping[str, Any], **arguments: Any) -> list[dict[str, Any]]:
        """Resources, each with the place of its stack."""
        found = await self.call("resource_list", ref=ref, **arguments)
        return [{**row, **found["stacks"][row["stack_id"]]} for row in found["resources"]]

    def outputs(self, stack: Mapping[str, Any]) -> dict[str, Any]:
        return {output["output_key"]: output["output_value"] for output in stack["outputs"]}

    def in_cloud(self, action: Callable[[], Any]) -> Any:
        return self.served.do(action)
