"""The state of the service, and tables: rows of one kind with the rules all kinds share, which are who may do what,
references, quotas, sharing, revisions.

A kind with rules of its own is a subclass that overrides `prepare` (before a create), `created` (after it),
`revise` (before a change), `revised` (after it), `refuse_delete` and `forget` (the deletion itself), and `view`.
`prepare`, `revise` and `refuse_delete` raise before anything has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from openstack_emulator.core.cloud import Cloud, Records, new_id
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.guests.topology import Balancer
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.network.errors import disallowed, foreign_project, in_use
from openstack_emulator.network.kinds import Actor, Catalog, Deletion, Kind
from openstack_emulator.network.port_index import PortIndex

LINGER = 0.1
EVERYONE = "*"
UNLIMITED = -1
DEFAULT_QUOTA = {
    "network": 10_000,
    "subnet": 10_000,
    "port": 50_000,
    "router": 10_000,
    "floatingip": 1_000,
    "security_group": 10_000,
    "security_group_rule": 100_000,
    "subnetpool": UNLIMITED,
    "rbac_policy": 1_000,
    "trunk": UNLIMITED,
    "address_group": 1_000,
}
"""As an operator of a big cloud would set them: an emulator is no place to run out by accident."""


class TableRecords(Records):
    """Records whose rules stand in tables."""

    service = "neutron"
    state: State

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.deferrable(self.call)

    def call(self, plural: str, method: str, key: str) -> None:
        """Carry out what `Table.later` announced."""
        getattr(self.state.tables[plural], method)(key)


class State:
    """Collections by plural, the tables with their rules, and the derived indexes.

    followers: are called when records change, before or after the change.
    balancers: returns the load balancers that guests' networks have; the service that keeps them sets it.
    """

    def __init__(self, records: TableRecords, kinds: Catalog) -> None:
        self.records = records
        self.kinds = kinds
        self.rows: dict[str, Collection] = {
            plural: records.collection(plural, sorted(kind.indexed), kind.missing)
            for plural, kind in kinds.kinds.items()
        }
        self.quotas = records.collection("quotas")
        self.tables: dict[str, Table] = {}
        self.ports = PortIndex()
        self.usage: Counter[tuple[str, str]] = Counter()
        self.followers: list[Callable[[], None]] = []
        self.balancers: Callable[[], tuple[Balancer, ...]] = tuple

    def changed(self) -> None:
        """Let the followers know that records have changed."""
        for follow in self.followers:
            follow()

    def reindex(self) -> None:
        """Derive everything again from the collections."""
        self.ports = PortIndex()
        for port in self.rows["ports"]:
            self.ports.add(port)
        self.usage = Counter(
            (row["project_id"], kind.quota)
            for kind in self.kinds.kinds.values()
            if kind.quota is not None
            for row in self.rows[kind.plural]
        )

    def table(self, plural: str) -> Table:
        return self.tables[plural]

    def shared(self, object_id: str, project_id: str | None, action: str = "access_as_shared") -> bool:
        """Whether an RBAC policy opens the object to the project."""
        policies = self.rows["rbac_policies"].select(object_id=object_id)
        return any(p["action"] == action and p["target_tenant"] in (EVERYONE, project_id) for p in policies)

    def trunk_of_subport(self, port_id: str) -> Record | None:
        """The trunk that carries the port as one of its sub ports."""
        trunks = self.rows["trunks"]
        return next((t for t in trunks if any(s["port_id"] == port_id for s in t["sub_ports"])), None)

    def quota(self, project_id: str) -> dict[str, int]:
        """The limits of a project."""
        own = self.quotas.get(project_id)
        return DEFAULT_QUOTA if own is None else {**DEFAULT_QUOTA, **own["limits"]}

    def check_quota(self, project_id: str, resource: str, more: int = 1) -> None:
        """409 OverQuota when the project may not have so many more."""
        limit = self.quota(project_id)[resource]
        if project_id and limit != UNLIMITED and self.usage[project_id, resource] + more > limit:
            raise in_use("OverQuota", f"Quota exceeded for resources: ['{resource}'].")


class Table:
    """See the module."""

    def __init__(self, state: State, kind: Kind) -> None:
        self.state = state
        self.kind = kind
        self.rows = state.rows[kind.plural]
        state.tables[kind.plural] = self

    # What callers do

    def create(self, actor: Actor, body: Mapping[str, Any]) -> Record:
        """A new record from the body of a request. Raises: ApiError."""
        if self.kind.admin_write and not actor.admin:
            raise disallowed(f"create_{self.kind.name}")
        given = self.kind.for_create(body, actor)
        wanted = {"id": new_id(), **self.kind.defaults(), "project_id": self._project(actor, given), **given}
        wanted.pop("tenant_id", None)
        self._refuse_foreign_parent(actor, wanted)
        self._check_references(actor, wanted)
        if self.kind.quota is not None:
            self.state.check_quota(wanted["project_id"], self.kind.quota)
        self.prepare(actor, wanted, given)
        shared = wanted.pop("shared", False) if self.kind.shareable else False
        record = self.put(wanted)
        if shared:
            self._share(record)
        self._come_to_life(record)
        self.created(actor, record)
        return record

    def update(self, actor: Actor, record: Record, body: Mapping[str, Any]) -> Record:
        """Change a record by the body of a request. Raises: ApiError."""
        self.refuse_strangers(actor, record, "update")
        changes = self.kind.for_update(body, actor)
        self._check_references(actor, changes)
        self.revise(actor, record, changes)
        if self.kind.shareable and "shared" in changes:
            self._reshare(record, changes.pop("shared"))
        self.change(record, changes)
        self.revised(actor, record)
        return record

    def delete(self, actor: Actor, record: Record) -> None:
        """Delete a record. Raises: ApiError when something needs it."""
        self.refuse_strangers(actor, record, "delete")
        self.refuse_if_referred(record)
        self.refuse_delete(actor, record)
        if self.kind.lingers:
            self.change(record, {"status": "PENDING_DELETE"})
            self.later(LINGER, self.bury, record["id"])
        else:
            self.forget(record)

    def reach(self, actor: Actor, key: str) -> Record:
        """The record, if the actor may see it; the kind's 404 otherwise."""
        record = self.rows.require(key)
        if not self.visible(actor, record):
            raise self.kind.missing(key)
        return record

    def visible(self, actor: Actor, record: Record) -> bool:
        if actor.owns(record) or record.get("shared"):
            return True
        return self.kind.shareable and self.state.shared(record["id"], actor.project_id)

    def view(self, actor: Actor, record: Record) -> Record:
        """The record as the API shows it to the actor."""
        shown = {key: value for key, value in record.items() if key[0] != "_"}
        shown["tenant_id"] = record["project_id"]
        if self.kind.shareable:
            shown["shared"] = self.state.shared(record["id"], actor.project_id)
        if not actor.admin:
            for name in self.kind.hidden:
                shown.pop(name, None)
        return shown

    def announced(self, actor: Actor, record: Record) -> Record:
        """The record as the answer to its creation shows it."""
        return self.view(actor, record)

    # What kinds with rules of their own override

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        """Check a new record and complete it in place; `given` is what the request named, without defaults."""

    def created(self, actor: Actor, record: Record) -> None:
        """Do what follows from a new record."""

    def revise(self, actor: Actor, record: Record, changes: Record) -> None:
        """Check changes and complete them in place."""

    def revised(self, actor: Actor, record: Record) -> None:
        """Do what follows from a change."""

    def refuse_delete(self, actor: Actor, record: Record) -> None:
        """Raise when something needs the record, beyond plain references."""

    def forget(self, record: Record) -> None:
        """Remove a record with everything that goes with it."""
        for kind, name, attribute in self.state.kinds.referrers[self.kind.plural]:
            if attribute.on_delete is Deletion.CASCADE:
                table = self.state.table(kind.plural)
                for row in table.rows.select(**{name: record["id"]}):
                    table.forget(row)
        for policy in self.state.rows["rbac_policies"].select(object_id=record["id"]):
            self.state.table("rbac_policies").drop(policy)
        self.drop(record)

    def bury(self, key: str) -> None:
        """Forget a record that was shown as PENDING_DELETE."""
        if (record := self.rows.get(key)) is not None:
            self.forget(record)

    def later(self, seconds: float, method: Callable[[str], None], key: str) -> None:
        """Call one of this table's public methods with a record's id later; it outlives a restart."""
        records = self.state.records
        records.after(seconds, records.call, self.kind.plural, method.__name__, key)

    # The rows themselves

    def put(self, record: Record) -> Record:
        """Take a complete record in."""
        if "created_at" in self.kind.attributes:
            record["created_at"] = record["updated_at"] = self.state.records.timestamp()
            record["revision_number"] = 0
        if self.kind.quota is not None:
            self.state.usage[record["project_id"], self.kind.quota] += 1
        self.state.changed()
        return self.rows.add(record)

    def change(self, record: Record, changes: Mapping[str, Any]) -> None:
        """Set fields, with a new time and revision."""
        if "revision_number" in record:
            record["updated_at"] = self.state.records.timestamp()
            record["revision_number"] += 1
        self.rows.update(record, **changes)
        self.state.changed()

    def drop(self, record: Record) -> None:
        """Remove one record and nothing else."""
        if record["id"] in self.rows and self.kind.quota is not None:
            self.state.usage[record["project_id"], self.kind.quota] -= 1
        self.rows.remove(record)
        self.state.changed()

    def refuse_if_referred(self, record: Record) -> None:
        """409 while a record that may not lose this one refers to it."""
        key = record["id"]
        for kind, name, attribute in self.state.kinds.referrers[self.kind.plural]:
            rows = self.state.rows[kind.plural]
            if attribute.on_delete is not Deletion.REFUSE:
                continue
            if any(key in row[name] for row in rows) if attribute.many else rows.first(**{name: key}) is not None:
                raise self.used(record)

    def used(self, record: Record) -> ApiError:
        message = self.kind.in_use.format(label=self.kind.label, id=record["id"])
        return in_use(f"{self.kind.error}InUse", message)

    def refuse_strangers(self, actor: Actor, record: Record, action: str) -> None:
        """403 for those who may see a record but not touch it."""
        if not actor.owns(record) or (self.kind.admin_write and not actor.admin):
            raise disallowed(f"{action}_{self.kind.name}")

    # How they share, refer and come to life

    def _project(self, actor: Actor, given: Record) -> str:
        wanted = given.get("project_id") or given.get("tenant_id")
        if wanted and wanted != actor.project_id and not actor.admin:
            raise foreign_project()
        return str(wanted or actor.project_id or "")

    def _refuse_foreign_parent(self, actor: Actor, wanted: Record) -> None:
        """403 for a part of another project's object, although the object itself cannot be seen."""
        if not self.kind.owner:
            return
        parents = self.state.table(str(self.kind.attributes[self.kind.owner].refers))
        parent = parents.rows.get(wanted[self.kind.owner])
        if parent is not None and not actor.owns(parent):
            raise disallowed(f"create_{self.kind.name}")

    def _check_references(self, actor: Actor, values: Record) -> None:
        for name, attribute in self.kind.references.items():
            keys = (values.get(name) or ()) if attribute.many else (values.get(name),)
            for key in filter(None, keys):
                self.state.table(str(attribute.refers)).reach(actor, key)

    def _come_to_life(self, record: Record) -> None:
        if not self.kind.states:
            return
        first, *later = self.kind.states
        doomed = "_fault" in record and not later
        self.rows.update(record, status="ERROR" if doomed else first)
        if later:
            self.state.records.become(LINGER, self.rows, record, {"status": later[0]}, {"status": "ERROR"})

    def _share(self, record: Record, action: str = "access_as_shared") -> None:
        self.state.table("rbac_policies").put(
            {
                "id": new_id(),
                "object_type": "qos_policy" if self.kind.name == "policy" else self.kind.name,
                "object_id": record["id"],
                "action": action,
                "target_tenant": EVERYONE,
                "project_id": record["project_id"],
            }
        )

    def _reshare(self, record: Record, shared: bool) -> None:
        policies = self._open_policies(record, "access_as_shared")
        if shared and not policies:
            self._share(record)
        elif not shared:
            self._close(policies)

    def _open_policies(self, record: Record, action: str) -> list[Record]:
        rows = self.state.rows["rbac_policies"]
        return rows.select(object_id=record["id"], action=action, target_tenant=EVERYONE)

    def _close(self, policies: Iterable[Record]) -> None:
        for policy in policies:
            self.state.table("rbac_policies").drop(policy)
