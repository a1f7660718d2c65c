"""Make the records of one tree of stacks from Heat's rows.

The rows say what each resource is: its object, its data, the property values it was given. The definition besides the
properties, and the types, come from the template that the resource was last converged with. Where the template and the
rows agree, a following update with the same template changes nothing.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID, uuid5

import orjson

from stoker.base.errors import StokerError
from stoker.base.ids import physical_name
from stoker.engine.planning.decide import Target, decide
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Decision
from stoker.engine.planning.planner import Wanted
from stoker.engine.planning.reasons import ReasonCode
from stoker.engine.records.loader import LoadedInputs, Prepared
from stoker.engine.records.recorded import current_of
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState, attribute_text
from stoker.engine.records.values import finalized
from stoker.plugins.resource import AttributeKey, ResourceType
from stoker.schema.unknown import has_unknown, is_unknown
from stoker.store import queries, trusts
from stoker.store.journal import Batch
from stoker.store.records import (
    COMPLETE,
    FAILED,
    IN_PROGRESS,
    Event,
    Operation,
    Resource,
    Stack,
    StackSnapshot,
)
from stoker.takeover.decoding import Decoder
from stoker.takeover.heat import HeatStack, Row, parsed, seconds
from stoker.takeover.offline import OfflineChild, read_offline, sign_url
from stoker.template.environment import Environment
from stoker.template.expressions import Facade

_NAMES = UUID("6c0b7d0e-8f0e-5d3b-9a53-3d1b7c2f4a11")
"""The namespace of the IDs of records that Heat has no IDs for, so that a repeated takeover makes the same ones."""

MARK = "takeover-"
"""The prefix of the request ID of operations that record a takeover; the rest identifies the state of Heat's rows."""

INTERRUPTED = "was interrupted by the takeover from Heat; update or delete the stack to continue"
SIGNED_URL = "ec2_signed_url"
"""The key of a resource's data with its signed URL."""

_SHOW_URLS = frozenset({"alarm_url", "AlarmUrl"})
"""The attributes of scaling policies that show the URL."""

_DEFINING = ("CREATE", "UPDATE", "ROLLBACK", "ADOPT", "RESTORE")


class NotTransferable(StokerError):
    """A tree of stacks cannot be taken over as it is."""


@dataclass
class MappedStack:
    """One stack as it will be recorded. `states` are its resources by Heat's IDs."""

    source: HeatStack
    stack: Stack
    inputs: Prepared
    wanted: Wanted
    states: dict[int, ResourceState] = field(default_factory=dict)
    property_sets: list[dict[str, str]] = field(default_factory=list)
    earlier_inputs: list[Prepared] = field(default_factory=list)
    snapshots: list[StackSnapshot] = field(default_factory=list)
    scope: RecordedScope = field(init=False)

    def __post_init__(self) -> None:
        self.scope = RecordedScope(self._current)

    def _current(self, name: str) -> ResourceState | None:
        return self.current.get(name)

    @property
    def current(self) -> dict[str, ResourceState]:
        """Its resources by name, without replaced ones."""
        return current_of({state.row.uuid: state for state in self.states.values()})

    def is_settled(self) -> bool:
        """Return whether every resource is what the template defines, also in the stacks below."""
        rows = [state.row for state in self.states.values()]
        return self.stack.status == COMPLETE and all(row.status == COMPLETE and row.fingerprint for row in rows)


@dataclass
class MappedTree:
    """A tree of stacks as it will be recorded, the root first; `notes` say what the operator should know."""

    root: HeatStack
    digest: str
    stacks: list[MappedStack] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    credentials: dict[str, tuple[str, str]] = field(default_factory=dict)


class Mapper:
    """Maps trees of stacks with the types, limits and keys of an engine; `now` is in seconds since the epoch."""

    def __init__(self, services: EngineServices, decoder: Decoder, now: float) -> None:
        self._services = services
        self._decoder = decoder
        self._now = now

    def tree(self, root: HeatStack) -> MappedTree:
        """Return the records of a whole tree. Raises StokerError with the reason when it cannot be taken over."""
        mapped = MappedTree(root, self.digest(root))
        self._stack(mapped, root, None, None)
        mapped.stacks.sort(key=lambda each: each.stack.depth)
        return mapped

    def digest(self, root: HeatStack) -> str:
        """Return what identifies the state of a tree in Heat: it differs once Heat has changed anything of it."""
        state: list[Any] = []
        for stack in root.tree():
            row = stack.row
            state.append([row["id"], row["name"], row["action"], row["status"], seconds(row["updated_at"])])
            state.append([row["raw_template_id"], stack.tags, len(stack.snapshots)])
            for each in stack.resources:
                moment = seconds(each["updated_at"])
                state.append([each["id"], each["action"], each["status"], moment, each.get("atomic_key")])
        return self._services.sealer.digest(state)[:40]

    # -- a stack ---------------------------------------------------------------------------------------------

    def _stack(self, tree: MappedTree, source: HeatStack, above: Stack | None, holder: Row | None) -> MappedStack:
        row = source.row
        if source.backups and any(backup.resources for backup in source.backups):
            raise NotTransferable(
                f"stack {row['name']}: an update of a release without convergence has not finished (there is a backup "
                "stack); finish it in Heat first"
            )
        prepared = self._prepared(source, row["raw_template_id"])
        stack = self._stack_row(tree, source, above, holder, prepared)
        if stack.status == IN_PROGRESS:
            stack.status, stack.reason = FAILED, f"{stack.action} {INTERRUPTED}"
            tree.notes.append(f"{stack.name}: {stack.action} is in progress, and is recorded as failed")
        mapped = MappedStack(source, stack, prepared, self._wanted(stack, prepared.loaded))
        mapped.scope.parent = self._facade(source, holder)
        tree.stacks.append(mapped)
        children = self._children(tree, mapped)
        self._resources(tree, mapped, children)
        self._snapshots(tree, mapped)
        former = row["prev_raw_template_id"]
        if stack.action in _DEFINING and stack.status == COMPLETE:
            stack.good_inputs = prepared.row.id
        elif former is not None and former in source.templates:
            mapped.earlier_inputs.append(self._prepared(source, former))
            stack.good_inputs = mapped.earlier_inputs[-1].row.id
        return mapped

    def _children(self, tree: MappedTree, mapped: MappedStack) -> dict[int, MappedStack]:
        """Map the nested stacks; return them by the ID of the resource in Heat that contains each."""
        rows = mapped.source.resources
        found: dict[int, MappedStack] = {}
        for child in mapped.source.children:
            holders = [row for row in rows if row["nova_instance"] == child.id] or [
                row for row in rows if row["name"] == child.row["parent_resource_name"]
            ]
            if not holders:
                raise NotTransferable(
                    f"stack {child.row['name']}: the resource of {mapped.stack.name} that contains it is not recorded"
                )
            holder = holders[-1]
            found[holder["id"]] = self._stack(tree, child, mapped.stack, holder)
        return found

    def _prepared(self, source: HeatStack, template_id: int) -> Prepared:
        raw = source.templates.get(template_id)
        if raw is None:
            raise NotTransferable(f"stack {source.row['name']}: its template is missing in Heat's database")
        return self._inputs(source, raw, "inputs", template_id)

    def _inputs(self, source: HeatStack, raw: Row, *place: object) -> Prepared:
        """Return inputs from a template, files and an environment; `place` distinguishes them from others."""
        loader = self._services.loader
        environment = dict(parsed(raw["environment"]) or {})
        parameters = dict(environment.pop("parameters", None) or {})
        for name in environment.pop("encrypted_param_names", None) or ():
            if isinstance(parameters.get(name), list):
                parameters[name] = self._decoder.parameter(parameters[name])
        template = parsed(raw["template"]) or {}
        nested = source.row["owner_id"] is not None
        made = loader.generated(template) if nested else loader.parse(template)
        shared = Environment.from_data(_as_sent(environment))
        files = loader.files(parsed(raw["files"]) or {})
        prepared = loader.prepare(made, shared, files, parameters, ())
        return replace(prepared, row=replace(prepared.row, id=self._id(source, *place)))

    def _wanted(self, stack: Stack, inputs: LoadedInputs) -> Wanted:
        definition = self._services.loader.bind(stack, inputs, strict=False)
        wanted = Wanted.of(self._services, definition, inputs)
        for name, resource in definition.resources.items():
            if name not in wanted.types:
                raise NotTransferable(
                    f"stack {stack.name}: the resource type {resource.type} of resource {name} is not known here"
                )
        return wanted

    def _stack_row(
        self, tree: MappedTree, source: HeatStack, above: Stack | None, holder: Row | None, prepared: Prepared
    ) -> Stack:
        row = source.row
        credential, owner = self._credential(tree, source) if above is None else (above.credential, above.user_id)
        return Stack(
            id=source.id,
            name=row["name"],
            live_name=row["name"],
            project_id=row["tenant"],
            user_id=owner,
            user_name=row["username"],
            parent_id=above.id if above is not None else None,
            parent_resource=holder["uuid"] if holder is not None else None,
            root_id=above.root_id if above is not None else source.id,
            depth=above.depth + 1 if above is not None else 0,
            action=row["action"],
            status=row["status"],
            reason=row["status_reason"] or "",
            description=prepared.loaded.template.description,
            created_at=seconds(row["created_at"]) or self._now,
            updated_at=seconds(row["updated_at"]),
            deleted_at=None,
            timeout_minutes=row["timeout"],
            disable_rollback=bool(row["disable_rollback"]),
            inputs=prepared.row.id,
            good_inputs=None,
            operation=self._id(source, "operation"),
            credential=credential,
            user_project_id=row["stack_user_project_id"],
        )

    def _credential(self, tree: MappedTree, source: HeatStack) -> tuple[str | None, str | None]:
        """Return the stack's trust as a credential, and the user whose it is."""
        row = source.credentials
        trust = row["trust_id"] if row is not None else None
        if row is None or not trust:
            tree.notes.append(
                f"{source.row['name']}: Heat has no trust of its owner; the owner's next request creates one"
            )
            return None, None
        plain = self._decoder.plain(row["decrypt_method"], trust)
        text = orjson.dumps({"kind": "trust", "id": plain}).decode()
        tree.credentials[text] = (row["trustor_user_id"] or "", row["tenant_id"] or source.row["tenant"])
        return text, row["trustor_user_id"]

    def _facade(self, source: HeatStack, holder: Row | None) -> Facade | None:
        if holder is None:
            return None
        return Facade(parsed(holder["rsrc_metadata"]) or {}, "Delete", {})

    # -- resources -------------------------------------------------------------------------------------------

    def _resources(self, tree: MappedTree, mapped: MappedStack, children: Mapping[int, MappedStack]) -> None:
        source, latest = mapped.source, mapped.source.row["raw_template_id"]
        order = {name: number for number, name in enumerate(mapped.wanted.order)}
        rows = sorted(source.resources, key=lambda row: (order.get(row["name"], -1), row["id"]))
        names = {row["id"]: row["name"] for row in rows}
        uuids = {row["id"]: row["uuid"] for row in rows}
        former: dict[int, Wanted] = {latest: mapped.wanted}
        for position, row in enumerate(sorted(rows, key=lambda row: int(row["id"]))):
            mapped.states[row["id"]] = self._bare(mapped, row, position, uuids)
        for row in rows:
            made_with = row["current_template_id"] or latest
            wanted = self._wanted_of(mapped, former, made_with, row["name"])
            state = mapped.states[row["id"]]
            if wanted is None:
                self._without_definition(mapped, state, row)
            else:
                self._defined(mapped, state, row, wanted, names)
            self._sign(tree, mapped, state)
            self._attributes(mapped, state, row, children.get(row["id"]))
        for row in rows:
            self._compare(mapped, mapped.states[row["id"]], children.get(row["id"]))

    def _sign(self, tree: MappedTree, mapped: MappedStack, state: ResourceState) -> None:
        """Record the signed URL of a scaling policy, which Heat computes whenever it is read."""
        if SIGNED_URL in state.stored.data or not _SHOW_URLS & state.type.attributes.keys():
            return
        if "access_key" in state.stored.data:
            made = sign_url(self._services, mapped.stack, state)
            why = "heat_waitcondition_server_url is not configured"
        else:
            made, why = None, "Heat has not created a key pair for it; show the stack in Heat before the copy"
        if made is not None:
            state.stored.data[SIGNED_URL] = made
        elif state.type.signalable:
            tree.notes.append(f"{mapped.stack.name}: {state.row.name} has no signed URL here: {why}")

    def _wanted_of(self, mapped: MappedStack, known: dict[int, Wanted], template_id: int, name: str) -> Wanted | None:
        """Return the definition with a resource: that of the template it was converged with, if it is there."""
        if template_id not in known and template_id in mapped.source.templates:
            prepared = self._prepared(mapped.source, template_id)
            known[template_id] = self._wanted(mapped.stack, prepared.loaded)
        latest = mapped.source.row["raw_template_id"]
        tried = (known.get(template_id), known[latest], *known.values())
        return next((each for each in tried if each is not None and name in each.types), None)

    def _bare(self, mapped: MappedStack, row: Row, position: int, uuids: Mapping[int, str]) -> ResourceState:
        services = self._services
        record = Resource(
            uuid=row["uuid"],
            stack_id=mapped.stack.id,
            position=position,
            name=row["name"],
            type="",
            action=row["action"] or "INIT",
            status=row["status"] or COMPLETE,
            reason=row["status_reason"] or "",
            created_at=seconds(row["created_at"]) or self._now,
            updated_at=seconds(row["updated_at"]),
            started_at=seconds(row["updated_at"]) or seconds(row["created_at"]),
            physical_id=row["nova_instance"] or None,
            replaced_by=uuids.get(row["replaced_by"]),
        )
        state = ResourceState(record, services.unknown_type, mapped.stack.name, services.sealer, services.values)
        if (record.action, record.status) == ("DELETE", IN_PROGRESS):
            record.status = FAILED  # a deletion in progress has an effect recorded here, which begins with the next one
        stored = state.stored
        stored.metadata = parsed(row["rsrc_metadata"]) or {}
        stored.data = {
            each["key"]: self._decoder.plain(each["decrypt_method"], each["value"]) if each["value"] else each["value"]
            for each in mapped.source.data.get(row["id"], ())
        }
        return state

    def _without_definition(self, mapped: MappedStack, state: ResourceState, row: Row) -> None:
        raise NotTransferable(
            f"stack {mapped.stack.name}: no template in Heat's database defines the resource {row['name']}"
        )

    def _defined(
        self, mapped: MappedStack, state: ResourceState, row: Row, wanted: Wanted, names: Mapping[int, str]
    ) -> None:
        """Set the type, the definition and the property values of a resource."""
        values = self._values(mapped, row)
        target = wanted.target(state.row.name, mapped.scope)
        if values is not None and has_unknown(target.given):
            _learn(mapped, target.given, values)
            target = wanted.target(state.row.name, mapped.scope)
        state.type = target.type
        state.row.type = target.type_name
        state.stored.physical_name = physical_name_in_heat(mapped.stack.name, state)
        requires = {names[each] for each in parsed(row["requires"]) or () if each in names}
        state.row.requires = orjson.dumps(sorted(requires | target.requires)).decode()
        state.stored.definition = _known_definition(target, state)
        if values is None:
            values = {name: value for name, value in target.given.items() if not has_unknown(value)}
        same = state.row.status == COMPLETE and row["current_template_id"] == mapped.source.row["raw_template_id"]
        mapped.property_sets.append(self._give(mapped, state, row, _agreed(target, values, same=same)))
        adapt_data(state)

    def _give(self, mapped: MappedStack, state: ResourceState, row: Row, values: Mapping[str, Any]) -> dict[str, str]:
        made = state.give(values)
        state.row.properties = made["id"] = self._id(mapped.source, "properties", row["id"])
        return made

    def _values(self, mapped: MappedStack, row: Row) -> dict[str, Any] | None:
        """Return the property values that Heat has recorded for a resource; None if there are none."""
        stored = mapped.source.values.get(row.get("rsrc_prop_data_id") or -1)
        if stored is not None:
            data, encrypted = parsed(stored["data"]), stored["encrypted"]
        else:
            data, encrypted = parsed(row.get("properties_data")), row.get("properties_data_encrypted")
        if data is None:
            return None
        found = self._decoder.properties(data) if encrypted else dict(data)
        return {name: value for name, value in found.items() if value is not None}

    def _attributes(self, mapped: MappedStack, state: ResourceState, row: Row, child: MappedStack | None) -> None:
        """Record the attributes that other resources refer to, as far as they are known without a service."""
        wanted: set[AttributeKey] = mapped.wanted.keys_for_resources().get(state.row.name, set())
        if not wanted:
            return
        cached = self._cached(mapped, row)
        inside = OfflineChild(child.stack, child.current, child.wanted, child.scope) if child is not None else None
        for key in wanted:
            if key in cached:
                state.stored.attributes[attribute_text(key)] = cached[key]
                continue
            found = read_offline(self._services, mapped.stack, state, key, inside)
            if not has_unknown(found):
                state.stored.attributes[attribute_text(key)] = found

    def _cached(self, mapped: MappedStack, row: Row) -> dict[AttributeKey, Any]:
        """Return the attributes that Heat has stored; a key with a path is stored as `tuple:` and a Python tuple."""
        stored = mapped.source.values.get(row.get("attr_data_id") or -1)
        if stored is None:
            return {}
        data = parsed(stored["data"]) or {}
        plain = self._decoder.properties(data) if stored["encrypted"] else data
        return {_attribute(name): value for name, value in plain.items()}

    def _compare(self, mapped: MappedStack, state: ResourceState, child: MappedStack | None) -> None:
        """Record that a resource, with its nested stack, is what the stack's template defines, if that is the case."""
        if state.row.name not in mapped.wanted.types or state.row.status != COMPLETE or state.row.replaced_by:
            return
        target = mapped.wanted.target(state.row.name, mapped.scope)
        if target.fingerprint is None or target.requires != state.requires:
            return
        decision = decide(target, state)
        if target.type.nested:
            same = child is not None and child.is_settled() and _only_inside(decision)
        else:
            same = decision.kind is Kind.KEEP
        if same:
            state.row.fingerprint = target.fingerprint

    # -- writing ---------------------------------------------------------------------------------------------

    def batch(self, tree: MappedTree) -> Batch:
        """Return everything of a tree, to be committed together."""
        batch = Batch()
        for credential, (user, project) in tree.credentials.items():
            batch.then(partial(trusts.record_once, credential=credential, owner=(user, project, ())))
        for mapped in tree.stacks:
            for prepared in (mapped.inputs, *mapped.earlier_inputs):
                batch.then(prepared.save).add(prepared.row)
            batch.add(mapped.stack, self._operation(mapped, tree.digest))
            batch.add(*(state.seal() for state in mapped.states.values()))
            batch.property_sets.extend(mapped.property_sets)
            batch.add(*self._events(mapped, batch))
            batch.add(*mapped.snapshots)
            if mapped.source.tags:
                batch.then(partial(queries.set_tags, stack_id=mapped.stack.id, tags=mapped.source.tags))
        return batch

    def _operation(self, mapped: MappedStack, digest: str) -> Operation:
        stack = mapped.stack
        assert stack.operation is not None
        ended = stack.updated_at or stack.created_at
        return Operation(
            id=stack.operation,
            stack_id=stack.id,
            parent_operation=None,
            parent_resource=None,
            round=0,
            action=stack.action,
            status=stack.status,
            reason=stack.reason,
            inputs=stack.inputs,
            request_id=f"{MARK}{digest}",
            user_id=stack.user_id,
            user_name=stack.user_name,
            created_at=ended,
            started_at=ended,
            finished_at=ended,
            deadline=None,
        )

    def _events(self, mapped: MappedStack, batch: Batch) -> Iterable[Event]:
        """Yield the events; their property values are added to the batch."""
        shared = {
            row.get("rsrc_prop_data_id"): mapped.states[row["id"]].row.properties for row in mapped.source.resources
        }
        for row in mapped.source.events:
            values = row.get("rsrc_prop_data_id")
            if values is not None and values not in shared and values in mapped.source.values:
                stored = mapped.source.values[values]
                data = parsed(stored["data"]) or {}
                plain = self._decoder.properties(data) if stored["encrypted"] else data
                shared[values] = self._id(mapped.source, "event values", values)
                body = self._services.sealer.seal(plain)
                batch.property_sets.append({"id": shared[values] or "", "stack_id": mapped.stack.id, "body": body})
            yield Event(
                id=row["uuid"] or self._id(mapped.source, "event", row["id"]),
                stack_id=mapped.stack.id,
                resource_name=row["resource_name"] or "",
                resource_type=row["resource_type"] or "",
                physical_id=row["physical_resource_id"],
                action=row["resource_action"] or "",
                status=row["resource_status"] or "",
                reason=row["resource_status_reason"] or "",
                properties=shared.get(values) if values is not None else None,
                time=seconds(row["created_at"]) or self._now,
            )
        stack = mapped.stack
        taken = Event.of_stack(stack, stack.action, stack.status, "Taken over from Heat", self._now)
        yield replace(taken, id=self._id(mapped.source, "taken over"))

    def _snapshots(self, tree: MappedTree, mapped: MappedStack) -> None:
        """Map the snapshots: the definitions at that time, and their documents."""
        source, stack = mapped.source, mapped.stack
        for row in source.snapshots:
            data = parsed(row["data"])
            inputs = stack.inputs
            if data is not None:
                raw = {"files": {}, "environment": {}, **data}
                mapped.earlier_inputs.append(self._inputs(source, raw, "snapshot", row["id"]))
                inputs = mapped.earlier_inputs[-1].row.id
                data["resources"] = {**(data.get("resources") or {}), **source.saved.get(row["id"], {})}
                if _has_copies(data):
                    tree.notes.append(
                        f"{stack.name}: the snapshot {row['name'] or row['id']} has images or backups, which are not "
                        "taken over; restoring it restores the definition only"
                    )
            mapped.snapshots.append(
                StackSnapshot(
                    id=row["id"],
                    stack_id=stack.id,
                    name=row["name"],
                    action=row.get("action") or "CREATE",
                    status=FAILED if row["status"] == IN_PROGRESS else row["status"],
                    reason=row["status_reason"] or "",
                    inputs=inputs,
                    body=self._services.sealer.seal({"document": data, "hidden": []}) if data is not None else None,
                    created_at=seconds(row["created_at"]) or self._now,
                )
            )

    def _id(self, source: HeatStack, *parts: object) -> str:
        return str(uuid5(_NAMES, "/".join(map(str, (source.id, *parts)))))


def _attribute(name: str) -> AttributeKey:
    prefix, _, rest = name.partition("tuple:")
    return tuple(literal_eval(rest)) if rest and not prefix else (name,)


def _has_copies(document: Mapping[str, Any]) -> bool:
    """Return whether a snapshot's document names images or backups of its resources."""
    saved = [each.get("resource_data") or {} for each in document["resources"].values()]
    return any(data.get(key) for data in saved for key in ("snapshot_image_id", "backup_id"))


def _as_sent(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return an environment without the empty sections that Heat adds, so that it equals the one that users send."""
    registry = {name: value for name, value in (environment.get("resource_registry") or {}).items() if value != {}}
    return {name: value for name, value in {**environment, "resource_registry": registry}.items() if value}


def _only_inside(decision: Decision) -> bool:
    """Return whether a decision is about what is in a nested stack only."""
    return all(reason.code is ReasonCode.NESTED_MAY_CHANGE for reason in decision.reasons) and not decision.changes


def physical_name_in_heat(stack_name: str, state: ResourceState) -> str:
    """Return the name that Heat gave to the resource's object: its end comes from other bits of the UUID than here."""
    limit = state.type.physical_name_limit
    return physical_name(stack_name, state.row.name, str(UUID(int=UUID(state.row.uuid).time)), limit)


def adapt_data(state: ResourceState) -> None:
    """Add what a type keeps in its data here, and Heat elsewhere: the choice of how a handle is signalled."""
    transport = state.type.properties.get("signal_transport")
    if transport is not None and state.type.nested is False and "password" in state.stored.data:
        state.stored.data.setdefault("signal_transport", state.given.get("signal_transport") or transport.default)


def _known_definition(target: Target, state: ResourceState) -> dict[str, Any]:
    """Return the definition to record; Heat's metadata where the template's depend on values that are not known."""
    definition = target.definition()
    if has_unknown(definition["metadata"]):
        definition["metadata"] = dict(state.stored.metadata)
    return {name: value for name, value in definition.items() if not has_unknown(value)}


def _agreed(target: Target, values: Mapping[str, Any], *, same: bool) -> dict[str, Any]:
    """Return the property values to record: the template's where Heat's mean the same, Heat's elsewhere.

    Heat records IDs where a template has names. If a resource was converged with the present template (`same`), the
    values of properties that accept names are the template's.
    """
    kind, given = target.type, target.given
    if kind.ignores_properties or kind.any_properties:
        return dict(given) if same and not has_unknown(given) else dict(values)
    theirs, ours = finalized(kind, values), finalized(kind, given)
    agreed: dict[str, Any] = {}
    for name in {*values, *given}:
        known = name in given and not has_unknown(given[name])
        named = name in kind.properties and same and _accepts_names(kind, name)
        if (known and theirs.get(name) == ours.get(name)) or (known and named) or (name not in values and known):
            agreed[name] = given[name]
        elif name in values:
            agreed[name] = values[name]
    return agreed


def _accepts_names(kind: ResourceType, name: str) -> bool:
    return _looks_up(kind.properties[name])


def _looks_up(prop: Any) -> bool:
    inside = [*(prop.schema or {}).values(), *([prop.items] if prop.items is not None else [])]
    return prop.resolve is not None or any(map(_looks_up, inside))


def _learn(mapped: MappedStack, expected: Any, recorded: Any) -> None:
    """Record attributes whose values stand in the recorded properties of a resource that refers to them."""
    if is_unknown(expected):
        if len(expected.sources) == 1:
            name, attribute, *path = next(iter(expected.sources))
            state = mapped.current.get(str(name))
            if state is not None and attribute and recorded is not None:
                key = (attribute, *path)
                if state.type.path_in_attribute or not path:
                    state.stored.attributes.setdefault(attribute_text(key), recorded)  # type: ignore[arg-type]
    elif isinstance(expected, Mapping) and isinstance(recorded, Mapping):
        for key in expected.keys() & recorded.keys():
            _learn(mapped, expected[key], recorded[key])
    elif isinstance(expected, list) and isinstance(recorded, list) and len(expected) == len(recorded):
        for one, other in zip(expected, recorded, strict=True):
            _learn(mapped, one, other)
