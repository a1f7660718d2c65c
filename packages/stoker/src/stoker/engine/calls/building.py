"""Build the `Call` that is passed to a method of a resource type, and check the ID of the object that it results in.

The tables have room for IDs of 255 characters, and no service has longer ones.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from stoker.base.errors import BadValue, Bug, CloudError, StokerError
from stoker.cloud.errors import NotNamed
from stoker.cloud.finders import is_uuid
from stoker.cloud.session import Cloud
from stoker.engine.calls.children import Child, ChildView
from stoker.engine.calls.context import NestedReader, StackContext
from stoker.engine.calls.deployments import StoredConfigs, StoredDeployments, wake
from stoker.engine.calls.neighbours import NeighboursView, StackNeighbours
from stoker.engine.calls.signals import take_signal
from stoker.engine.planning.decide import BEGINNING, Target
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.stack_view import StackView
from stoker.engine.records.state import ResourceState, first_name
from stoker.plugins import capabilities
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import (
    Call,
    EngineAccess,
    MethodReport,
    NoSources,
    ResourceFacts,
    ResourceType,
    Sources,
    finalized,
    traits_of,
)
from stoker.schema.property import Property
from stoker.schema.unknown import Unknown
from stoker.store import queries
from stoker.store.journal import NoWriter

LOG = logging.getLogger(__name__)

LONGEST = 255
"""Characters of an ID."""


async def make_call(run: StackContext, state: ResourceState, earlier: Call | None = None) -> Call:
    """Return everything that a method may need. Raises CloudError if a name cannot be looked up.

    A call that follows an `earlier` one at once does not read the nested stack again.
    """
    services, components, project_id = run.services, run.components, run.stack.project_id
    report = MethodReport()
    child = Child(run, state, components.reader, report.announced)
    if earlier is not None and isinstance(earlier.engine.child, Child):
        child.take_over(earlier.engine.child)
    engine = EngineAccess(
        child=child,
        neighbours=StackNeighbours(
            run.whole,
            partial(make_call, run),
            partial(take_signal, run),
            components.sending,
            partial(components.submissions.replace, run.stack),
        ),
        configs=StoredConfigs(services, project_id, run.writer),
        deployments=StoredDeployments(services, project_id, run.writer, partial(wake, components.runs)),
        sources=_sources(run),
        unrecorded=Unrecorded(run, state.type.part_of, components.runs.all),
    )
    required = state.row.action in BEGINNING and state.in_progress
    call = await _call(run, state, engine, report, adopted=run.adopted(state.row.name), required=required)
    state.used_by(call)
    return call


async def make_read_call(view: StackView, state: ResourceState, reader: NestedReader) -> Call:
    """Return the call for reading or observing a resource: like `make_call`, but it cannot change anything of Stoker.

    Changes of `data` or `metadata` are discarded with the view. `reader` reads nested stacks.
    """
    services, project_id = view.services, view.stack.project_id
    read_only: Any = _ReadOnly
    engine = EngineAccess(
        child=read_only(ChildView(view, state, reader), "members", "member_attribute", "outputs", "template"),
        neighbours=read_only(NeighboursView(view.whole), "by_reference", "by_name", "of_type"),
        configs=read_only(StoredConfigs(services, project_id, NoWriter()), "get"),
        deployments=read_only(StoredDeployments(services, project_id, NoWriter()), "get"),
        sources=_sources(view),
        unrecorded=Unrecorded(view, state.type.part_of),
    )
    return await _call(view, state, engine, MethodReport(), adopted={}, required=False)


async def _call(
    view: StackView,
    state: ResourceState,
    engine: EngineAccess,
    report: MethodReport,
    *,
    adopted: Mapping[str, object],
    required: bool,
) -> Call:
    cloud = await view.cloud()
    properties = await _named(
        view, state.type, finalized(state.type, state.properties), state.requires, required=required
    )
    before: Mapping[str, object] | None = None
    if state.row.former_properties:
        former = finalized(state.type, state.former)
        before = await _named(view, state.type, former, state.requires, required=False)
    row, stored, now = state.row, state.stored, view.services.clock.now()
    return Call(
        action=row.action,
        physical_name=state.physical_name,
        physical_id=row.physical_id,
        properties=properties,
        previous=before,
        changed={} if before is None else _differences(before, properties, stored.unsure),
        data=stored.data,
        progress=stored.progress,
        metadata=stored.metadata,
        now=now,
        stack=view.facts,
        cloud=cloud,
        resource=ResourceFacts(
            name=row.name,
            uuid=row.uuid,
            type=row.type,
            created_at=row.created_at,
            started_at=row.started_at or now,
            update_policy=stored.definition.get("update_policy", {}),
            creation_policy=stored.definition.get("creation_policy", {}),
            given=_names_with_value(state),
            adopted=adopted,
            first_name=first_name(row),
            first_place=stored.origin.first_location,
        ),
        engine=engine,
        report=report,
    )


def _sources(view: StackView) -> Sources:
    return StoredSources(view.inputs) if view.inputs is not None else NoSources()


class _ReadOnly:
    """Gives access only to methods that do not change anything; a type that calls another one while it is read is
    faulty.
    """

    def __init__(self, inner: object, *names: str) -> None:
        self._inner = inner
        self._names = names

    def __getattr__(self, name: str) -> object:
        if name not in self._names:
            raise Bug(f"a resource type calls {type(self._inner).__name__}.{name} while it is only read")
        return getattr(self._inner, name)


async def final_values(run: StackContext, target: Target) -> Mapping[str, object]:
    """Return the property values of a desired resource as its methods receive them.

    Raises CloudError if a name cannot be looked up.
    """
    values = finalized(target.type, target.properties)
    return await _named(run, target.type, values, target.requires, required=True)


async def users_of(run: StackContext, state: ResourceState) -> list[str]:
    """Return descriptions of what uses an object; resources of the same project are named with their stack."""
    try:
        found = await capabilities.used_by(state.type, await make_call(run, state))
    except StokerError as error:
        LOG.info("cannot determine what uses %s: %s", state.row.name, error.message)
        return []
    recorded = await run.services.database.read(queries.resources_behind, list(found), run.stack.project_id)
    return [
        f"{what} (resource {recorded[identifier][1]} of stack {recorded[identifier][0]})"
        if identifier in recorded
        else what
        for identifier, what in found.items()
    ]


def _differences(
    before: Mapping[str, object], after: Mapping[str, object], unsure: Collection[str]
) -> dict[str, object]:
    """Return the values that differ from those before, and those whose current value is unknown."""
    return {name: value for name, value in after.items() if name in unsure or before.get(name) != value}


class StoredSources:
    """Implements plugins.resource.Sources for a stored stack."""

    def __init__(self, inputs: LoadedInputs) -> None:
        self._inputs = inputs
        self.files: Mapping[str, str] = inputs.files

    def environment(self) -> Mapping[str, Any]:
        """Return the environment of the stack."""
        return self._inputs.environment.to_data()

    def parameters(self) -> Mapping[str, Any]:
        """Return the values of the stack's parameters."""
        inputs = self._inputs
        values = {**inputs.environment.parameter_defaults, **inputs.parameters["environment"]}
        values |= inputs.parameters["request"]
        return {name: values.get(name, schema.default) for name, schema in inputs.template.parameters.items()}


class Unrecorded:
    """Finds objects that no resource is recorded for; `asked_for` are objects that are needed exclusively.

    Resources of the type `whole` do not count (see `ResourceType.part_of`). `others` are the stacks with operations in
    this engine, whose latest ids may not be recorded yet.
    """

    def __init__(
        self, view: StackView, whole: str | None, others: Callable[[], Iterable[StackView]] = lambda: ()
    ) -> None:
        self._view = view
        self._whole = whole
        self._others = others
        self.asked_for: set[str] = set()

    async def __call__(self, physical_ids: Collection[str]) -> set[str]:
        recorded = await self._view.services.database.read(queries.recorded_ids, list(physical_ids), self._whole)
        views = [self._view, *self._others()]
        rows = [state.row for view in views for state in view.states.values()]
        known = {row.physical_id for row in rows if row.type != self._whole}
        self.asked_for.update(physical_ids)
        return set(physical_ids) - recorded - known


def _names_with_value(state: ResourceState) -> frozenset[str]:
    """Return the properties to which the template gives values, by their present names."""
    newer = traits_of(state.type).present_names
    return frozenset(map(newer.get, state.properties, state.properties))


def _ids_of(view: StackView, names: Collection[str]) -> frozenset[str]:
    """Return the physical ids of resources of the stack: values that come from these need no look-up."""
    states = (view.current.get(name) for name in names)
    return frozenset(state.row.physical_id for state in states if state is not None and state.row.physical_id)


async def _named(
    view: StackView, type_: ResourceType, values: Mapping[str, object], requires: Collection[str], *, required: bool
) -> Mapping[str, Any]:
    """Return values with names replaced by ids; unless `required`, names that do not exist any more are kept."""
    referring = traits_of(type_).referring
    if not referring:
        return values
    cloud = await view.cloud()
    try:
        return await resolve_names(referring, values, cloud, _ids_of(view, requires))
    except CloudError:
        if required:
            raise
        return values


_Name = tuple[str, str]
"""What a property resolves (`Property.resolve`), and the name."""


async def resolve_names(
    schema: Mapping[str, Property], values: Mapping[str, Any], cloud: Cloud, ids: Collection[str] = ()
) -> dict[str, object]:
    """Return finalized `values` in which names in properties that declare `resolve` are replaced by IDs, at any depth.

    Unknown, empty and missing values are not changed, nor are `ids`, which are known to be IDs. Other values in the
    format of an ID are looked up too, since they may be names. All look-ups run concurrently, each name once. Raises
    the CloudError of the first that fails.
    """
    names = dict.fromkeys(_names_in_map(schema, values, ids))
    if not names:
        return dict(values)
    found = await asyncio.gather(*(_id_of(kind, name, cloud) for kind, name in names))
    return _with_ids_in_map(schema, values, dict(zip(names, found, strict=True)))


async def _id_of(kind: str, name: str, cloud: Cloud) -> object:
    try:
        return await cloud.find(kind, name)
    except NotNamed:
        if is_uuid(name):  # the service itself reports an unknown ID
            return name
        raise


def _names_in_map(
    schema: Mapping[str, Property], values: Mapping[str, object], ids: Collection[str]
) -> Iterator[_Name]:
    for name, value in values.items():
        if value is not None and name in schema:
            yield from _names_in(schema[name], value, ids)


def _names_in(prop: Property, value: Any, ids: Collection[str]) -> Iterator[_Name]:
    if isinstance(value, list):
        for item in value:
            yield from _names_in(prop.items or prop, item, ids)
    elif isinstance(value, Mapping):
        yield from _names_in_map(prop.schema or {}, value, ids)
    elif prop.resolve is not None and not isinstance(value, Unknown) and value not in (None, "") and value not in ids:
        yield prop.resolve, str(value)


def _with_ids_in_map(
    schema: Mapping[str, Property], values: Mapping[str, object], found: Mapping[_Name, Any]
) -> dict[str, object]:
    return {name: _with_ids(schema[name], value, found) if name in schema else value for name, value in values.items()}


def _with_ids(prop: Property, value: object, found: Mapping[_Name, object]) -> object:
    if isinstance(value, list):
        return [_with_ids(prop.items or prop, item, found) for item in value]
    if isinstance(value, Mapping):
        return _with_ids_in_map(prop.schema or {}, value, found)
    if prop.resolve is None or isinstance(value, Unknown):
        return value
    return found.get((prop.resolve, str(value)), value)


def fits(identifier: str | None) -> bool:
    """Return whether an ID can be recorded."""
    return identifier is None or len(identifier) <= LONGEST


def with_fitting_id(outcome: Outcome, call: Call) -> Outcome:
    """Return the result of a method, or a failure if it has an ID that is too long; the call then has none."""
    known = outcome.physical_id if isinstance(outcome, Done | InProgress) else None
    for identifier in (known, call.physical_id):
        if not fits(identifier):
            call.physical_id = None
            return Failed(_problem(str(identifier)), "Error")
    return outcome


def require_fitting(identifier: str | None) -> str | None:
    """Return an ID that was found. Raises BadValue if it is too long."""
    if not fits(identifier):
        raise BadValue(_problem(str(identifier)))
    return identifier


def _problem(identifier: str) -> str:
    return f"the service answered with an ID of {len(identifier)} characters; an ID has {LONGEST} at most"
