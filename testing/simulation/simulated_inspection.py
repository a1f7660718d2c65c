"""What must hold, whatever happened: the record and the cloud compared, object by object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, exists, or_, select

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.store import Table
from openstack_emulator.core.typed import to_bytes
from stoker.base.ids import short_id
from stoker.store.database import Database
from stoker.store.records import IN_PROGRESS, STACK_TYPE, UNFINISHED, Resource, Stack, StackSnapshot
from stoker.store.tables import (
    events,
    late_requests,
    operations,
    resources,
    snapshots,
    software_configs,
    software_deployments,
    stacks,
)
from stoker.testing.cloud_objects import LEFT_ALONE
from testing.simulation.simulated_events import missing_events
from testing.simulation.simulated_parts import FaultInjector
from testing.simulation.simulated_templates import Draft


@dataclass(frozen=True, slots=True)
class Kind:
    """Where the objects of a resource type are, which field of theirs a resource records, and fields of objects with
    the properties that they show.
    """

    collection: tuple[str, str]
    identity: str = "id"
    shown: Mapping[str, str] = field(default_factory=dict)


KINDS = {
    "OS::Neutron::Net": Kind(("neutron", "networks"), shown={"name": "name"}),
    "OS::Neutron::Subnet": Kind(("neutron", "subnets"), shown={"cidr": "cidr", "network_id": "network"}),
    "OS::Neutron::Port": Kind(("neutron", "ports"), shown={"name": "name", "network_id": "network"}),
    "OS::Neutron::Router": Kind(("neutron", "routers")),
    "OS::Neutron::FloatingIP": Kind(("neutron", "floatingips")),
    "OS::Neutron::SecurityGroup": Kind(("neutron", "security_groups")),
    "OS::Nova::Server": Kind(("nova", "servers"), shown={"name": "name"}),
    "OS::Nova::ServerGroup": Kind(("nova", "server_groups")),
    "OS::Nova::KeyPair": Kind(("nova", "keypairs"), "name", shown={"name": "name"}),
    "OS::Cinder::Volume": Kind(("cinder", "volumes"), shown={"size": "size"}),
    "OS::Swift::Container": Kind(("swift", "containers"), "name"),
}
COPIES = {
    "OS::Nova::Server": Kind(("glance", "images")),
    "OS::Cinder::Volume": Kind(("cinder", "backups")),
}
"""What snapshots hold of resources of a type."""
_UNFINISHED = or_(*(operations.c.status == status for status in UNFINISHED))
"""Not as a list of values, which SQLAlchemy puts into the statement at each execution."""
_ABANDONED = select(stacks.c.name, stacks.c.action).where(
    stacks.c.status == IN_PROGRESS,
    stacks.c.deleted_at.is_(None),
    stacks.c.operation.not_in(select(operations.c.id).where(_UNFINISHED)),
)
_DELETED = select(events.c.stack_id, events.c.resource_name).where(
    events.c.resource_type != STACK_TYPE, events.c.action == "DELETE", events.c.status == "COMPLETE"
)
_WITHOUT_EVENTS = select(stacks.c.name, stacks.c.action, stacks.c.status).where(
    ~exists().where(
        events.c.stack_id == stacks.c.id,
        events.c.resource_type == STACK_TYPE,
        events.c.action == stacks.c.action,
        events.c.status == stacks.c.status,
    )
)
_LIVE_ROOT = select(stacks).where(stacks.c.live_name == bindparam("name"))
_BUSY = select(operations.c.action, operations.c.status, operations.c.owner).where(_UNFINISHED)
_DEPLOYED = select(software_deployments.c.id)
_AWAITED = select(late_requests.c.resource_uuid)
_RECORDED = select(resources).join(stacks, stacks.c.id == resources.c.stack_id).order_by(resources.c.uuid)
_COPIED = select(resources).join(snapshots, snapshots.c.id == resources.c.stack_id).order_by(resources.c.uuid)
TRUSTS = ("keystone", "trusts")
NOTHING_TOLD = ("", "null", "{}")
"""Descriptions that come of values that were not there yet."""
IN_CHARGE = "is in progress and nothing will continue it"


class Inspection:
    """Looks from outside, with the rights of nobody's process."""

    def __init__(self, cloud: Cloud, database: Database, injector: FaultInjector) -> None:
        self._cloud = cloud
        self._database = database
        self._injector = injector
        self._recorded: dict[str, tuple[str, str]] = {}
        self._vanished: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], str] = {}
        self._converted: dict[tuple[str, str], tuple[int, dict[str, dict[str, Any]]]] = {}
        """By collection: the number of its changes, and its objects as they were then."""
        self.given_away: set[tuple[str, str]] = set()
        self.free: set[str] = set()
        self._owned: set[str | None] = set()
        cloud.open_all()  # services are seeded when they are opened, and what is seeded is not made by anybody
        self._preset = self._everything()

    def _everything(self) -> dict[tuple[str, str], set[str]]:
        collections = self._cloud.store.tables
        default = {
            group["id"] for group in _stored(collections["neutron", "security_groups"]) if group["name"] == "default"
        }
        return {
            key: {
                str(record["id"])
                for record in map(collection.to_json, collection)
                if not _is_implicit(record) and record.get("security_group_id") not in default
            }
            for key, collection in collections.items()
            if not collection.internal and key not in LEFT_ALONE
        }

    def _objects(self, kind: Kind) -> dict[str, dict[str, Any]]:
        """What has been made of a kind, by the id that a resource has recorded."""
        rows = self._cloud.store.tables[kind.collection]
        changes, objects = self._converted.get(kind.collection, (None, {}))
        if changes == rows.changes:
            return objects
        preset = self._preset[kind.collection]
        made = [record for record in map(rows.to_json, rows) if str(record["id"]) not in preset]
        objects = {str(record[kind.identity]): record for record in made if not _is_implicit(record)}
        self._converted[kind.collection] = (rows.changes, objects)
        return objects

    # -- the record ------------------------------------------------------------------------------------------

    def stack(self, name: str) -> Stack | None:
        """The live root stack of that name."""
        with self._database.engine.connect() as connection:
            row = connection.execute(_LIVE_ROOT, {"name": name}).one_or_none()
        return Stack.of(row) if row else None

    def operations_of(self, name: str) -> set[str]:
        """The IDs of the operations that were asked for on the live root stack of that name."""
        stack = self.stack(name)
        query = select(operations.c.id).where(operations.c.stack_id == (stack.id if stack is not None else None))
        with self._database.engine.connect() as connection:
            return set(connection.execute(query).scalars())

    def unfinished(self) -> list[str]:
        """Operations that have not ended."""
        with self._database.engine.connect() as connection:
            rows = connection.execute(_BUSY).all()
        return [f"{row.action} {row.status} {row.owner or 'nobody'}" for row in rows]

    def snapshots_of(self, name: str) -> list[StackSnapshot]:
        """What has been saved of a stack."""
        stack = self.stack(name)
        query = select(snapshots).where(snapshots.c.stack_id == (stack.id if stack else "")).order_by(snapshots.c.id)
        with self._database.engine.connect() as connection:
            return [StackSnapshot.of(row) for row in connection.execute(query)]

    def resources_of(self, stack: Stack | None) -> list[Resource]:
        """What a stack has recorded."""
        if stack is None:
            return []
        with self._database.engine.connect() as connection:
            return [row for row in _rows(connection) if row.stack_id == stack.id]

    def child(self, row: Resource) -> Stack | None:
        """The stack nested in a resource."""
        query = select(stacks).where(stacks.c.parent_resource == row.uuid, stacks.c.deleted_at.is_(None))
        with self._database.engine.connect() as connection:
            found = connection.execute(query).one_or_none()
        return Stack.of(found) if found else None

    def waiting_deployments(self) -> list[str]:
        """The software deployments that wait for an answer of their server."""
        query = select(software_deployments.c.id).where(software_deployments.c.status == IN_PROGRESS)
        with self._database.engine.connect() as connection:
            return sorted(connection.execute(query).scalars())

    # -- what holds at any moment ----------------------------------------------------------------------------

    def check(self, *, strict: bool = False) -> None:
        """What is in the cloud is recorded, once, and the other way round; whatever is in progress is in hand.

        An object may be unrecorded for as long as there is a resource whose creation has begun, or failed, without an
        id: it is looked for by its name later; for as long as an engine that is not in charge any more is about to
        remove what it has made; or for as long as engines look for what was created after its engine had died. `strict`
        minds, but not the copy of a snapshot that has failed, which is looked for when the snapshot goes.
        """
        with self._database.engine.connect() as connection:
            self._check_owners(connection)
            rows, copies = _rows(connection), Resource.all_of(connection.execute(_COPIED))
            self._check_deployments(connection, rows)
            self._check_events(connection, rows)
        self._check_released(rows)
        passing = self._injector.made_late()
        for name, kind in KINDS.items():
            mine = [row for row in rows if row.type == name]
            self._check_objects(name, kind, mine, None if strict else passing)
        for name, kind in COPIES.items():
            self._check_objects(f"a copy of {name}", kind, [row for row in copies if row.type == name], passing)

    def _check_owners(self, connection: Connection) -> None:
        for row in connection.execute(_ABANDONED):
            self._injector.violate("stuck", f"{row.name} {row.action} {IN_CHARGE}")

    def is_there(self, net: str) -> bool:
        """Whether a network exists."""
        return net in self._objects(KINDS["OS::Neutron::Net"])

    def rename(self, net: str, name: str) -> None:
        """Give a network another name, as its owner could without an engine."""
        networks = self._cloud.store.tables[KINDS["OS::Neutron::Net"].collection]
        networks.update(networks.require(net), name=name)

    def owners_of(self, net: str) -> list[Resource]:
        """The resources that have recorded a network."""
        with self._database.engine.connect() as connection:
            return [row for row in _rows(connection) if row.physical_id == net]

    def _check_released(self, rows: list[Resource]) -> None:
        """A network that was given away is deleted only by a resource that has imported it.

        `given_away` are the stacks and names of resources that are to leave their networks behind, `free` these.
        """
        self.free |= {
            row.physical_id for row in rows if row.physical_id and (row.stack_id, row.name) in self.given_away
        }
        owned = {row.physical_id for row in rows}
        there = self._objects(KINDS["OS::Neutron::Net"]).keys()
        for net in sorted(self.free - there - owned - self._owned):
            self._injector.violate("lost", f"the network {net}, which belonged to nobody, was deleted")
        self._owned = owned | (self.free - there)

    def _check_deployments(self, connection: Connection, rows: list[Resource]) -> None:
        """A deployment has the id of its resource."""
        recorded = {row.uuid for row in rows}
        for identifier in connection.execute(_DEPLOYED).scalars():
            if identifier not in recorded:
                self._injector.violate("orphaned", f"the software deployment {identifier} belongs to nobody")

    def _check_events(self, connection: Connection, rows: list[Resource]) -> None:
        """Each resource that is gone has an event of its deletion, each stack one of the state that it shows."""
        now = {row.uuid: (row.stack_id, row.name) for row in rows}
        for uuid, (stack_id, name) in now.items():
            former = self._recorded.get(uuid, (stack_id, name))
            if former[0] == stack_id and former[1] != name:  # its events are those of both names
                self._first.setdefault((stack_id, name), self._first.get(former, former[1]))
        gone = [place for uuid, place in self._recorded.items() if uuid not in now]
        self._recorded = now
        self._vanished.update(gone)
        if gone:
            reported = Counter((row.stack_id, row.resource_name) for row in connection.execute(_DELETED))
            for place in gone:
                if reported[place] < self._vanished[place]:
                    self._injector.violate("unreported", f"there is no event of the deletion of {place[1]}")
        for row in connection.execute(_WITHOUT_EVENTS):
            self._injector.violate(
                "unreported", f"stack {row.name} is {row.action} {row.status} without an event of that"
            )

    def check_history(self) -> None:
        """What has happened, until nothing is in progress any more, is in the events."""
        with self._database.engine.connect() as connection:
            for text in missing_events(connection, self._first):
                self._injector.violate("unreported", text)

    def late(self) -> list[str]:
        """Objects that were created for requests of engines that had died, and that belong to no resource."""
        made = {identifier for kind in KINDS.values() for identifier in self._objects(kind)}
        if not (there := made & self._injector.late_objects):
            return []
        with self._database.engine.connect() as connection:
            return sorted(there - {row.physical_id for row in _rows(connection)} - self.free)

    def _check_objects(self, name: str, kind: Kind, rows: list[Resource], passing: int | None) -> None:
        """`passing` objects may be unrecorded, besides those that resources look for; none at all if it is None."""
        recorded = {row.physical_id for row in rows if row.physical_id is not None}
        objects = self._objects(kind)
        kept = [row for row in rows if row.replaced_by is None and row.action != "DELETE"]
        lasting = [row.physical_id for row in kept if row.physical_id is not None]
        if len(set(lasting)) < len(lasting):
            twice = sorted(identifier for identifier, times in Counter(lasting).items() if times > 1)
            self._injector.violate("duplicated", f"two resources record the same {name}: {twice}")
        for row in (
            rows if passing is None or kind.identity == "id" else ()
        ):  # a name is given up before another one takes it
            if row.status == "COMPLETE" and row.action != "DELETE" and row.physical_id not in objects:
                self._injector.violate("lost", f"{name} {row.name} {row.action} {row.physical_id} is not there")
        tolerated = 0 if passing is None else sum(row.physical_id is None for row in rows) + passing
        unknown = [i for i in sorted(objects.keys() - recorded - self.free) if not self._is_awaited(objects[i], rows)]
        if len(unknown) <= tolerated:
            return
        names = Counter(record.get("name") for record in objects.values())
        for identifier in unknown[tolerated:]:
            title = objects[identifier].get("name")
            label = "duplicated" if title != "twin" and names[title] > 1 else "orphaned"
            self._injector.violate(label, f"{name} {identifier} named {title} belongs to nobody")

    def _is_awaited(self, record: Mapping[str, Any], rows: list[Resource]) -> bool:
        """Whether engines look for an object with this name: its request outlived its sender, or the sender stopped
        before it could remove the object."""
        text = str(record)
        with self._database.engine.connect() as connection:
            awaited = set(connection.execute(_AWAITED).scalars())
        return any(row.uuid in awaited and short_id(row.uuid) in text for row in rows)

    # -- what holds when all is quiet ------------------------------------------------------------------------

    def compare(self, name: str, draft: Draft) -> None:
        """The stack has what its template says, no more and no less, with the values that it says."""
        stack = self.stack(name)
        if stack is None:
            self._injector.violate("different", f"{name} is not there")
            return
        rows = self.resources_of(stack)
        expected = sorted(draft.template()["resources"])
        if sorted(row.name for row in rows) != expected:
            text = f"{name} records {sorted(row.name for row in rows)} instead of {expected}"
            self._injector.violate("different", text)
        identifiers = {row.name: row.physical_id for row in rows}
        for row in rows:
            if row.type == "shelf.yaml":  # its reference is the network in it
                [identifiers[row.name]] = [inner.physical_id for inner in self.resources_of(self.child(row))]
        for row in rows:
            expected = draft.resources.get(row.name, {}).get("properties", {})
            self._compare_values(row, {key: _resolved(value, identifiers) for key, value in expected.items()})
        self._compare_interfaces(draft, identifiers)
        for group in draft.named("rules"):
            self._compare_rules(draft, group, identifiers)
        nets = self._objects(KINDS["OS::Neutron::Net"])
        for row in rows:
            if (
                row.name.startswith("about-")
                and nets.get(row.physical_id or "", {}).get("description", "") in NOTHING_TOLD
            ):
                self._injector.violate("different", f"{row.name} of {name} was made before there was anything to tell")

    def _compare_values(self, row: Resource, expected: Mapping[str, Any]) -> None:
        if row.type == "OS::Heat::ResourceGroup":
            names = [member.name for member in self.resources_of(self.child(row))]
            if (keys := expected.get("for_each")) is not None:
                self._same(row, "for_each", sorted(names), sorted(keys))
            else:
                self._same(row, "count", len(names), expected["count"])
        if row.type == "pair.yaml":
            [volume] = [inner for inner in self.resources_of(self.child(row)) if inner.name == "volume"]
            self._compare_values(volume, {"size": expected["size"]})
        kind = KINDS.get(row.type)
        found = self._objects(kind).get(row.physical_id or "") if kind is not None else None
        if kind is None or found is None:
            return
        for shown, name in kind.shown.items():
            if name in expected:
                self._same(row, name, found.get(shown), expected[name])

    def _same(self, row: Resource, what: str, found: Any, expected: Any) -> None:
        if found != expected:
            self._injector.violate("different", f"{row.name} has {what} {found} instead of {expected}")

    def _compare_interfaces(self, draft: Draft, identifiers: Mapping[str, str | None]) -> None:
        ports = _stored(self._cloud.store.tables["neutron", "ports"])
        for name in draft.named("interface"):
            expected = {
                key: _resolved(value, identifiers) for key, value in draft.resources[name]["properties"].items()
            }
            feet = [port for port in ports if port["device_id"] == expected["router"]]
            if sum(ip["subnet_id"] == expected["subnet"] for port in feet for ip in port["fixed_ips"]) != 1:
                self._injector.violate("different", f"{name} does not join its router to its subnet")

    def _compare_rules(self, draft: Draft, group: str, identifiers: Mapping[str, str | None]) -> None:
        expected = [rule["port_range_min"] for rule in draft.resources[group]["properties"]["rules"]]
        rules = _stored(self._cloud.store.tables["neutron", "security_group_rules"])
        mine = [rule for rule in rules if rule["security_group_id"] == identifiers.get(group)]
        found = [rule["port_range_min"] for rule in mine if rule["port_range_min"] is not None]
        if sorted(found) != sorted(expected):
            self._injector.violate("different", f"{group} has rules for the ports {found} instead of {expected}")

    def check_nothing_remains(self) -> None:
        """All stacks are deleted: the cloud is as it was in the beginning, trusts and users included."""
        with self._database.engine.connect() as connection:
            for table in (software_deployments, software_configs):
                if left := list(connection.execute(select(table.c.id)).scalars()):
                    self._injector.violate("orphaned", f"{table.name} after everything was deleted: {left}")
        now = self._everything()
        self._check_trusts(len(now.pop(TRUSTS) - self._preset[TRUSTS]))
        for key, before in self._preset.items():
            if key == TRUSTS:
                continue
            rows = self._cloud.store.tables[key]
            records = {str(record["id"]): record for record in map(rows.to_json, rows)}
            now[key] -= {i for i, each in records.items() if self.free & {i, each.get("network_id")}}
            if now[key] - before:
                left = [orjson.dumps(records[i], default=str).decode()[:300] for i in sorted(now[key] - before)]
                self._injector.violate("orphaned", f"{key} after everything was deleted: {left}")
            if before - now[key]:
                self._injector.violate("lost", f"{key} that was there before: {sorted(before - now[key])}")

    def _check_trusts(self, left: int) -> None:
        """A trust has no name: one whose maker did not live to record it, or received a failure, is left."""
        self._injector.counts["trusts left"] += left
        excused = self._injector.counts["requests lost"] + self._injector.counts["trusts that were said to have failed"]
        if left > excused:
            self._injector.violate("orphaned", f"{left} trusts, of which {excused} could not be known")


def _rows(connection: Connection) -> list[Resource]:
    """The resources of stacks; copies in snapshots are not resources of stacks."""
    return Resource.all_of(connection.execute(_RECORDED))


def _stored(rows: Table[Any]) -> list[dict[str, Any]]:
    """Records of the emulated cloud as it stores them, with the parts within them."""
    return [orjson.loads(to_bytes(rows.to_json(record))) for record in rows]


def _resolved(value: Any, identifiers: Mapping[str, str | None]) -> Any:
    """A property's value, a reference being the id of the object that it means."""
    return identifiers.get(value["get_resource"]) if isinstance(value, dict) and "get_resource" in value else value


def _is_implicit(record: dict[str, Any]) -> bool:
    """What services make of themselves."""
    owner = str(record.get("device_owner", ""))
    return (owner.startswith(("network:", "compute:")) and not record.get("name")) or record.get("name") == "default"
