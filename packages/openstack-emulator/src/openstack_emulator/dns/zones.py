"""Zones: what they may be called, who reaches them, their serial numbers and statuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.store import Record
from openstack_emulator.dns.http import Caller, duplicate, missing
from openstack_emulator.dns.names import ancestors, folded, is_below
from openstack_emulator.dns.pools import DEFAULT_POOL
from openstack_emulator.dns.progress import Progress
from openstack_emulator.dns.quotas import Quotas
from openstack_emulator.dns.rules import NameRules

DEFAULT_TTL = 3600
PRIMARY, SECONDARY = "PRIMARY", "SECONDARY"
MANAGED_PROJECT = "00000000-0000-0000-0000-000000000000"
"""The project that owns reverse zones of floating IPs."""
LARGEST_SERIAL = 2**32


class Zones(Component):
    """Zones: `{id, project_id, name, type, email, ttl, serial, masters, status, action, …}`.

    `_name` is the name for comparisons. `_serving` says that the name servers have the zone. `publish` functions are
    called when they get a zone or a change of one, `removed` functions when a zone is gone, and `abandoned` functions
    when it is gone from here alone. `left` has the zones that only the name servers have.
    """

    def __init__(self, records: Records, quotas: Quotas, rules: NameRules, progress: Progress) -> None:
        super().__init__(records)
        self.rows = records.collection("zones", ("project_id", "_name"), missing("Zone"))
        self.shares = records.collection("shares", ("zone_id", "target_project_id"), missing("Shared Zone"))
        self.left = records.collection("abandoned_zones", ("_name",))
        self._quotas, self._rules, self._progress = quotas, rules, progress
        self.created: list[Callable[[Record], None]] = []
        self.changed: list[Callable[[Record], None]] = []
        self.published: list[Callable[[Record], None]] = []
        self.abandoned: list[Callable[[Record], None]] = []
        self.removed: list[Callable[[Record], None]] = []
        progress.track(self.rows, self._publish, self._forget)

    # -- who reaches a zone ------------------------------------------------------------------------

    def visible(self, caller: Caller, key: str) -> Record:
        """Return a zone of the caller, or one that is shared with the caller. Raises ApiError 404."""
        zone = self.rows.require(key)
        if not caller.may_see(zone) and not self.is_shared(zone, caller.project_id):
            raise self.rows.missing(key)
        return zone

    def owned(self, caller: Caller, key: str) -> Record:
        """Return a zone that the caller may change. Raises ApiError 404, or 403 for one that is only shared."""
        zone = self.visible(caller, key)
        if not caller.may_see(zone):
            raise forbidden("")
        return zone

    def changeable(self, caller: Caller, key: str) -> Record:
        """Return an owned zone that is not being deleted. Raises ApiError 400 otherwise."""
        zone = self.owned(caller, key)
        require_present(zone)
        return zone

    def listed(self, caller: Caller) -> list[Record]:
        """Return the zones that the caller reaches."""
        if caller.all_projects:
            return list(self.rows)
        shared = [
            self.rows.require(share["zone_id"]) for share in self.shares.select(target_project_id=caller.project_id)
        ]
        return self.rows.select(project_id=caller.project_id) + shared

    def is_shared(self, zone: Record, project_id: str) -> bool:
        return any(share["target_project_id"] == project_id for share in self.shares.select(zone_id=zone["id"]))

    # -- changes -----------------------------------------------------------------------------------

    def create(self, caller: Caller, wanted: Record) -> Record:
        """Create a zone from checked fields, with the record sets that every zone has. Raises ApiError."""
        self._quotas.admit(caller.project_id, "zones", len(self.rows.select(project_id=caller.project_id)) + 1)
        self._rules.check(wanted["name"], caller.is_admin)
        self._check_place(caller.project_id, wanted["name"])
        return self.put(caller.project_id, wanted)

    def put(self, project_id: str, wanted: Record) -> Record:
        """Create a zone in a project, without checks of its name."""
        zone = {
            "id": new_id(),
            "pool_id": wanted.get("pool_id") or DEFAULT_POOL,
            "project_id": project_id,
            "name": wanted["name"],
            "email": wanted.get("email") or "",
            "description": wanted.get("description"),
            "masters": wanted.get("masters") or [],
            "ttl": DEFAULT_TTL if wanted.get("ttl") is None else wanted["ttl"],
            "serial": int(self.cloud.clock.now()) if wanted["type"] == PRIMARY else 1,
            "status": "PENDING",
            "action": "CREATE",
            "version": 1,
            "attributes": wanted.get("attributes") or {},
            "type": wanted["type"],
            "created_at": self.moment(),
            "updated_at": None,
            "transferred_at": None,
            "_name": folded(wanted["name"]),
            "_serving": False,
        }
        for former in self.left.select(_name=zone["_name"]):
            self.left.remove(former)
            _call(self.removed, former)
        self.rows.add(zone)
        _call(self.created, zone)
        self._progress.begin(self.rows, zone, "CREATE")
        return zone

    def update(self, zone: Record, changes: Record) -> None:
        """Change fields of a zone."""
        self.rows.update(zone, **changes)
        self.touch(zone, "UPDATE")

    def touch(self, zone: Record, action: str | None = None) -> None:
        """Note that the content of a zone has changed: it gets another serial number, and is pending.

        Without an `action`, a change of a zone that is being created or deleted is part of that.
        """
        serial = zone["serial"]
        if zone["type"] == PRIMARY:
            serial = max(serial + 1, int(self.cloud.clock.now())) % LARGEST_SERIAL
        self._revise(zone, serial=serial)
        _call(self.changed, zone)
        under_way = zone["action"] if zone["action"] in ("CREATE", "DELETE") else "UPDATE"
        self._progress.begin(self.rows, zone, action or under_way)

    def delete(self, zone: Record, with_shares: bool = False) -> None:
        """Begin the deletion of a zone. Raises ApiError 400 while it has zones below it, or is shared."""
        if any(row["_name"].endswith("." + zone["_name"]) for row in self.rows if row["type"] == PRIMARY):
            raise ApiError(400, "Please delete any subzones before deleting this zone", "zone_has_sub_zone")
        shares = self.shares.select(zone_id=zone["id"])
        if shares and not with_shares:
            raise ApiError(400, "This zone is shared with other projects, please remove these shares", "zone_shared")
        self._unshare(zone)
        self._revise(zone)
        self._progress.begin(self.rows, zone, "DELETE")

    def abandon(self, zone: Record) -> None:
        """Forget a zone at once, which the name servers keep until there is another one with its name."""
        self.rows.remove(zone)
        self._unshare(zone)
        self.left.add(zone)
        _call(self.abandoned, zone)

    # -- names -------------------------------------------------------------------------------------

    def enclosing(self, name: str) -> Record | None:
        """Return the zone that a name is in: the one with the longest name."""
        for candidate in (name, *ancestors(name)):
            if (zone := self.rows.first(_name=folded(candidate))) is not None:
                return zone
        return None

    def serving(self, name: str) -> Record | None:
        """Return the zone with a name that the name servers have, which may be an abandoned one."""
        found = self.rows.first(_name=name) or self.left.first(_name=name)
        return found if found is not None and found["_serving"] else None

    def _check_place(self, project_id: str, name: str) -> None:
        """Refuse a zone that exists, and one above or below a zone of another project."""
        if self.rows.first(_name=folded(name)) is not None:
            raise duplicate("Zone")
        above = self.enclosing(name)
        if above is not None and above["project_id"] != project_id:
            raise ApiError(403, "Unable to create subzone in another tenants zone", "illegal_child")
        if any(is_below(row["name"], name) and row["project_id"] != project_id for row in self.rows):
            raise ApiError(
                403, "Unable to create zone because another tenant owns a subzone of the zone", "illegal_parent"
            )

    def _publish(self, zone: Record) -> None:
        self._revise(zone, _serving=zone["type"] == PRIMARY or zone["_serving"])
        _call(self.published, zone)

    def _revise(self, zone: Record, **changes: Any) -> None:
        """Change a zone, which then has another version; so it has when the name servers got it."""
        self.rows.update(zone, version=zone["version"] + 1, updated_at=self.moment(), **changes)

    def _forget(self, zone: Record) -> None:
        self._unshare(zone)
        _call(self.removed, zone)

    def _unshare(self, zone: Record) -> None:
        for share in self.shares.select(zone_id=zone["id"]):
            self.shares.remove(share)


def require_present(zone: Record) -> None:
    """Raise ApiError 400 for a zone that is being deleted."""
    if zone["action"] == "DELETE":
        raise ApiError(400, "Can not update a deleting zone", "bad_request")


def _call(functions: Iterable[Callable[[Record], Any]], zone: Record) -> None:
    for function in functions:
        function(zone)
