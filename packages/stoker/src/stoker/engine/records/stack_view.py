"""A recorded stack in memory, for everything that only reads stacks.

A view has its own states and scope, and cannot record anything or change a running operation. Reads use only views
(`reading`), so that their results do not affect others. Operations and signals act through a `StackContext`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from stoker.base.ids import arn
from stoker.cloud.session import Cloud
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.recorded import Recorded, current_of, read_tree
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import StackFacts
from stoker.store.records import Operation, Stack

Result = TypeVar("Result")
View = TypeVar("View", bound="StackView")


class StackView:
    """`states` are the stack's resources by uuid, `current` those that have not been replaced, by name.

    A view of one resource (`view_around`) has only some of them, until `whole` has read the others.
    """

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
        self._is_whole = True

    def fill(self, recorded: Recorded) -> None:
        """Set the stack's resources to those read from the database."""
        self.inputs = recorded.inputs
        self.states |= recorded.states
        self.current |= recorded.current
        self.scope.parent = recorded.facade

    def fill_around(self, recorded: Recorded) -> None:
        """Set some of the stack's resources; `whole` reads the others."""
        self.fill(recorded)
        self._is_whole = False

    async def whole(self) -> Mapping[str, ResourceState]:
        """Return all current resources by name, after reading those that the view does not have."""
        if not self._is_whole:
            recorded = await self.services.database.read(partial(Recorded.of, self.services), self.stack)
            states = recorded.states | {uuid: self.states[uuid] for uuid in recorded.states if uuid in self.states}
            for known, found in ((self.states, states), (self.current, current_of(states.values()))):
                known.clear()
                known.update(found)
            self._is_whole = True
        return self.current

    @property
    def planned_secrets(self) -> frozenset[str]:
        """The secrets that the plan of the running operation has found, also of the stacks above; empty without one."""
        return frozenset()

    def named(self, name: str) -> ResourceState | None:
        """Return the current resource with this name, or the latest one that is being removed."""
        leaving = [state for state in self.states.values() if state.row.name == name]
        return self.current.get(name) or max(leaving, key=lambda state: state.row.position, default=None)

    async def evaluate(self, work: Callable[[], Result], resources: int = 0) -> Result:
        """Return the result of evaluating the stack's template; long work is done outside the event loop.

        `resources` is the number of resources that are checked or planned; see `Evaluator.evaluate`.
        """
        return await self.services.evaluator.evaluate(self.stack.project_id, work, resources)

    async def load_zones(self) -> None:
        """Read the compute service's availability zones for `Fn::GetAZs`."""
        self.scope.zones = await available_zones(await self.cloud())

    @property
    def facts(self) -> StackFacts:
        """Return the properties of the stack that resource types can read."""
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
        """Use the credentials of a request's caller instead of those of the stack's owner."""
        self._cloud = cloud

    async def cloud(self) -> Cloud:
        """Return the cloud for the stack's owner. Raises CloudError if the owner's credential cannot be used."""
        if self._cloud is None:
            self._cloud = await self.services.credentials.cloud_of(self.stack)
        return self._cloud


async def filled(view: View) -> View:
    """Fill a new view with what is recorded of its stack, and return it."""
    view.fill(await view.services.database.read(partial(Recorded.of, view.services), view.stack))
    return view


async def view_of(services: EngineServices, stack: Stack) -> StackView:
    """Return the stack as currently recorded."""
    return await filled(StackView(services, stack))


async def view_around(services: EngineServices, stack: Stack, name: str) -> StackView:
    """Return the stack with the resource of this name, and those that it depends on, as currently recorded."""
    view = StackView(services, stack)
    view.fill_around(await services.database.read(partial(Recorded.around, services), stack, name))
    return view


async def views_of_tree(services: EngineServices, top: Stack) -> list[StackView]:
    """Return a stack and the stacks nested in it as currently recorded, each after those around it."""
    found = []
    for recorded in await services.database.read(partial(read_tree, services), top):
        view = StackView(services, recorded.stack)
        view.fill(recorded)
        found.append(view)
    return found


async def available_zones(cloud: Cloud) -> list[str]:
    """Return the names of the compute service's available zones."""
    body = await cloud.get("nova", "/os-availability-zone")
    return [zone["zoneName"] for zone in body["availabilityZoneInfo"] if zone["zoneState"]["available"]]
