"""Read the objects of imports: in the check of a request, as its caller, and in the operation, as the stack's owner."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import orjson

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import CloudError, Conflict, StokerError, TemplateInvalid, TokenRejected
from stoker.base.ids import new_id
from stoker.cloud.session import Cloud
from stoker.contract.views import NO_REASON
from stoker.engine.calls.building import make_call
from stoker.engine.calls.context import StackContext
from stoker.engine.inspection.comparison import compare
from stoker.engine.inspection.shared_reads import SharedReads
from stoker.engine.planning.decide import Target, decide
from stoker.engine.planning.imports import Imports, obstacles
from stoker.engine.planning.planner import DesiredState
from stoker.engine.records.object_owners import owned_by
from stoker.engine.records.observations import Cause
from stoker.engine.records.state import ResourceState, attribute_text, keys_of
from stoker.engine.running.adoption import examined
from stoker.engine.running.operation_context import OperationContext
from stoker.plugins.outcome import Failed
from stoker.plugins.resource import AttributeKey, ResourceType
from stoker.schema.unknown import has_unknown
from stoker.store.journal import Batch
from stoker.store.ownership import ObjectAlreadyOwned, holder_of, holders
from stoker.store.records import COMPLETE, Resource
from stoker.template.transfers import Import

Claimed = dict[str, str]
"""The paths of the resources as which objects are imported, by the keys of the objects' ownership."""


async def read_imports(
    context: StackContext, desired: DesiredState, pending: Mapping[str, Import], claimed: Claimed | None = None
) -> Imports:
    """Read the objects of imports and return their resources, which `context.current` then has.

    Resources follow those that they refer to, so that their values are known. `claimed` are the objects of the imports
    that other stacks of the tree have, to which these are added. Raises TemplateInvalid with all that cannot be
    imported.
    """
    position = max((state.row.position for state in context.states.values()), default=0)
    reads = SharedReads((desired.types[name][1], entry.identifier) for name, entry in pending.items())
    reading = [
        _Reading(context, desired, reads, name, entry, position + n)
        for n, (name, entry) in enumerate(pending.items(), 1)
    ]
    waiting, failed = {each.name: each for each in reading}, set[str]()
    while waiting:
        ready = [each for name, each in waiting.items() if not (desired.requires[name] - {name}) & waiting.keys()]
        for each in ready:
            del waiting[each.name]
        able = [each for each in ready if not desired.requires[each.name] & failed]
        await asyncio.gather(*(each.read() for each in able))
        failed |= {each.name for each in ready if each.problem is not None or each not in able}
    problems = [each.problem for each in reading if each.problem is not None]
    states = [each.state for each in reading if each.state is not None]
    problems += await _conflicts(context, reading, {} if claimed is None else claimed)
    if problems:
        raise TemplateInvalid(problems)
    unread = {state.row.uuid: each.unread for each in reading for state in [each.state] if state is not None}
    return Imports(tuple(states), dict(context.scope.prefetched), unread)


async def record_transfers(run: OperationContext) -> None:
    """Record what was moved and imported. Raises Conflict if an object has got another owner since the check, or
    another stack must not lose resources any more, and ActionInProgress if a stack has been changed.
    """
    try:
        await run.commit(Batch())
    except Conflict:
        run.progress.refused = True
        raise
    except ObjectAlreadyOwned as taken:
        run.progress.refused = True
        raise Conflict(taken.named_for(run.stack.project_id)) from taken


async def _conflicts(context: StackContext, reading: Iterable[_Reading], claimed: Claimed) -> list[Diagnostic]:
    """Return the problems with objects that other resources own, or that two entries are about."""
    read = [(each, each.state) for each in reading if each.state is not None]
    known = await context.services.database.read(
        lambda connection: list(holders(connection, [state.row.physical_id or "" for _, state in read]))
    )
    found = list[Diagnostic]()
    for each, state in read:
        if (owned := owned_by(state, context.stack)) is None:
            continue
        if (holder := holder_of(owned, known)) is not None:
            message = ObjectAlreadyOwned(owned.physical_id, holder).named_for(context.stack.project_id)
            found.append(each.entry.problem(message, each.key))
        elif (other := claimed.setdefault(owned.key, each.path)) != each.path:
            found.append(each.entry.problem(f"{owned.physical_id} is also imported as the resource {other}", each.key))
    return found


class _Refused(Exception):
    """An object cannot be imported, for this reason."""


class _Reading:
    """The reading of one import. Afterwards either `state` is its resource, or there is a `problem`."""

    def __init__(
        self, context: StackContext, desired: DesiredState, reads: SharedReads, name: str, entry: Import, position: int
    ) -> None:
        self.name = name
        self.path = f"{entry.above}{name}"
        self.entry = entry
        self.key = "id" if entry.identifier is not None else "identity"
        self.state: ResourceState | None = None
        self.problem: Diagnostic | None = None
        self.unread = ""
        self._context = context
        self._desired = desired
        self._reads = reads
        self._position = position

    async def read(self) -> None:
        """Read the object, and compare it with the template."""
        context = self._context
        try:
            identifier = await self._identifier(await context.cloud())
            for required in self._desired.requires[self.name] & context.current.keys():
                await self._read_attributes(context.current[required])
            target = await context.evaluate(partial(self._desired.target, self.name, context.scope))
            state = self._begun(target, identifier)
            await self._examine(state, target)
        except _Refused as refused:
            self.problem = self.entry.problem(str(refused), self.key)
        except TokenRejected:
            raise
        except StokerError as error:
            if isinstance(error, CloudError) and error.transient:
                raise
            self.problem = self.entry.problem(error.message, self.key)
        else:
            self.state = context.current[self.name] = state

    async def _identifier(self, cloud: Cloud) -> str:
        entry, kind = self.entry, self._desired.types[self.name][1]
        identifier = entry.identifier or await _identified(cloud, kind, entry, self._context.stack.project_id)
        recorded = self._context.current.get(self.name)
        if recorded is not None and recorded.row.physical_id not in (None, identifier):
            raise _Refused(f"the resource {self.path} refers to the object {recorded.row.physical_id}")
        return identifier

    def _begun(self, target: Target, identifier: str) -> ResourceState:
        """Return the resource with the object, as the template defines it as far as the values are known."""
        context, now = self._context, self._context.services.clock.now()
        operation = context.operation.id if context.operation is not None else "plan"
        state = context.current.get(self.name)
        if state is None or state.row.physical_id is None:
            row = Resource(
                uuid=new_id(), stack_id=context.stack.id, position=self._position, name=self.name,
                type=target.type_name, action="ADOPT", status=COMPLETE, reason=NO_REASON, physical_id=identifier,
                created_at=now, started_at=now, updated_at=now,
            )  # fmt: skip
            services = context.services
            state = ResourceState(row, target.type, context.stack.name, services.sealer, services.memory.values)
        row, state.type, state.recorded_id = state.row, target.type, None
        row.action, row.status, row.reason = "ADOPT", COMPLETE, NO_REASON
        row.type, row.substituted = target.type_name, target.implementation != target.type_name
        row.requires = orjson.dumps(sorted(target.requires)).decode()
        state.stored.definition, state.stored.metadata = target.definition(), target.metadata
        state.stored.origin = replace(state.stored.origin, imported=operation)
        state.set_properties({name: value for name, value in target.properties.items() if not has_unknown(value)})
        return state

    async def _examine(self, state: ResourceState, target: Target) -> None:
        """Take over what the object has. Raises _Refused if it cannot become the resource."""
        context = self._context
        call = await make_call(context, state)
        call.cloud = self._reads.over(call.cloud)
        outcome = await examined(state.type, call)
        if isinstance(outcome, Failed):
            raise _Refused(outcome.reason)
        state.seen |= call.report.seen
        ignored = self._desired.definition.resources[self.name].ignore_drift
        comparison = (await compare(context, state, self._reads)).without_ignored(state.type, ignored)
        if comparison.found is None:
            raise _Refused(f"the object {state.row.physical_id} does not exist")
        if comparison.cause is Cause.SERVICE:
            raise _Refused(f"the object {state.row.physical_id} cannot be read: {comparison.not_compared_reasons}")
        state.set_properties({**state.properties, **comparison.found})
        state.row.fingerprint = (target.fingerprint or "") if not comparison.found else ""
        self.unread = f"not compared: {comparison.not_compared_reasons}" if comparison.cause is not None else ""
        if because := obstacles(decide(target, state)):
            unknown = [name for name in because if has_unknown(target.properties.get(name))]
            if unknown == because:
                raise _Refused(
                    f"whether the object {state.row.physical_id} can become the resource {self.path} is not known "
                    f"before the deployment: it gives {', '.join(because)} a value, and another value needs a new "
                    "object; import it in a later deployment"
                )
            raise _Refused(
                f"the object {state.row.physical_id} cannot become the resource {self.path}, since what differs needs "
                f"a new object: {', '.join(because)}"
            )
        keys = self._desired.keys_for_resources().get(self.name, set())
        values = await self._attributes(state, keys)
        state.stored.attributes = {attribute_text(key): value for key, value in values.items()}

    async def _read_attributes(self, state: ResourceState) -> None:
        """Read what the resource refers to of another one, as a step does before it (see `StepRunner`)."""
        scope, name = self._context.scope, state.row.name
        keys = {
            key
            for reference in self._desired.definition.resources[self.name].references
            if reference.resource == name
            for key in keys_of(reference, state.type)
            if attribute_text(key) not in state.stored.attributes
            and (name, attribute_text(key)) not in scope.prefetched
        }
        for key, value in (await self._attributes(state, keys)).items():
            scope.prefetched[name, attribute_text(key)] = value

    async def _attributes(self, state: ResourceState, keys: set[AttributeKey]) -> dict[AttributeKey, object]:
        if not keys:
            return {}
        return await state.type.read_attributes(await make_call(self._context, state), keys)


async def _identified(cloud: Cloud, kind: ResourceType, entry: Import, project_id: str) -> str:
    """Return the ID of the only object that its service lists with the fields of an entry. Raises _Refused."""
    listing = kind.listed
    if listing is None:
        raise _Refused(f"objects of the type {kind.type_name} are in no list in which they could be found: give the id")
    owner = {listing.owner: project_id} if listing.owner is not None else None
    found = []
    for item in await cloud.list(listing.service, listing.path, listing.members, owner):
        parts = listing.parts(item)
        shown = item.get(listing.member) if listing.member and listing.id_field not in item else item
        if parts is not None and all(
            shown.get(_field(listing.name_field, key)) == value for key, value in entry.identity
        ):
            found.append(parts[0])
    if not found:
        raise _Refused(f"{listing.service} lists no object with {entry.object}")
    if len(found) > 1:
        raise _Refused(f"{listing.service} lists {len(found)} objects with {entry.object}: give the id of one of them")
    return found[0]


def _field(name_field: str | None, key: str) -> str:
    return name_field if key == "name" and name_field is not None else key
