"""What the load-balancer service keeps, and the states that its objects pass through.

A load balancer and everything that belongs to it form a tree. While anything of it is pending, the whole tree is
immutable: every other change is refused with 409.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from openstack_emulator.core.cloud import Cloud, Records, new_id
from openstack_emulator.core.error_bodies import DENIED
from openstack_emulator.core.errors import ApiError, conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.limits import Limits
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.loadbalancer.checks import failure
from openstack_emulator.loadbalancer.kinds import (
    HEALTH_MONITOR,
    KINDS,
    L7_POLICY,
    L7_RULE,
    LISTENER,
    LOAD_BALANCER,
    MEMBER,
    POOL,
    QUOTA_NAMES,
    Kind,
)
from openstack_emulator.loadbalancer.traffic import balancers
from openstack_emulator.loadbalancer.vip import VirtualAddresses
from openstack_emulator.network.records import NetworkRecords

SECONDS_TO_BUILD = 5.0
SECONDS_TO_CHANGE = 1.0
OUTSIDE = "Bad Request"
"""The kind of errors that Octavia's web framework renders in a form of its own: those outside of handlers."""
TIMESTAMP = "%Y-%m-%dT%H:%M:%S"
CONTAINS: Mapping[Kind, tuple[Kind, ...]] = {
    LISTENER: (L7_POLICY,),
    POOL: (MEMBER, HEALTH_MONITOR),
    L7_POLICY: (L7_RULE,),
}
"""What is deleted together with an object."""

Found = tuple[Kind, Record]


class Quotas(Limits):
    """How many objects of each kind a project may have: any number, unless an administrator sets a limit."""

    def initial(self) -> Mapping[str, int]:
        return dict.fromkeys(sorted(QUOTA_NAMES.values()), -1)


class LoadBalancerRecords(Records):
    """A collection for each kind; every record has the ID of its load balancer in `load_balancer_id`."""

    service = "octavia"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.rows: dict[Kind, Collection] = {
            kind: self.collection(kind.path, ("load_balancer_id", kind.parent or "project_id"), _missing(kind.title))
            for kind in KINDS
        }
        self.flavors = self.collection("flavors", missing=_missing("Flavor"))
        self.flavor_profiles = self.collection("flavorprofiles", missing=_missing("Flavor profile"))
        self.zones = self.collection("availabilityzones", missing=_missing("Availability Zone"))
        self.zone_profiles = self.collection("availabilityzoneprofiles", missing=_missing("Availability Zone Profile"))
        self.quotas = Quotas(self)
        self.addresses = VirtualAddresses(cloud)
        self.deferrable(self.finish)

    def opened(self) -> None:
        """Have guests' networks contain the load balancers."""
        super().opened()
        if self.cloud.guests.balancing:
            network = self.cloud.of(NetworkRecords)
            network.state.balancers = lambda: balancers(self.rows, network)
            network.state.changed()

    # -- looking up ---------------------------------------------------------------------------------------------

    def reach(self, caller: Context, kind: Kind, key: str, parent: str | None = None) -> Record:
        """An object that the caller may see.

        parent: the ID of the object that must contain it, if the path names one.

        Raises: ApiError 404 for an unknown one, 403 for one of another project.
        """
        record = self.rows[kind].require(key)
        if parent is not None and record[kind.parent] != parent:
            raise self.rows[kind].missing(key)
        if not caller.may_see(record):
            raise forbidden(DENIED)
        return record

    def outer(self, caller: Context, kind: Kind, key: str) -> Record:
        """The object that a path names before another one. Raises: see `reach`."""
        if self.rows[kind].get(key) is None:
            raise ApiError(404, self.rows[kind].missing(key).message, OUTSIDE)
        return self.reach(caller, kind, key)

    def part(self, caller: Context, kind: Kind, key: str) -> Record:
        """An object that the body of a request refers to. Raises: see `reach`."""
        return self.reach(caller, kind, key)

    def balancer(self, record: Record) -> Record:
        """The load balancer that an object belongs to."""
        return self.rows[LOAD_BALANCER].require(record["load_balancer_id"])

    def within(self, kind: Kind, record: Record) -> Iterator[Found]:
        """An object and everything that is deleted together with it."""
        yield kind, record
        for inner in CONTAINS.get(kind, ()):
            for row in self.rows[inner].select(**{inner.parent: record["id"]}):
                yield from self.within(inner, row)

    def around(self, kind: Kind, record: Record) -> Iterator[Found]:
        """The objects that are pending together with an object: those which contain or use it."""
        if kind in (MEMBER, HEALTH_MONITOR):
            yield from self._with_around(POOL, self.rows[POOL].require(record["pool_id"]))
        elif kind is L7_RULE:
            yield from self._with_around(L7_POLICY, self.rows[L7_POLICY].require(record["l7policy_id"]))
        elif kind is L7_POLICY:
            yield from self._with_around(LISTENER, self.rows[LISTENER].require(record["listener_id"]))
        elif kind is POOL:
            for listener in self.listeners_of(record):
                yield LISTENER, listener
        if kind is not LOAD_BALANCER:
            yield LOAD_BALANCER, self.balancer(record)

    def _with_around(self, kind: Kind, record: Record) -> Iterator[Found]:
        yield kind, record
        yield from self.around(kind, record)

    def listeners_of(self, pool: Record) -> list[Record]:
        """The listeners whose default pool this is."""
        found = self.rows[LISTENER].select(load_balancer_id=pool["load_balancer_id"])
        return [row for row in found if row["default_pool_id"] == pool["id"]]

    # -- states -------------------------------------------------------------------------------------------------

    def require_mutable(self, balancer: Record, *also: str) -> None:
        """409 unless the load balancer is ACTIVE, or in one of the further states."""
        if balancer["provisioning_status"] not in ("ACTIVE", *also):
            raise conflict(f"{LOAD_BALANCER.title} {balancer['id']} is immutable and cannot be updated.")

    def begin(self, balancer: Record, pending: Mapping[str, Iterable[Found]], seconds: float) -> None:
        """Put objects of a load balancer into pending states, and what they belong to into PENDING_UPDATE.

        pending: the objects by the state that they get.
        """
        targets = [(status, kind, record) for status, found in pending.items() for kind, record in found]
        marked = {record["id"] for _, _, record in targets}
        for _, kind, record in targets:
            for outer_kind, outer in self.around(kind, record):
                if outer["id"] not in marked:
                    self.rows[outer_kind].update(outer, provisioning_status="PENDING_UPDATE")
        for status, kind, record in targets:
            self.rows[kind].update(record, provisioning_status=status)
        self.after(seconds, self.finish, balancer["id"], sorted(marked))
        self._follow()

    def _follow(self) -> None:
        """Have guests' networks follow changes of load balancers."""
        if self.cloud.guests.balancing:
            self.cloud.of(NetworkRecords).state.changed()

    def finish(self, balancer_id: str, targets: list[str]) -> None:
        """End everything that is pending in a load balancer; what a fault rule dooms among `targets` is in ERROR."""
        for kind in KINDS:
            rows = self.rows[kind]
            for record in rows.select(load_balancer_id=balancer_id):
                doomed = record.pop("_fault", None) is not None and record["id"] in targets
                if not record["provisioning_status"].startswith("PENDING_"):
                    continue
                if record["provisioning_status"] == "PENDING_DELETE" and not doomed:
                    self._remove(kind, record)
                else:
                    status = "ERROR" if doomed else "ACTIVE"
                    rows.update(record, provisioning_status=status, updated_at=self.timestamp(TIMESTAMP))
        self._follow()

    def _remove(self, kind: Kind, record: Record) -> None:
        self.rows[kind].remove(record)
        if kind is LOAD_BALANCER:
            self.addresses.release(record)
        elif kind is POOL:
            for listener in self.listeners_of(record):
                self.rows[LISTENER].update(listener, default_pool_id=None)
        elif kind is L7_POLICY:
            self.arrange(record["listener_id"])

    # -- changing -----------------------------------------------------------------------------------------------

    def new(self, kind: Kind, values: Record, project_id: str, balancer_id: str | None, **more: object) -> Record:
        """A record of a new object, which is not in its collection yet."""
        identifier = new_id()
        return {
            **values,
            "id": identifier,
            "project_id": project_id,
            "load_balancer_id": balancer_id or identifier,
            "created_at": self.timestamp(TIMESTAMP),
            "updated_at": None,
            "provisioning_status": "PENDING_CREATE",
            **more,
        }

    def check_quota(self, project_id: str, wanted: Mapping[Kind, int]) -> None:
        """403 when a project would have more objects of a kind than it may."""
        more = {QUOTA_NAMES[kind.path]: number for kind, number in wanted.items()}
        used = {QUOTA_NAMES[kind.path]: len(self.rows[kind].select(project_id=project_id)) for kind in wanted}
        for name in self.quotas.exceeded(project_id, more, used):
            raise forbidden(f"Quota has been met for resources: {name}")

    def arrange(self, listener_id: str, placed: Record | None = None) -> None:
        """Number the policies of a listener from 1; `placed` gets the place that its position asks for."""
        rows = self.rows[L7_POLICY]
        others = [row for row in rows.select(listener_id=listener_id) if row is not placed]
        others.sort(key=lambda row: int(row["position"]))
        if placed is not None:
            others.insert(int(placed["position"]) - 1, placed)
        for position, row in enumerate(others, start=1):
            if row["position"] != position:
                rows.update(row, position=position)

    def fail_over(self, balancer: Record) -> None:
        """Replace what a load balancer runs on. Raises ApiError 409."""
        self.require_mutable(balancer, "ERROR")
        self.rows[LOAD_BALANCER].update(balancer, _failovers=balancer.get("_failovers", 0) + 1)
        self.begin(balancer, {"PENDING_UPDATE": [(LOAD_BALANCER, balancer)]}, SECONDS_TO_CHANGE)

    def delete(self, kind: Kind, record: Record, cascade: bool = False) -> None:
        """Begin the deletion of an object with everything in it.

        cascade: of a load balancer with everything that belongs to it, which is refused (400) otherwise.
        """
        balancer = self.balancer(record)
        if kind is not LOAD_BALANCER:
            self.require_mutable(balancer)
            self._check_unused(kind, record)
            self.begin(balancer, {"PENDING_DELETE": self.within(kind, record)}, SECONDS_TO_CHANGE)
            return
        targets = [(one, row) for one in KINDS for row in self.rows[one].select(load_balancer_id=balancer["id"])]
        if len(targets) > 1 and not cascade:
            raise failure(f"Cannot delete Load Balancer {balancer['id']} - it has children")
        self.require_mutable(balancer, "ERROR")
        self.begin(balancer, {"PENDING_DELETE": targets}, SECONDS_TO_CHANGE)

    def _check_unused(self, kind: Kind, record: Record) -> None:
        if kind is not POOL:
            return
        policies = self.rows[L7_POLICY].select(load_balancer_id=record["load_balancer_id"])
        using = next((row for row in policies if row["redirect_pool_id"] == record["id"]), None)
        if using is not None:
            raise conflict(f"Pool {record['id']} is in use by L7 policy {using['id']}.")


def _missing(title: str) -> Callable[[str], ApiError]:
    def missing(key: str) -> ApiError:
        return not_found(f"{title} {key} not found.")

    return missing
