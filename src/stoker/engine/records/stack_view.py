"""A stack as it is recorded, in memory: what everything that only looks at a stack works on.

A view has states and a scope of its own, and no means to record anything or to reach a running operation. Reads get
nothing else (`reading`), so whatever a read finds out stays with it. Operations and signals act through a
`StackContext`.
"""

from __future__ import annotations

from functools import partial

from stoker.base.ids import arn
from stoker.cloud.session import Cloud
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.recorded import Recorded
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import StackFacts
from stoker.store.records import Operation, Stack


class StackView:
    """`states` are the stack's resources by uuid, `current` those that have not been replaced, by name."""

    operation: Operation | None = None

    def __init__(self, services: EngineServices, stack: Stack) -> None:
        self.services = services
        self.stack = stack
        self.inputs: LoadedInputs | None = None
        self.states: dict[str, ResourceState] = {}
        self.current: dict[str, ResourceState] = {}
        self.scope = RecordedScope(self.current.get)
        self._facts: StackFacts | None = None
        self._cloud: Cloud | None = None

    def fill(self, recorded: Recorded) -> None:
        """Take in what was read of the stack."""
        self.inputs = recorded.inputs
        self.states |= recorded.states
        self.current |= recorded.current
        self.scope.parent = recorded.facade

    @property
    def planned_secrets(self) -> frozenset[str]:
        """The secrets that the plan of the running operation has found, also of the stacks above; empty without one."""
        return frozenset()

    def named(self, name: str) -> ResourceState | None:
        """The resource that the stack goes on with under this name, else the latest one that is being removed."""
        leaving = [state for state in self.states.values() if state.row.name == name]
        return self.current.get(name) or max(leaving, key=lambda state: state.row.position, default=None)

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
                region=self.services.settings.region_name,
                created_at=stack.created_at,
                deadline=self.operation.deadline if self.operation else None,
                timeout_minutes=stack.timeout_minutes,
                user_project_id=stack.user_project_id,
                disable_rollback=stack.disable_rollback,
                options=self.services.settings.type_options,
            )
        return self._facts

    def use(self, cloud: Cloud) -> None:
        """Make calls as somebody else than the stack's owner: while a request is looked at, as who asks."""
        self._cloud = cloud

    async def cloud(self) -> Cloud:
        """Calls on behalf of the stack's owner. Raises CloudError when the owner cannot be acted for."""
        if self._cloud is None:
            self._cloud = await self.services.credentials.cloud_of(self.stack)
        return self._cloud


async def view_of(services: EngineServices, stack: Stack) -> StackView:
    """The stack as it is recorded now."""
    view = StackView(services, stack)
    view.fill(await services.database.read(partial(Recorded.of, services), stack))
    return view


async def available_zones(cloud: Cloud) -> list[str]:
    """Names of the compute service's zones that can be used."""
    body = await cloud.get("nova", "/os-availability-zone")
    return [zone["zoneName"] for zone in body["availabilityZoneInfo"] if zone["zoneState"]["available"]]
