"""Zones: what they may be called, who reaches them, their serial numbers and statuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.rules import Rules
from openstack_emulator.dns.records import PRIMARY, Zone, ZoneShare
from openstack_emulator.dns.rules.allowed_names import AllowedNames
from openstack_emulator.dns.rules.callers import Caller
from openstack_emulator.dns.rules.errors import duplicate, missing
from openstack_emulator.dns.rules.inputs import NewZone
from openstack_emulator.dns.rules.names import ancestors, folded, is_below
from openstack_emulator.dns.rules.progress import Progress
from openstack_emulator.dns.rules.quotas import Quotas

MANAGED_PROJECT = "00000000-0000-0000-0000-000000000000"
"""The project that owns reverse zones of floating IPs."""
LARGEST_SERIAL = 2**32
ZoneChanged = Callable[[Zone], None]


class Zones(Rules):
    """Zones from their creation to their deletion, and with whom they are shared.

    `published` functions are called when the name servers get a zone or a change of one, `removed` functions when a
    zone is gone, and `abandoned` functions when it is gone from here alone. `left` has the zones that only the name
    servers have.
    """

    def __init__(self, records: Records, quotas: Quotas, names: AllowedNames, progress: Progress) -> None:
        super().__init__(records)
        self.rows = records.table("zones", Zone, "project_id", "folded_name", missing=missing("Zone"))
        self.shares = records.table("shares", ZoneShare, "zone_id", "target_project_id", missing=missing("Shared Zone"))
        self.left = records.table("abandoned_zones", Zone, "folded_name")
        self._quotas, self._names, self._progress = quotas, names, progress
        self.created: list[ZoneChanged] = []
        self.changed: list[ZoneChanged] = []
        self.published: list[ZoneChanged] = []
        self.abandoned: list[ZoneChanged] = []
        self.removed: list[ZoneChanged] = []
        progress.track(self.rows, self._publish, self._forget)

    # -- who reaches a zone ------------------------------------------------------------------------

    def visible(self, caller: Caller, key: str) -> Zone:
        """Return a zone of the caller, or one that is shared with the caller. Raises ApiError 404."""
        zone = self.rows.require(key)
        if not caller.may_see(zone) and not self._is_shared(zone, caller.project_id):
            raise self.rows.missing(key)
        return zone

    def owned(self, caller: Caller, key: str) -> Zone:
        """Return a zone that the caller may change. Raises ApiError 404, or 403 for one that is only shared."""
        zone = self.visible(caller, key)
        if not caller.may_see(zone):
            raise forbidden("")
        return zone

    def changeable(self, caller: Caller, key: str) -> Zone:
        """Return an owned zone that is not being deleted. Raises ApiError 400 otherwise."""
        zone = self.owned(caller, key)
        if zone.action == "DELETE":
            raise ApiError(400, "Can not update a deleting zone", "bad_request")
        return zone

    def listed(self, caller: Caller) -> list[Zone]:
        """Return the zones that the caller reaches."""
        if caller.all_projects:
            return list(self.rows)
        shares = self.shares.select(target_project_id=caller.project_id)
        return self.rows.select(project_id=caller.project_id) + [self.rows.require(share.zone_id) for share in shares]

    def share(self, caller: Caller, zone: Zone, target: str) -> ZoneShare:
        """Share a zone with another project. Raises ApiError 400 for its own, and 409."""
        if target == zone.project_id:
            raise ApiError(400, "Cannot share the zone with the zone owner.", "bad_request")
        if self._is_shared(zone, target):
            raise duplicate("Shared Zone")
        return self.shares.add(
            ZoneShare(
                id=new_id(),
                zone_id=zone.id,
                project_id=caller.project_id,
                target_project_id=target,
                created_at=self.moment(),
                updated_at=None,
            )
        )

    def _is_shared(self, zone: Zone, project_id: str) -> bool:
        return any(share.target_project_id == project_id for share in self.shares.select(zone_id=zone.id))

    # -- changes -----------------------------------------------------------------------------------

    def create(self, caller: Caller, new_zone: NewZone) -> Zone:
        """Create a zone, with the record sets that every zone has. Raises ApiError."""
        self._quotas.admit(caller.project_id, "zones", len(self.rows.select(project_id=caller.project_id)) + 1)
        self._names.check(new_zone.name, caller.is_admin)
        self._check_place(caller.project_id, new_zone.name)
        return self.put(caller.project_id, new_zone)

    def put(self, project_id: str, new_zone: NewZone) -> Zone:
        """Create a zone in a project, without checks of its name."""
        zone = Zone(
            id=new_id(),
            pool_id=new_zone.pool_id,
            project_id=project_id,
            name=new_zone.name,
            email=new_zone.email,
            description=new_zone.description,
            masters=new_zone.masters,
            ttl=new_zone.ttl,
            serial=int(self.cloud.clock.now()) if new_zone.type == PRIMARY else 1,
            status="PENDING",
            action="CREATE",
            version=1,
            attributes=new_zone.attributes,
            type=new_zone.type,
            created_at=self.moment(),
            updated_at=None,
            transferred_at=None,
            folded_name=folded(new_zone.name),
            is_served=False,
            changes=0,
        )
        for former in self.left.select(folded_name=zone.folded_name):
            self.left.remove(former)
            _call(self.removed, former)
        self.rows.add(zone)
        _call(self.created, zone)
        self._progress.begin(self.rows, zone, "CREATE")
        return zone

    def update(self, zone: Zone, changes: Mapping[str, object]) -> None:
        """Change fields of a zone."""
        self.rows.update(zone, **changes)
        self.touch(zone, "UPDATE")

    def touch(self, zone: Zone, action: str | None = None) -> None:
        """Note that the content of a zone has changed: it gets another serial number, and is pending.

        Without an `action`, a change of a zone that is being created or deleted is part of that.
        """
        if zone.type == PRIMARY:
            zone.serial = max(zone.serial + 1, int(self.cloud.clock.now())) % LARGEST_SERIAL
        self._revise(zone)
        _call(self.changed, zone)
        under_way = zone.action if zone.action in ("CREATE", "DELETE") else "UPDATE"
        self._progress.begin(self.rows, zone, action or under_way)

    def delete(self, zone: Zone, with_shares: bool = False) -> None:
        """Begin the deletion of a zone. Raises ApiError 400 while it has zones below it, or is shared."""
        if any(row.folded_name.endswith("." + zone.folded_name) for row in self.rows if row.type == PRIMARY):
            raise ApiError(400, "Please delete any subzones before deleting this zone", "zone_has_sub_zone")
        if self.shares.select(zone_id=zone.id) and not with_shares:
            raise ApiError(400, "This zone is shared with other projects, please remove these shares", "zone_shared")
        self._unshare(zone)
        self._revise(zone)
        self._progress.begin(self.rows, zone, "DELETE")

    def abandon(self, zone: Zone) -> None:
        """Forget a zone at once, which the name servers keep until there is another one with its name."""
        self.rows.remove(zone)
        self._unshare(zone)
        self.left.add(zone)
        _call(self.abandoned, zone)

    # -- names -------------------------------------------------------------------------------------

    def enclosing(self, name: str) -> Zone | None:
        """Return the zone that a name is in: the one with the longest name."""
        for candidate in (name, *ancestors(name)):
            if (zone := self.rows.first(folded_name=folded(candidate))) is not None:
                return zone
        return None

    def serving(self, name: str) -> Zone | None:
        """Return the zone with a name that the name servers have, which may be an abandoned one."""
        found = self.rows.first(folded_name=name) or self.left.first(folded_name=name)
        return found if found is not None and found.is_served else None

    def _check_place(self, project_id: str, name: str) -> None:
        """Refuse a zone that exists, and one above or below a zone of another project."""
        if self.rows.first(folded_name=folded(name)) is not None:
            raise duplicate("Zone")
        above = self.enclosing(name)
        if above is not None and above.project_id != project_id:
            raise ApiError(403, "Unable to create subzone in another tenants zone", "illegal_child")
        if any(is_below(row.name, name) and row.project_id != project_id for row in self.rows):
            raise ApiError(
                403, "Unable to create zone because another tenant owns a subzone of the zone", "illegal_parent"
            )

    def _publish(self, zone: Zone) -> None:
        zone.is_served = zone.is_served or zone.type == PRIMARY
        self._revise(zone)
        _call(self.published, zone)

    def _revise(self, zone: Zone) -> None:
        """Note that a zone was changed, which then has another version; so it has when the name servers got it."""
        zone.version += 1
        zone.updated_at = self.moment()
        self.rows.save(zone)

    def _forget(self, zone: Zone) -> None:
        self._unshare(zone)
        _call(self.removed, zone)

    def _unshare(self, zone: Zone) -> None:
        for share in self.shares.select(zone_id=zone.id):
            self.shares.remove(share)


def _call(functions: Iterable[ZoneChanged], zone: Zone) -> None:
    for function in functions:
        function(zone)
