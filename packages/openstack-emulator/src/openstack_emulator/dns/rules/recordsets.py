"""Record sets: where they may be in a zone, those that every zone has, and what the name servers have of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, forbidden
from openstack_emulator.core.rules import Rules
from openstack_emulator.dns.records import PRIMARY, SECONDARY, RecordSet, Served, Zone
from openstack_emulator.dns.rules.callers import Caller
from openstack_emulator.dns.rules.errors import duplicate, invalid_object, missing, problem
from openstack_emulator.dns.rules.inputs import NewRecordSet
from openstack_emulator.dns.rules.names import folded, is_below, responsible
from openstack_emulator.dns.rules.pools import NAME_SERVERS
from openstack_emulator.dns.rules.progress import Progress
from openstack_emulator.dns.rules.quotas import Quotas
from openstack_emulator.dns.rules.zones import Zones

REFRESH, RETRY, EXPIRE, MINIMUM = 3600, 600, 86400, 3600
"""The timers of SOA records, in seconds."""


class RecordSets(Rules):
    """Record sets from their creation to their deletion. `left` has those of zones that only the name servers have."""

    def __init__(self, records: Records, zones: Zones, quotas: Quotas, progress: Progress) -> None:
        super().__init__(records)
        self.rows = records.table("recordsets", RecordSet, "zone_id", "folded_name", missing=missing("RecordSet"))
        self.left = records.table("abandoned_recordsets", RecordSet, "zone_id", "folded_name")
        self.zones = zones
        self._quotas, self._progress = quotas, progress
        progress.track(self.rows, self._publish, lambda record: None)
        zones.created.append(self._add_required_record_sets)
        zones.changed.append(self._follow)
        zones.published.append(self._publish_managed)
        zones.abandoned.append(self._leave_all)
        zones.removed.append(self._forget_all)

    # -- who reaches a record set ------------------------------------------------------------------

    def visible(self, caller: Caller, key: str, zone_id: str | None = None) -> RecordSet:
        """Return a record set in a zone that the caller reaches. Raises ApiError 404."""
        record = self.rows.require(key)
        if zone_id not in (None, record.zone_id):
            raise self.rows.missing(key)
        zone = self.zones.visible(caller, record.zone_id)
        if not caller.may_see(zone) and not caller.may_see(record):
            raise self.rows.missing(key)
        return record

    def of_zone(self, caller: Caller, zone: Zone) -> list[RecordSet]:
        """Return a zone's record sets; of a zone that is only shared with the caller, those of the caller."""
        rows = self.rows.select(zone_id=zone.id)
        return rows if caller.may_see(zone) else [row for row in rows if caller.may_see(row)]

    def listed(self, caller: Caller) -> list[RecordSet]:
        """Return the record sets of all zones that the caller reaches."""
        return [row for zone in self.zones.listed(caller) for row in self.of_zone(caller, zone)]

    def served(self, zone: Zone, **fields: str) -> Iterator[tuple[RecordSet, Served]]:
        """Yield the record sets with these fields that the name servers have of a zone, with what they have."""
        for rows in (self.rows, self.left):
            for record in rows.select(zone_id=zone.id, **fields):
                if record.served is not None:
                    yield record, record.served

    # -- changes -----------------------------------------------------------------------------------

    def create(self, caller: Caller, zone: Zone, new_record_set: NewRecordSet) -> RecordSet:
        """Create a record set. Raises ApiError."""
        self._require_changeable(zone, "create")
        kind, name = new_record_set.type, new_record_set.name
        if kind == "NS" and name.startswith("*."):
            raise invalid_object(problem("NS recordsets may not have wildcard names", ["name"], "value", name))
        if kind == "NS" and folded(name) == zone.folded_name and not caller.edits_managed:
            raise bad_request("Creating root zone NS recordsets is not allowed")
        self._quotas.admit(zone.project_id, "zone_recordsets", len(self._counted(zone)) + 1)
        self._admit_records(zone, new_record_set.records, 0)
        self._check_place(zone, kind, name)
        record = self.put(zone, new_record_set, caller.project_id)
        if record.records:
            self.zones.touch(zone)
        return record

    def put(self, zone: Zone, new_record_set: NewRecordSet, project_id: str, managed: bool = False) -> RecordSet:
        """Add a record set to a zone, without checks. The name servers do not get one without records."""
        empty = not new_record_set.records
        record = RecordSet(
            id=new_id(),
            zone_id=zone.id,
            project_id=project_id,
            name=new_record_set.name,
            zone_name=zone.name,
            type=new_record_set.type,
            records=list(new_record_set.records),
            description=new_record_set.description,
            ttl=new_record_set.ttl,
            status="ACTIVE" if empty else "PENDING",
            action="NONE" if empty else "CREATE",
            version=1,
            created_at=self.moment(),
            updated_at=None,
            folded_name=folded(new_record_set.name),
            is_managed=managed,
            served=None,
            floating_ip=None,
            changes=0,
        )
        self.rows.add(record)
        if not managed and not empty:
            self._progress.begin(self.rows, record, "CREATE")
        return record

    def update(self, caller: Caller, record: RecordSet, changes: Mapping[str, Any]) -> None:
        """Change a record set. Raises ApiError."""
        zone = self.changeable(caller, record, "update")
        if (requested := changes.get("records")) is not None:
            self._admit_records(zone, requested, len(record.records))
        self.change(record, changes)

    def change(self, record: RecordSet, changes: Mapping[str, object]) -> None:
        """Change fields of a record set, without checks."""
        self.rows.update(record, **changes)
        self._revise(record)
        self._progress.begin(self.rows, record, "UPDATE")
        self.zones.touch(self.zones.rows.require(record.zone_id))

    def delete(self, caller: Caller, record: RecordSet) -> None:
        """Begin the deletion of a record set. Raises ApiError."""
        self.changeable(caller, record, "delete")
        self.withdraw(record)

    def withdraw(self, record: RecordSet) -> None:
        """Delete a record set, without checks: it is gone at once, and its zone is pending."""
        record.status, record.action = "PENDING", "DELETE"
        self._revise(record)
        self.rows.remove(record)
        self.zones.touch(self.zones.rows.require(record.zone_id))

    def transfer(self, zone: Zone, project_id: str) -> None:
        """Give a zone to another project, with the record sets of its owner."""
        for record in self.rows.select(zone_id=zone.id, project_id=zone.project_id):
            record.project_id = project_id
            self.rows.save(record)
        zone.project_id, zone.updated_at = project_id, self.moment()
        self.zones.rows.save(zone)

    def changeable(self, caller: Caller, record: RecordSet, verb: str) -> Zone:
        """Return the zone of a record set that the caller may update or delete. Raises ApiError 400, 403."""
        zone = self.zones.rows.require(record.zone_id)
        self._require_changeable(zone, verb)
        if record.is_managed and not caller.edits_managed:
            if record.type == "SOA":
                raise bad_request(f"{_GERUNDS[verb]} SOA recordsets is not allowed")
            raise bad_request(f"Managed records may not be {verb}d")
        return zone

    def _require_changeable(self, zone: Zone, verb: str) -> None:
        if zone.type == SECONDARY:
            raise forbidden(f"Can't {verb} RecordSet in a SECONDARY zone")
        if zone.action == "DELETE":
            raise bad_request("Can not update a deleting zone")

    def _revise(self, record: RecordSet) -> None:
        """Note that a record set was changed, which then has another version."""
        record.version += 1
        record.updated_at = self.moment()
        self.rows.save(record)

    # -- rules -------------------------------------------------------------------------------------

    def _counted(self, zone: Zone) -> list[RecordSet]:
        """Return the record sets that count for quotas."""
        return [row for row in self.rows.select(zone_id=zone.id) if not row.is_managed]

    def _admit_records(self, zone: Zone, requested: Sequence[str], replaced: int) -> None:
        self._quotas.admit(zone.project_id, "recordset_records", len(requested))
        present = sum(len(row.records) for row in self._counted(zone))
        self._quotas.admit(zone.project_id, "zone_records", present - replaced + len(requested))

    def _check_place(self, zone: Zone, kind: str, name: str) -> None:
        """Refuse a record set that is outside of its zone or in a zone below it, and one beside a CNAME."""
        if not is_below(name, zone.name):
            raise _misplaced("RecordSet is not contained within it's parent zone")
        nearest = self.zones.enclosing(name)
        if nearest is not None and nearest.id != zone.id:
            raise _misplaced(f"RecordSet belongs in a child zone: {nearest.name}")
        if kind == "CNAME" and folded(name) == zone.folded_name:
            raise _misplaced("CNAME recordsets may not be created at the zone apex")
        same_name = self.rows.select(zone_id=zone.id, folded_name=folded(name))
        if any(row.type == kind for row in same_name):
            raise duplicate("RecordSet")
        if same_name and (kind == "CNAME" or any(row.type == "CNAME" for row in same_name)):
            raise _misplaced("CNAME recordsets may not share a name with any other records")

    # -- what every zone has -----------------------------------------------------------------------

    def _add_required_record_sets(self, zone: Zone) -> None:
        """Add the SOA and NS record sets of a new zone."""
        if zone.type == PRIMARY:
            servers = [server.hostname for server in NAME_SERVERS]
            for kind, texts in (("SOA", [soa_of(zone)]), ("NS", servers)):
                self.put(zone, NewRecordSet(name=zone.name, type=kind, records=texts), zone.project_id, managed=True)

    def _follow(self, zone: Zone) -> None:
        """Let the SOA record follow the serial number and the other fields of the zone."""
        for record in self._managed(zone):
            if record.type == "SOA":
                record.records = [soa_of(zone)]
                self._revise(record)

    def _publish_managed(self, zone: Zone) -> None:
        for record in self._managed(zone):
            record.status, record.action = "ACTIVE", "NONE"
            self._publish(record)

    def _managed(self, zone: Zone) -> Iterator[RecordSet]:
        return (row for row in self.rows.select(zone_id=zone.id) if row.is_managed)

    def _publish(self, record: RecordSet) -> None:
        record.served = Served(records=record.records, ttl=record.ttl) if record.records else None
        self.rows.save(record)

    def _leave_all(self, zone: Zone) -> None:
        for record in self.rows.select(zone_id=zone.id):
            self.rows.remove(record)
            self.left.add(record)

    def _forget_all(self, zone: Zone) -> None:
        for rows in (self.rows, self.left):
            for record in rows.select(zone_id=zone.id):
                rows.remove(record)


_GERUNDS = {"update": "Updating", "delete": "Deleting"}


def _misplaced(message: str) -> ApiError:
    return ApiError(400, message, "invalid_recordset_location")


def soa_of(zone: Zone) -> str:
    """Return the SOA record of a zone."""
    server = NAME_SERVERS[0].hostname
    return f"{server} {responsible(zone.email)} {zone.serial} {REFRESH} {RETRY} {EXPIRE} {MINIMUM}"
