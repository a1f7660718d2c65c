"""The services that all parts of an engine use, among them the resource types of definitions and records; none of them
knows running operations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from stoker.base.context import is_denied
from stoker.base.errors import Forbidden
from stoker.base.ids import new_id
from stoker.cloud.auth import CloudPool
from stoker.engine.credentials import Credentials
from stoker.engine.memory import Memory
from stoker.engine.records.loader import LoadedInputs, Loader, template_size
from stoker.engine.records.state import ResourceState
from stoker.engine.scheduling import Evaluator, FairScheduler
from stoker.engine.settings import EngineSettings
from stoker.plugins.outcome import Failed, Outcome
from stoker.plugins.registry import Registry
from stoker.plugins.resource import Call, ResourceType
from stoker.store.database import Database, outside_request
from stoker.store.journal import Journal
from stoker.store.records import Resource, Stack
from stoker.store.sealing import Sealer
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.environment import Environment
from stoker.template.registry import is_template_name
from stoker.template.template import Template
from stoker_foundation.clock import Clock
from stoker_foundation.recent import Recent


def require_permitted(denied_types: Collection[str], names: Sequence[str], kind: ResourceType | None) -> None:
    """Raise Forbidden if policy denies a type under any name that leads to it, so that an alias cannot evade it.

    `names` are the type as written and its mappings in the environment's registry, step by step. Intermediate names
    count because operators also restrict their own names for templates.
    """
    for name in (*names, *((kind.type_name,) if kind is not None else ())):
        if is_denied(name, denied_types):
            written = f", to which the environment maps {names[0]}" if name != names[0] else ""
            raise Forbidden(f"You are not allowed to use the resource type {name}{written}.")


class MissingType(ResourceType):
    """Placeholder for the type of a recorded resource whose plug-in is missing: all actions fail."""

    type_name = "(missing)"
    any_properties = True

    async def delete(self, call: Call) -> Outcome:
        return Failed(f"the plug-in of {call.resource.type} is not installed any more", kind="EntityNotFound")

    async def check(self, call: Call) -> Outcome:
        return await self.delete(call)


_MOST_NAMES = 1024
"""Names of types whose look-ups are remembered: operations look up the type of each resource several times."""


@dataclass(slots=True)
class TypeTable:
    """Resolves type names with an environment's registry, including templates among the files.

    `missing` is the type of recorded resources whose own type does not exist any more.
    """

    registry: Registry
    loader: Loader
    missing: ResourceType = field(default_factory=MissingType)
    _templates: Recent[tuple[ResourceType, Template]] = field(
        default_factory=lambda: Recent(512, lambda entry: template_size(entry[1]))
    )
    _registered: Sequence[str] = field(init=False)
    _named: Callable[[str], ResourceType | None] = field(init=False)

    def __post_init__(self) -> None:
        self._registered = tuple(self.registry.types)
        self._named = lru_cache(_MOST_NAMES)(self.registry.types.get)

    def offered(self) -> Mapping[str, ResourceType]:
        """Return all types by name, including those of the operator's environment. It imports all that were not yet."""
        return {**self.registry.types, **self._of_operator()}

    def offered_names(self) -> list[str]:
        """Return the names of `offered`."""
        return list(dict.fromkeys([*self._registered, *self._of_operator()]))

    def offered_type(self, name: str) -> ResourceType | None:
        """Return one of `offered` by its name, None if there is none."""
        environment = self.loader.default_environment
        if name in environment.registry.operator_types():
            kind = self.lookup(environment, {}, name, "")[1]
            if kind is not None:
                return kind
        return self._named(name)

    def _of_operator(self) -> dict[str, ResourceType]:
        environment = self.loader.default_environment
        added = {name: self.lookup(environment, {}, name, "")[1] for name in environment.registry.operator_types()}
        return {name: kind for name, kind in added.items() if kind is not None}

    def lookup(
        self, environment: Environment, files: Mapping[str, str], type_name: str, resource_name: str
    ) -> tuple[str, ResourceType | None]:
        """Return `(implementation, type)`; the type is None if there is no such type or file."""
        implementation = environment.registry.resolve(type_name, resource_name)
        return implementation, self.implementation(implementation, files)

    def require_permitted(
        self, denied_types: Collection[str], template: Template, environment: Environment, files: Mapping[str, str]
    ) -> None:
        """Raise Forbidden when a template has a resource of a type that policy denies, under any name."""
        if not denied_types:
            return
        for name, resource in template.resources.items():
            _, kind = self.lookup(environment, files, resource.type, name)
            require_permitted(denied_types, environment.registry.steps(resource.type, name), kind)

    def of_definition(
        self, definition: Definition, environment: Environment, files: Mapping[str, str]
    ) -> dict[str, tuple[str, ResourceType]]:
        """Return `(implementation, type)` of each resource by its name, without resources of unknown types."""
        found = self._found(definition, environment, files)
        return {resource.name: (name, kind) for resource, name, kind in found if kind is not None}

    def in_definition(self, definition: Definition) -> Iterator[tuple[ResourceDefinition, ResourceType | None]]:
        """Yield the resources of a definition with their types, None for unknown ones."""
        for resource, _, kind in self._found(definition, definition.environment, definition.files):
            yield resource, kind

    def _found(
        self, definition: Definition, environment: Environment, files: Mapping[str, str]
    ) -> Iterator[tuple[ResourceDefinition, str, ResourceType | None]]:
        """Yield resources with their implementations and types: each implementation is looked up once."""
        resolve = environment.registry.resolve
        known: dict[str, ResourceType | None] = {}
        for name, resource in definition.resources.items():
            implementation = resolve(resource.type, name)
            if implementation not in known:
                known[implementation] = self.implementation(implementation, files)
            yield resource, implementation, known[implementation]

    def recorded(self, state: ResourceState, files: Mapping[str, str]) -> ResourceType:
        """Return the type with which a recorded resource was created; `state.type` if it does not exist any more."""
        return self.of_row(state.row) or self.implementation(state.implementation, files) or state.type

    def of_row(self, row: Resource) -> ResourceType | None:
        """Return a recorded resource's type if its row tells it; None if its state must be opened."""
        return self._named(row.type) if row.substituted is False else None

    def implementation(self, implementation: str, files: Mapping[str, str]) -> ResourceType | None:
        """Return the type with a resolved name, or None. Raises TemplateInvalid for an invalid template."""
        kind = self._named(implementation)
        if kind is not None or not is_template_name(implementation):
            return kind
        template = self.loader.template_named(files, implementation)
        return self.of_template(template, implementation) if template is not None else None

    def of_template(self, template: Template, implementation: str) -> ResourceType:
        """Return the type that a template defines under the name of its file."""
        type_, _ = self._templates.get(
            (id(template), implementation), lambda: (self.registry.template_type(template, implementation), template)
        )
        return type_


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
    `settings`, `evaluator`, `scheduler`, `memory` and `background`. The cloud: `credentials`; `metadata_lock` is held
    while metadata is sent to agents. Helpers that need no more than this receive it instead of the engine. The journal
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
        self.scheduler = FairScheduler(clock)
        self.credentials = Credentials(pool, database, journal, clock, cloud_name)
        self.background = Background()
        self.metadata_lock = asyncio.Lock()

    async def return_memory(self, *, idle: bool) -> None:
        """Return memory to the system if enough work has ended; `idle` means that no operation runs.

        Then unused connections to the database are closed, too.
        """
        if not self.memory.freed.is_due(idle=idle):
            return
        if idle:
            await self.database.close_unused()
        self.memory.freed.release()

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
        journal.expects_more = self.scheduler.is_busy
