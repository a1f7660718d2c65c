"""A stack in memory: its recorded resources, who calls are made for, what types may know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from stoker.base.ids import arn
from stoker.cloud.session import Cloud
from stoker.engine.loader import LoadedInputs
from stoker.engine.recorded import current_of, read_states
from stoker.engine.scope import RecordedScope
from stoker.engine.state import ResourceState
from stoker.plugins.resource import StackFacts
from stoker.store import claims, queries
from stoker.store.journal import Batch, Claim
from stoker.store.records import Event, Operation, Stack
from stoker.template.expressions import Facade

if TYPE_CHECKING:
    from stoker.engine.core import Engine


class StackContext:
    """What calls into resource types are made from, within an operation or just for a look or a signal."""

    def __init__(self, engine: Engine, stack: Stack, operation: Operation | None = None) -> None:
        self.engine = engine
        self.stack = stack
        self.operation = operation
        self.claim: Claim | None = None
        self.inputs: LoadedInputs | None = None
        self.states: dict[str, ResourceState] = {}
        self.current: dict[str, ResourceState] = {}
        self.scope = RecordedScope(self.current.get)
        self.children: dict[tuple[str, int, str], Operation] = {}
        self.adopted: Mapping[str, Mapping[str, Any]] = {}
        self._facts: StackFacts | None = None
        self._cloud: Cloud | None = None

    async def load(self, inputs_id: str) -> LoadedInputs:
        """Read inputs and every recorded resource of the stack; `current` gets those that have not been replaced."""
        inputs, states = await self.engine.database.read(self._read, inputs_id)
        self.inputs = inputs
        self.states |= states
        self.current |= current_of(self.states)
        return inputs

    def _read(self, connection: Connection, inputs_id: str) -> tuple[LoadedInputs, dict[str, ResourceState]]:
        return self.engine.loader.load_now(connection, inputs_id), read_states(connection, self.engine, self.stack)

    async def load_facade(self) -> None:
        """Let `resource_facade` see the resource that holds this nested stack."""
        if self.stack.parent_resource is None:
            return
        row = await self.engine.database.read(queries.resource_by_uuid, self.stack.parent_resource)
        if row is not None and row.state:
            recorded = self.engine.sealer.open(row.state).get("definition", {})
            self.scope.parent = Facade(
                recorded.get("metadata", {}),
                recorded.get("deletion_policy", "Delete"),
                recorded.get("update_policy", {}),
            )

    async def load_zones(self) -> None:
        """Let `Fn::GetAZs` see the compute service's availability zones."""
        self.scope.zones = await available_zones(await self.cloud())

    @property
    def facts(self) -> StackFacts:
        """What resource types may know of the stack."""
        if self._facts is None:
            stack = self.stack
            self._facts = StackFacts(
                id=stack.id,
                name=stack.name,
                project_id=stack.project_id,
                root_id=stack.root_id,
                arn=arn(stack.project_id, stack.name, stack.id),
                region=self.engine.settings.region_name,
                created_at=stack.created_at,
                deadline=self.operation.deadline if self.operation else None,
                timeout_minutes=stack.timeout_minutes,
                user_project_id=stack.user_project_id,
                disable_rollback=stack.disable_rollback,
                options=self.engine.settings.type_options,
            )
        return self._facts

    async def adopt_user_project(self, project_id: str | None) -> None:
        """Record the project that a resource has made for the tree's own users."""
        if project_id is None or project_id == self.stack.user_project_id:
            return
        self.stack.user_project_id, self._facts = project_id, None
        step = partial(queries.set_user_project, root_id=self.stack.root_id, project_id=project_id)
        await self.engine.journal.commit(Batch().then(step))

    def wake(self, uuid: str) -> None:
        """Have whatever waits for the resource look again; here nothing waits."""

    def wake_all(self) -> None:
        """Have everything that waits look again; here nothing waits."""

    async def record(self, state: ResourceState, event: Event, *further: Callable[[Connection], None]) -> None:
        """Commit what has been done to a resource outside of a step, its event, and whatever else `further` changes."""
        as_read, changed = state.row.state, state.seal()
        batch = Batch().then(partial(claims.change_from_outside, row=changed, as_read=as_read)).add(event)
        batch.steps.extend(further)
        await self.engine.announcer.commit(batch, await self.engine.announcer.sinks_of(self.stack))

    def use(self, cloud: Cloud) -> None:
        """Make calls as somebody else than the stack's owner: while a request is looked at, as who asks."""
        self._cloud = cloud

    async def cloud(self) -> Cloud:
        """Calls on behalf of the stack's owner. Raises CloudError when the owner cannot be acted for."""
        if self._cloud is None:
            self._cloud = await self.engine.credentials.cloud_of(self.stack)
        return self._cloud


async def available_zones(cloud: Cloud) -> list[str]:
    """Names of the compute service's zones that can be used."""
    body = await cloud.get("nova", "/os-availability-zone")
    return [zone["zoneName"] for zone in body["availabilityZoneInfo"] if zone["zoneState"]["available"]]
