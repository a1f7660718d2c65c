"""Look at the objects of a stack and of its nested stacks, to plan with what the cloud has. Nothing is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from sqlalchemy import Connection

from stoker.contract.stacks import Refresh
from stoker.engine.inspection.comparison import UNKNOWN, Comparison, DetectionResult, compare
from stoker.engine.inspection.shared_reads import SharedReads
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step
from stoker.engine.records.observations import (
    Cause,
    Coverage,
    Found,
    Ignored,
    NotCompared,
    Observations,
    is_expected,
)
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView, view_of, views_of_tree
from stoker.engine.records.state import ResourceState
from stoker.engine.settings import observation_seconds
from stoker.plugins.live_values import has_object
from stoker.store import queries
from stoker.store.records import COMPLETE, FAILED, Stack
from stoker.template.definition import Definition

MOST_WITHOUT_CHANGE = 100
"""Up to this number of resources, a plan that changes nothing looks at the whole stack: "no changes" is not said of a
cloud that nobody has asked. The objects of larger stacks are only read if the request wants it.
"""


class _ResourceLocation(NamedTuple):
    """A resource: its path in the tree, as plans show it, its stack, and its uuid."""

    path: str
    stack_id: str
    uuid: str


class CloudRefresh:
    """One look at a tree of stacks for a plan, which reads each object once, however often the plan is made again.

    `refresh` says what is looked at, `definition` is that of the plan, which says what is ignored; None stands for
    the deployed one, for a removal. A resource that cannot be read counts as recorded, as in an
    update; the coverage of the observations names it. What a detection has `known` is not read again. The
    resources `differing`, by uuid, are looked at in any case, since they have differed before. `statuses` are
    the drift statuses of the resources with objects that were looked at, by uuid; UNKNOWN for those whose last action
    failed.
    """

    def __init__(
        self,
        services: EngineServices,
        stack: Stack,
        refresh: Refresh,
        definition: Definition | None = None,
        known: DetectionResult | None = None,
        differing: Collection[str] = (),
    ) -> None:
        self._services = services
        self._stack = stack
        self._definition = definition
        self._expected = differing
        self.refresh = refresh if stack.inputs else Refresh.NONE
        self._known = known.comparisons if known is not None else {}
        self._read_at = known.detected_at if self._known and known is not None else services.clock.now()
        self._views: dict[str, StackView] = {}
        self._inside: dict[str, str] = {}
        self._seen = set[str]()
        self._found: dict[str, Found] = {}
        self._holders = set[str]()
        self.statuses: dict[str, str] = {}
        self._omitted: list[NotCompared] = []
        self._ignored: list[Ignored] = []
        self._total = self._in_sync = self._differing = 0

    async def begin(self) -> None:
        """Look at everything, if that is requested; otherwise a plan must say first what else it touches."""
        if self.refresh is Refresh.ALL:
            await self._read(await self._below(self._stack))
        elif self.refresh is Refresh.CHANGES and self._expected:
            await self._read(place for place in await self._below(self._stack) if place.uuid in self._expected)

    async def follow(self, plan: Plan) -> bool:
        """Look at what a plan touches and was not looked at before; return whether the plan must be made again."""
        if self.refresh is not Refresh.CHANGES:
            return False
        affected = plan.affected()
        if not affected and await self._services.database.read(_size, self._stack) <= MOST_WITHOUT_CHANGE:
            self.refresh = Refresh.ALL
            return await self._read(await self._below(self._stack))
        return await self._read(await self._places(plan, affected))

    @property
    def differing(self) -> tuple[str, ...]:
        """The uuids of the resources that differ from the cloud, and of those in whose nested stacks such ones are."""
        return tuple(uuid for uuid, found in self._found.items() if found != {} or uuid in self._holders)

    def added_to(self, examined: Observations) -> Observations:
        """Return what an examination has found, with what this look has found."""
        if self.refresh is Refresh.NONE:
            return examined
        counts = {"total": self._total, "in_sync": self._in_sync, "differing": self._differing}
        omitted, ignored = tuple(self._omitted), tuple(self._ignored)
        coverage = Coverage(omitted=omitted, ignored=ignored, refresh=self.refresh, read_at=self._read_at, **counts)
        return Observations(dict(self._found), examined.usable, coverage, examined.obstacles)

    # -- selection of resources ----------------------------------------------------------------------------------

    async def _below(self, stack: Stack, above: str = "") -> list[_ResourceLocation]:
        """Return all resources of a stack and of the stacks nested in it. `above` is the path to it, with a dot."""
        for view in await views_of_tree(self._services, stack):
            self._views.setdefault(view.stack.id, view)
            if view.stack.parent_resource is not None:
                self._inside[view.stack.parent_resource] = view.stack.id
        return list(self._places_in(stack.id, above))

    def _places_in(self, stack_id: str, above: str) -> Iterator[_ResourceLocation]:
        for state in self._views[stack_id].current.values():
            path = f"{above}{state.row.name}"
            yield _ResourceLocation(path, stack_id, state.row.uuid)
            if (inside := self._inside.get(state.row.uuid)) is not None:
                yield from self._places_in(inside, f"{path}.")

    async def _places(self, plan: Plan, touched: Iterable[Step]) -> list[_ResourceLocation]:
        """Return the recorded resources of steps, and those in nested stacks whose steps the plan does not have."""
        opened = {first.key for first, then in pairwise(plan.steps) if then.depth > first.depth}
        found: list[_ResourceLocation] = []
        for step in touched:
            state = step.subject.state if step.subject is not None else None
            if state is None:
                continue
            found.append(_ResourceLocation(step.name, state.row.stack_id, state.row.uuid))
            if state.type.nested and (step.kind is StepKind.KEEP or step.key not in opened):
                child = await self._services.database.read(queries.stack_by_parent_resource, state.row.uuid)
                found += await self._below(child, f"{step.name}.") if child is not None else []
        return found

    # -- reading -------------------------------------------------------------------------------------------------

    async def _read(self, places: Iterable[_ResourceLocation]) -> bool:
        """Look at resources that were not looked at before; return whether any of them differs."""
        new = {place.uuid: place for place in places if place.uuid not in self._seen}
        self._seen |= new.keys()
        looked: list[tuple[_ResourceLocation, StackView, ResourceState]] = []
        for place in new.values():
            if (recorded := await self._recorded(place)) is None:
                continue
            view, state = recorded
            if _is_healthy(state):
                looked.append((place, view, state))
            elif state.row.status == FAILED and (has_object(state.type) or state.type.nested):
                self.statuses[state.row.uuid] = UNKNOWN
        reads = SharedReads.of(state for _, _, state in looked if state.row.uuid not in self._known)
        answers = await self._in_time([self._compared(view, state, reads) for _, view, state in looked])
        differs = False
        for (place, view, state), answer in zip(looked, answers, strict=True):
            self._count(place, state, answer.without_ignored(state.type, self._ignored_in(place, state)))
            if not is_expected(state):
                continue
            if answer.found != {}:
                differs = True
                await self._note_holders(view.stack)
            if answer.found != {} or (state.type.nested and self.refresh is Refresh.ALL):
                self._found[place.uuid] = answer.found
        return differs

    async def _compared(self, view: StackView, state: ResourceState, reads: SharedReads) -> Comparison:
        if state.row.uuid in self._inside:
            return Comparison({})
        return self._known.get(state.row.uuid) or await compare(view, state, reads)

    async def _in_time(self, comparisons: Sequence[Awaitable[Comparison]]) -> list[Comparison]:
        """Return comparisons; those that are not ready in time are comparisons that a service did not answer."""
        settings = self._services.settings
        seconds = observation_seconds(settings) if self.refresh is Refresh.ALL else settings.validation_seconds
        tasks = [asyncio.ensure_future(comparison) for comparison in comparisons]

        def expire() -> None:
            for task in tasks:
                task.cancel()

        timer = self._services.clock.call_later(seconds, expire)
        try:
            answers = await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            expire()
            timer.cancel()
        late = Comparison({}, Cause.SERVICE, f"the service did not answer within {seconds:g} seconds")
        found: list[Comparison] = []
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, asyncio.CancelledError):
                raise answer
            found.append(late if isinstance(answer, BaseException) else answer)
        return found

    def _count(self, place: _ResourceLocation, state: ResourceState, answer: Comparison) -> None:
        if not has_object(state.type):
            return
        self.statuses[state.row.uuid] = answer.status
        self._total += 1
        self._in_sync += answer.found == {} and answer.cause is None
        self._differing += answer.found != {}
        if answer.ignored:
            self._ignored.append(Ignored(place.path, state.row.type, answer.ignored))
        if answer.cause is not None:
            left = tuple(answer.properties)
            self._omitted.append(
                NotCompared(place.path, state.row.type, answer.cause, answer.not_compared_reasons, left)
            )

    def _ignored_in(self, place: _ResourceLocation, state: ResourceState) -> Sequence[str]:
        """Return the paths that the new template ignores; in nested stacks, that with which they were deployed."""
        top = self._definition if place.stack_id == self._stack.id else None
        resource = top.resources.get(state.row.name) if top is not None else None
        if resource is not None:
            return resource.ignore_drift
        ignored: Sequence[str] = state.stored.definition.get("ignore_drift", ())
        return ignored

    async def _note_holders(self, stack: Stack) -> None:
        """Note that the resources around a nested stack with a difference are changed by changing what is in it."""
        while stack.parent_resource is not None and stack.id != self._stack.id:
            self._found.setdefault(stack.parent_resource, {})
            self._holders.add(stack.parent_resource)
            stack = (await self._view(stack.parent_id or "")).stack

    async def _recorded(self, place: _ResourceLocation) -> tuple[StackView, ResourceState] | None:
        """Return a resource in the stack that it is recorded in, which a plan that moves it still reads it from; None
        for one that the plan has begun.
        """
        database = self._services.database
        is_known = place.stack_id in self._views
        stack = None if is_known else await database.read(queries.stack_by_id, place.stack_id)
        if is_known or stack is not None:
            view = await self._view(place.stack_id, stack)
            if (state := view.states.get(place.uuid)) is not None:
                return view, state
        row = await database.read(queries.resource_by_uuid, place.uuid)
        if row is None:
            return None
        view = await self._view(row.stack_id)
        state = view.states.get(place.uuid)
        return (view, state) if state is not None else None

    async def _view(self, stack_id: str, stack: Stack | None = None) -> StackView:
        if stack_id not in self._views:
            stack = stack or await self._services.database.read(queries.stack_by_id, stack_id)
            assert stack is not None
            self._views[stack_id] = await view_of(self._services, stack)
        return self._views[stack_id]


def _is_healthy(state: ResourceState) -> bool:
    """Return whether a resource has an object that is expected to be as recorded; others show in the plan."""
    row, kind = state.row, state.type
    present = row.status == COMPLETE and row.action != "DELETE" and row.physical_id is not None
    return present and (has_object(kind) or kind.nested)


def _size(connection: Connection, stack: Stack) -> int:
    """Return the number of resources of a stack and its nested stacks; that of large ones only beyond the limit."""
    total = 0
    for level in queries.levels_of(connection, stack):
        if max(total, len(level)) > MOST_WITHOUT_CHANGE:  # each nested stack has a resource around it
            return max(total, len(level))
        total += queries.count_resources(connection, [each.id for each in level])
    return total
