"""Make the records of the resources of one stack."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping
from uuid import UUID

import orjson

from stoker.base.ids import physical_name
from stoker.base.json_text import dumps
from stoker.engine.planning.decide import decide
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.planner import DesiredState
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState, attribute_text
from stoker.plugins.resource import AttributeKey
from stoker.schema.unknown import has_unknown
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Origin, Resource
from stoker.takeover.agreement import (
    agreed_values,
    known_definition,
    only_inside,
    record_attributes,
    record_references,
)
from stoker.takeover.decoding import Decoder
from stoker.takeover.definitions import Definitions
from stoker.takeover.heat import Row, parsed, seconds
from stoker.takeover.mapped import MappedStack, MappedTree, NotTransferable, record_id
from stoker.takeover.offline import OfflineChild, read_offline, sign_url

SIGNED_URL = "ec2_signed_url"
_LONGEST_KEY = 1000
"""Characters of the name of an attribute with a path."""
"""The key of a resource's data with its signed URL."""

_SHOW_URLS = frozenset({"alarm_url", "AlarmUrl"})
"""The attributes of scaling policies that show the URL."""


class ResourceMapper:
    """Makes the records of resources, with the types and keys of an engine; `now` is in seconds since the epoch."""

    def __init__(self, services: EngineServices, decoder: Decoder, definitions: Definitions, now: float) -> None:
        self._services = services
        self._decoder = decoder
        self._definitions = definitions
        self._now = now

    def add(self, tree: MappedTree, mapped: MappedStack, children: Mapping[int, MappedStack]) -> None:
        """Add the resources of a stack, whose nested stacks are `children`, by the ID in Heat of their resource."""
        source, latest = mapped.source, mapped.source.row["raw_template_id"]
        order = {name: number for number, name in enumerate(mapped.desired.order)}
        rows = sorted(source.resources, key=lambda row: (order.get(row["name"], -1), row["id"]))
        names = {row["id"]: row["name"] for row in rows}
        uuids = {row["id"]: row["uuid"] for row in rows}
        former: dict[int, DesiredState] = {latest: mapped.desired}
        for position, row in enumerate(sorted(rows, key=lambda row: int(row["id"]))):
            mapped.states[row["id"]] = self._bare(mapped, row, position, uuids)
        for row in rows:
            made_with = row["current_template_id"] or latest  # none without convergence
            desired = self._desired_of(mapped, former, made_with, row["name"])
            state = mapped.states[row["id"]]
            if desired is None:
                raise NotTransferable(
                    f"stack {mapped.stack.name}: no template in Heat's database defines the resource {row['name']}"
                )
            self._defined(mapped, state, row, desired, names)
            self._sign(tree, mapped, state)
            self._attributes(mapped, state, row, children.get(row["id"]))
        for row in rows:
            self._compare(mapped, mapped.states[row["id"]], children.get(row["id"]))

    def _sign(self, tree: MappedTree, mapped: MappedStack, state: ResourceState) -> None:
        """Record the signed URL of a scaling policy, which Heat computes whenever it is read."""
        if SIGNED_URL in state.stored.data or not _SHOW_URLS & state.type.attributes.keys():
            return
        if "access_key" in state.stored.data:
            signed_url = sign_url(self._services, mapped.stack, state)
            why = "heat_waitcondition_server_url is not configured"
        else:
            signed_url, why = None, "Heat has not created a key pair for it; show the stack in Heat before the copy"
        if signed_url is not None:
            state.stored.data[SIGNED_URL] = signed_url
        elif state.type.signalable:
            tree.notes.append(f"{mapped.stack.name}: {state.row.name} has no signed URL here: {why}")

    def _desired_of(
        self, mapped: MappedStack, known: dict[int, DesiredState], template_id: int, name: str
    ) -> DesiredState | None:
        """Return the definition with a resource: that of the template it was converged with, if it is there."""
        if template_id not in known and template_id in mapped.source.templates:
            prepared = self._definitions.prepared(mapped.source, template_id)
            known[template_id] = self._definitions.desired_state(mapped.stack, prepared.loaded)
        latest = mapped.source.row["raw_template_id"]
        tried = (known.get(template_id), known[latest], *known.values())
        return next((desired for desired in tried if desired is not None and name in desired.types), None)

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
        state = ResourceState(
            record, services.types.missing, mapped.stack.name, services.sealer, services.memory.values
        )
        if (record.action, record.status) == ("DELETE", IN_PROGRESS):
            record.status = FAILED  # a deletion in progress has an effect recorded here, which begins with the next one
        stored = state.stored
        stored.metadata = parsed(row["rsrc_metadata"]) or {}
        stored.data = {
            entry["key"]: self._decoder.plain(entry["decrypt_method"], entry["value"])
            if entry["value"]
            else entry["value"]
            for entry in mapped.source.data.get(row["id"], ())
        }
        return state

    def _defined(
        self, mapped: MappedStack, state: ResourceState, row: Row, desired: DesiredState, names: Mapping[int, str]
    ) -> None:
        """Set the type, the definition and the property values of a resource."""
        values = self._values(mapped, row)
        if values is not None:
            record_references(mapped, desired, state.row.name, values)
        target = desired.target(state.row.name, mapped.scope)
        if values is not None and has_unknown(target.properties):
            record_attributes(mapped, target.properties, values)
            target = desired.target(state.row.name, mapped.scope)
        state.type = target.type
        state.row.type = target.type_name
        state.stored.origin = Origin(physical_name=physical_name_in_heat(mapped.stack.name, state))
        requires = {names[identifier] for identifier in parsed(row["requires"]) or () if identifier in names}
        state.row.requires = orjson.dumps(sorted(requires | target.requires)).decode()
        state.stored.definition = known_definition(target, state)
        if values is None:
            values = {name: value for name, value in target.properties.items() if not has_unknown(value)}
        latest = mapped.source.row["raw_template_id"]
        same = state.row.status == COMPLETE and (row["current_template_id"] or latest) == latest
        mapped.property_sets.append(self._give(mapped, state, row, agreed_values(target, values, same=same)))
        adapt_data(state)

    def _give(
        self, mapped: MappedStack, state: ResourceState, row: Row, values: Mapping[str, object]
    ) -> dict[str, str]:
        property_set = state.set_properties(values)
        state.row.properties = property_set["id"] = record_id(mapped.source, "properties", row["id"])
        return property_set

    def _values(self, mapped: MappedStack, row: Row) -> dict[str, object] | None:
        """Return the property values that Heat has recorded for a resource; None if there are none."""
        stored = mapped.source.values.get(row["rsrc_prop_data_id"] or -1)
        if stored is not None:
            data, encrypted = parsed(stored["data"]), stored["encrypted"]
        else:
            data, encrypted = parsed(row["properties_data"]), row["properties_data_encrypted"]
        if data is None:
            return None
        properties = self._decoder.properties(data) if encrypted else dict(data)
        return {name: value for name, value in properties.items() if value is not None}

    def _attributes(self, mapped: MappedStack, state: ResourceState, row: Row, child: MappedStack | None) -> None:
        """Record the attributes that other resources refer to, as far as they are known without a service."""
        keys: set[AttributeKey] = mapped.desired.keys_for_resources().get(state.row.name, set())
        if not keys:
            return
        cached = self._cached(mapped, row)
        inside = OfflineChild(child.stack, child.current, child.desired, child.scope) if child is not None else None
        for key in keys:
            if key in cached:
                state.stored.attributes[attribute_text(key)] = cached[key]
                continue
            value = read_offline(self._services, mapped.stack, state, key, inside)
            if not has_unknown(value):
                state.stored.attributes[attribute_text(key)] = value

    def _cached(self, mapped: MappedStack, row: Row) -> dict[AttributeKey, object]:
        """Return the attributes that Heat has stored; a key with a path is stored as `tuple:` and a Python tuple."""
        stored = mapped.source.values.get(row["attr_data_id"] or -1)
        if stored is None:
            return {}
        data = parsed(stored["data"]) or {}
        plain = self._decoder.properties(data) if stored["encrypted"] else data
        return {_attribute(name): value for name, value in plain.items()}

    def _compare(self, mapped: MappedStack, state: ResourceState, child: MappedStack | None) -> None:
        """Record that a resource, with its nested stack, is what the stack's template defines, if that is the case."""
        if state.row.name not in mapped.desired.types or state.row.status != COMPLETE or state.row.replaced_by:
            return
        target = mapped.desired.target(state.row.name, mapped.scope)
        if target.fingerprint is None or target.requires != state.requires:
            return
        decision = decide(target, state)
        if target.type.nested:
            same = child is not None and child.is_settled() and only_inside(decision)
        else:
            same = decision.kind is StepKind.KEEP
        if same:
            state.row.fingerprint = target.fingerprint


def _attribute(name: str) -> AttributeKey:
    prefix, _, rest = name.partition("tuple:")
    return (rest and not prefix and _written_tuple(rest)) or (name,)


def _written_tuple(text: str) -> AttributeKey | None:
    """Return a tuple of strings and numbers that Python wrote; None for anything else that a database may contain."""
    if len(text) > _LONGEST_KEY:
        return None
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    fit = isinstance(value, tuple) and all(type(part) in (str, int) for part in value)
    return value if fit else None


def physical_name_in_heat(stack_name: str, state: ResourceState) -> str:
    """Return the name that Heat gave to the resource's object: its end comes from other bits of the UUID than here."""
    limit = state.type.physical_name_limit
    return physical_name(stack_name, state.row.name, str(UUID(int=UUID(state.row.uuid).time)), limit)


def adapt_data(state: ResourceState) -> None:
    """Add what a type keeps in its data here, and Heat elsewhere: the choice of how a handle is signalled, and the port
    that was created for an instance of AWS.
    """
    if state.implementation == "AWS::EC2::Instance" and "port_id" in state.stored.data:
        ports = [{"id": state.stored.data.pop("port_id")}]
        state.stored.data.setdefault("internal_ports", dumps(ports).decode())
    transport = state.type.properties.get("signal_transport")
    if transport is not None and state.type.nested is False and "password" in state.stored.data:
        state.stored.data.setdefault("signal_transport", state.properties.get("signal_transport") or transport.default)
