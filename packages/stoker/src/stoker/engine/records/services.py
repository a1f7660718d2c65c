"""The services that all parts of an engine use; none of them knows running operations."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any

from stoker.base.ids import new_id
from stoker.cloud.auth import CloudPool
from stoker.engine.computing import Evaluator, Turns
from stoker.engine.credentials import Credentials
from stoker.engine.memory import Memory
from stoker.engine.records.loader import LoadedInputs, Loader
from stoker.engine.records.types import TypeTable
from stoker.engine.settings import EngineSettings
from stoker.plugins.registry import Registry
from stoker.store.database import Database, outside_request
from stoker.store.journal import Journal
from stoker.store.records import Stack
from stoker.store.sealing import Sealer
from stoker.template.definition import Definition
from stoker_foundation.clock import Clock


class Background:
    """The background tasks of one engine. `stopped` is true as soon as it is being stopped and begins nothing more."""

    def __init__(self) -> None:
        self.stopped = False
        self.tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[object, object, None]) -> None:
        """Run something independently of the current request; the engine's stop waits for it."""
        with outside_request():
            task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def ended(self) -> None:
        """Return when nothing is in progress any more."""
        while self.tasks:
            await asyncio.gather(*self.tasks, return_exceptions=True)


class EngineServices:
    """What all parts of an engine use: `id` is that of the engine that they belong to.

    Records: `database`, `sealer`; and what is made of them: `loader` (inputs) and `types`. The process: `clock`,
    `settings`, `evaluator`, `turns`, `memory` and `background`. The cloud: `credentials`; `metadata_lock` is held while
    metadata is sent to agents. Helpers that need no more than this receive it instead of the engine. The journal
    is not among them: runs write with the claim of their operation, which their `writer` adds, and have no other way to
    write.
    """

    def __init__(
        self,
        *,
        database: Database,
        journal: Journal,
        sealer: Sealer,
        registry: Registry,
        pool: CloudPool,
        clock: Clock,
        settings: EngineSettings,
        cloud_name: str | None = None,
    ) -> None:
        self.id = new_id()
        self.database = database
        self.sealer = sealer
        self.clock = clock
        self.settings = settings
        self.loader = Loader(database, sealer, settings)
        self.types = TypeTable(registry, self.loader)
        self.memory = Memory(settings.evaluation_memory)
        self.evaluator = Evaluator(settings.evaluation_seconds_at_once, self.memory.freed)
        self.turns = Turns(clock)
        self.credentials = Credentials(pool, database, journal, clock, cloud_name)
        self.background = Background()
        self.metadata_lock = asyncio.Lock()

    async def bind(self, stack: Stack, inputs: LoadedInputs, exports: Mapping[str, object] | None = None) -> Definition:
        """Return the definition of a stack from its recorded inputs; expensive ones are evaluated on a thread.

        Raises TemplateInvalid.
        """
        bound = partial(self.loader.bind, stack, inputs, strict=False, exports=exports)
        return await self.evaluator.evaluate(stack.project_id, bound)

    async def secrets(
        self, stack: Stack, inputs_id: str, above: frozenset[str] = frozenset(), loaded: LoadedInputs | None = None
    ) -> frozenset[str]:
        """Return `Loader.secrets` of recorded inputs; expensive ones are evaluated on a thread.

        `loaded` are the inputs, if the caller has read them.
        """
        key = self.loader.secrets_key(inputs_id, above)
        known = self.loader.known_secrets(key)
        if known is None:
            inputs = loaded or await self.loader.load(inputs_id)
            work = partial(self.loader.secrets, stack, key, inputs, above)
            known = await self.evaluator.evaluate(stack.project_id, work)
        return known


class RecordingServices(EngineServices):
    """Services with the journal, for what acts outside of operations: requests, heartbeats and imports.

    What is written through it carries no claim.
    """

    def __init__(self, *, journal: Journal, **services: Any) -> None:
        super().__init__(journal=journal, **services)
        self.journal = journal
