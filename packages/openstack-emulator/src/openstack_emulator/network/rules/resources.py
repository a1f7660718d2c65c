"""The state of the service, and the rules that all kinds of records share.

These are who may do what, references, quotas, sharing, revisions.

A kind with rules of its own is a subclass that overrides `prepare` (before a create), `created` (after it),
`revise` (before a change), `revised` (after it), `refuse_delete` and `forget` (the deletion itself).
`prepare`, `revise` and `refuse_delete` raise before anything has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic

from openstack_emulator.core.cloud import Cloud, Records, new_id
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.guests.topology import Balancer
from openstack_emulator.network.records.core import OwnedRecord, Quota, RbacPolicy, RevisedRecord, Trunk
from openstack_emulator.network.rules.errors import disallowed, foreign_project, in_use
from openstack_emulator.network.rules.kinds.kind import Actor, Catalog, Deletion, ResourceKind, T, Values
from openstack_emulator.network.rules.port_index import PortIndex
from openstack_emulator.network.rules.tables import Tables

LINGER = 0.1
EVERYONE = "*"
SHARED = "access_as_shared"
"""What a policy lets a project do: use an object. For networks, there is also `access_as_external`."""
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


class ResourceRecords(Records):
    """Records whose rules are `Resources`."""

    service = "neutron"
    state: State

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.deferrable(self.call)

    def call(self, plural: str, method: str, key: str) -> None:
        """Carry out what `Resources.later` announced."""
        getattr(self.state.of(plural), method)(key)


class State:
    """Tables, the rules for each, and what is derived from them.

    sharing: who may use the objects of other projects.
    resources: the rules by the plural of the kind.
    followers: are called when records change, before or after the change.
    balancers: returns the load balancers that guests' networks have; the service that keeps them sets it.
    """

    def __init__(self, records: ResourceRecords, kinds: Catalog) -> None:
        self.records = records
        self.kinds = kinds
        self.rows = Tables(records, kinds)
        self.sharing = RbacSharing(self)
        self.quotas = records.table("quotas", Quota)
        self.resources: dict[str, Resources[Any]] = {}
        self.ports = PortIndex()
        self.usage: Counter[tuple[str, str]] = Counter()
        self.followers: list[Callable[[], None]] = []
        self.balancers: Callable[[], tuple[Balancer, ...]] = tuple

    def changed(self) -> None:
        """Let the followers know that records have changed."""
        for follow in self.followers:
            follow()

    def reindex(self) -> None:
        """Derive everything again from the tables."""
        self.ports = PortIndex()
        for port in self.rows.ports:
            self.ports.add(port)
        self.usage = Counter(
            (row.project_id, kind.quota)
            for kind in self.kinds.kinds.values()
            if kind.quota is not None
            for row in self.rows.of(kind.record)
        )

    def of(self, plural: str) -> Resources[Any]:
        """The rules for a kind."""
        return self.resources[plural]

    def kind_of(self, record: OwnedRecord) -> ResourceKind[Any]:
        """The kind of a record."""
        return self.kinds.by_record[type(record)]

    def trunk_of_subport(self, port_id: str) -> Trunk | None:
        """The trunk that carries the port as one of its sub ports."""
        trunks = self.rows.trunks
        return next((t for t in trunks if any(s.port_id == port_id for s in t.sub_ports)), None)

    def quota(self, project_id: str) -> dict[str, int]:
        """The limits of a project."""
        own = self.quotas.get(project_id)
        return DEFAULT_QUOTA if own is None else {**DEFAULT_QUOTA, **own.limits}

    def check_quota(self, project_id: str, resource: str, more: int = 1) -> None:
        """409 OverQuota when the project may not have so many more."""
        limit = self.quota(project_id)[resource]
        if project_id and limit != UNLIMITED and self.usage[project_id, resource] + more > limit:
            raise in_use("OverQuota", f"Quota exceeded for resources: ['{resource}'].")


class RbacSharing:
    """The RBAC policies, which open objects to other projects; those here open them to all projects."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._policies = state.rows.rbac_policies

    def reaches(self, object_id: str, project_id: str | None, action: str = SHARED) -> bool:
        """Whether a policy opens the object to the project."""
        policies = self._policies.select(object_id=object_id)
        return any(p.action == action and p.target_tenant in (EVERYONE, project_id) for p in policies)

    def open(self, record: OwnedRecord, action: str = SHARED) -> None:
        """Open an object to all projects."""
        name = self._state.kind_of(record).name
        self._state.of("rbac_policies").put(
            RbacPolicy(
                id=new_id(),
                object_type="qos_policy" if name == "policy" else name,
                object_id=record.id,
                action=action,
                target_tenant=EVERYONE,
                project_id=record.project_id,
            )
        )

    def close(self, record: OwnedRecord, action: str = SHARED) -> None:
        """Open an object no longer to all projects."""
        self._drop(self._open_policies(record, action))

    def set(self, record: OwnedRecord, shared: bool) -> None:
        """Open an object to all projects, if it is not yet, or no longer."""
        if not shared:
            self.close(record)
        elif not self._open_policies(record, SHARED):
            self.open(record)

    def forget(self, object_id: str) -> None:
        """Drop all policies for an object."""
        self._drop(self._policies.select(object_id=object_id))

    def _open_policies(self, record: OwnedRecord, action: str) -> list[RbacPolicy]:
        return self._policies.select(object_id=record.id, action=action, target_tenant=EVERYONE)

    def _drop(self, policies: Iterable[RbacPolicy]) -> None:
        for policy in policies:
            self._state.of("rbac_policies").drop(policy)


class Resources(Generic[T]):
    """The records of one kind. See the module."""

    def __init__(self, state: State, kind: ResourceKind[T]) -> None:
        self.state = state
        self.kind = kind
        self.rows = state.rows.of(kind.record)
        state.resources[kind.plural] = self

    # What callers do

    def create(self, actor: Actor, body: Mapping[str, object]) -> T:
        """A new record from the body of a request. Raises: ApiError."""
        if self.kind.admin_write and not actor.admin:
            raise disallowed(f"create_{self.kind.name}")
        values = self.kind.for_create(body, actor)
        draft = self.kind.draft(new_id(), self._project(actor, values), values)
        self._refuse_foreign_parent(actor, values)
        self._check_references(actor, values)
        if self.kind.quota is not None:
            self.state.check_quota(draft.project_id, self.kind.quota)
        self.prepare_create(actor, draft, values)
        record = self.put(draft)
        if self.kind.shareable and values.get("shared"):
            self.state.sharing.open(record)
        self._become_active(record)
        self.after_create(actor, record)
        return record

    def update(self, actor: Actor, record: T, body: Mapping[str, object]) -> T:
        """Change a record by the body of a request. Raises: ApiError."""
        self.refuse_unauthorized(actor, record, "update")
        values = self.kind.for_update(body, actor)
        self._check_references(actor, values)
        after = self.kind.changed(record, values)
        self.prepare_update(actor, record, after, values)
        if self.kind.shareable and "shared" in values:
            self.state.sharing.set(record, values["shared"])
        self.change(record, **self.kind.differences(record, after))
        self.after_update(actor, record)
        return record

    def delete(self, actor: Actor, record: T) -> None:
        """Delete a record. Raises: ApiError when something needs it."""
        self.refuse_unauthorized(actor, record, "delete")
        self.refuse_if_referred(record)
        self.refuse_delete(actor, record)
        if self.kind.lingers:
            self.change(record, status="PENDING_DELETE")
            self.later(LINGER, self.purge_deleted, record.id)
        else:
            self.forget(record)

    def reach(self, actor: Actor, key: str) -> T:
        """The record, if the actor may see it; the kind's 404 otherwise."""
        record = self.rows.require(key)
        if not self.visible(actor, record):
            raise self.kind.missing(key)
        return record

    def visible(self, actor: Actor, record: T) -> bool:
        if actor.owns(record) or record.get("shared"):
            return True
        return self.kind.shareable and self.state.sharing.reaches(record.id, actor.project_id)

    # What kinds with rules of their own override

    def prepare_create(self, actor: Actor, draft: T, values: Values) -> None:
        """Check a new record and complete it in place; `values` are what the request named, without defaults."""

    def after_create(self, actor: Actor, record: T) -> None:
        """Do what follows from a new record."""

    def prepare_update(self, actor: Actor, record: T, after: T, values: Values) -> None:
        """Check a record as it is to be after a change, and complete it in place; `values`: what the request named."""

    def after_update(self, actor: Actor, record: T) -> None:
        """Do what follows from a change."""

    def refuse_delete(self, actor: Actor, record: T) -> None:
        """Raise when something needs the record, beyond plain references."""

    def forget(self, record: T) -> None:
        """Remove a record with everything that goes with it."""
        for kind, name, attribute in self.state.kinds.referrers[self.kind.plural]:
            if attribute.on_delete is Deletion.CASCADE:
                others = self.state.of(kind.plural)
                for row in others.rows.select(**{name: record.id}):
                    others.forget(row)
        self.state.sharing.forget(record.id)
        self.drop(record)

    def purge_deleted(self, key: str) -> None:
        """Forget a record that was shown as PENDING_DELETE."""
        if (record := self.rows.get(key)) is not None:
            self.forget(record)

    def later(self, seconds: float, method: Callable[[str], None], key: str) -> None:
        """Call one of this table's public methods with a record's id later; it outlives a restart."""
        records = self.state.records
        records.after(seconds, records.call, self.kind.plural, method.__name__, key)

    # The rows themselves

    def put(self, record: T) -> T:
        """Take a complete record in."""
        if isinstance(record, RevisedRecord):
            record.created_at = record.updated_at = self.state.records.timestamp()
        if self.kind.quota is not None:
            self.state.usage[record.project_id, self.kind.quota] += 1
        self.state.changed()
        return self.rows.add(record)

    def change(self, record: T, **changes: object) -> None:
        """Set fields, with a new time and revision."""
        if isinstance(record, RevisedRecord):
            record.updated_at = self.state.records.timestamp()
            record.revision_number += 1
        self.rows.update(record, **changes)
        self.state.changed()

    def drop(self, record: T) -> None:
        """Remove one record and nothing else."""
        if record.id in self.rows and self.kind.quota is not None:
            self.state.usage[record.project_id, self.kind.quota] -= 1
        self.rows.remove(record)
        self.state.changed()

    def refuse_if_referred(self, record: T) -> None:
        """409 while a record that may not lose this one refers to it."""
        key = record.id
        for kind, name, attribute in self.state.kinds.referrers[self.kind.plural]:
            rows = self.state.rows.of(kind.record)
            if attribute.on_delete is not Deletion.REFUSE:
                continue
            if any(key in row.get(name) for row in rows) if attribute.many else rows.first(**{name: key}) is not None:
                raise self.used(record)

    def used(self, record: T) -> ApiError:
        message = self.kind.in_use.format(label=self.kind.label, id=record.id)
        return in_use(f"{self.kind.error}InUse", message)

    def refuse_unauthorized(self, actor: Actor, record: T, action: str) -> None:
        """403 for those who may see a record but not touch it."""
        if not actor.owns(record) or (self.kind.admin_write and not actor.admin):
            raise disallowed(f"{action}_{self.kind.name}")

    # How they refer and come to life

    def _project(self, actor: Actor, values: Values) -> str:
        requested: str | None = values.get("project_id", values.get("tenant_id"))
        if requested and requested != actor.project_id and not actor.admin:
            raise foreign_project()
        return requested if requested is not None else actor.project_id or ""

    def _refuse_foreign_parent(self, actor: Actor, values: Values) -> None:
        """403 for a part of another project's object, although the object itself cannot be seen."""
        if not self.kind.owner:
            return
        parents = self.state.of(str(self.kind.attributes[self.kind.owner].refers))
        parent = parents.rows.get(values[self.kind.owner])
        if parent is not None and not actor.owns(parent):
            raise disallowed(f"create_{self.kind.name}")

    def _check_references(self, actor: Actor, values: Values) -> None:
        for name, attribute in self.kind.references.items():
            keys = (values.get(name) or ()) if attribute.many else (values.get(name),)
            for key in filter(None, keys):
                self.state.of(str(attribute.refers)).reach(actor, key)

    def _become_active(self, record: T) -> None:
        if not self.kind.states:
            return
        first, *later = self.kind.states
        has_fault = record.fault is not None and not later
        self.rows.update(record, status="ERROR" if has_fault else first)
        if later:
            self.state.records.change_later(LINGER, self.rows, record, {"status": later[0]}, {"status": "ERROR"})
