"""Record sets: where they may be in a zone, those that every zone has, and what the name servers have of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request, forbidden
from openstack_emulator.core.store import Record
from openstack_emulator.dns.http import Caller, duplicate, invalid_object, missing, problem
from openstack_emulator.dns.names import folded, is_below, responsible
from openstack_emulator.dns.pools import NAME_SERVERS
from openstack_emulator.dns.progress import Progress
from openstack_emulator.dns.quotas import Quotas
from openstack_emulator.dns.zones import PRIMARY, SECONDARY, Zones

REFRESH, RETRY, EXPIRE, MINIMUM = 3600, 600, 86400, 3600
"""The timers of SOA records, in seconds."""


class RecordSets(Component):
    """Record sets: `{id, zone_id, project_id, name, type, ttl, records, status, action, …}`.

    `_name` is the name for comparisons, `_managed` says that Designate keeps the set itself. `_served` is what the
    name servers have: `{"records": […], "ttl": …}`, None before they have anything. `left` has the record sets of zones
    that only the name servers have.
    """

    def __init__(self, records: Records, zones: Zones, quotas: Quotas, progress: Progress) -> None:
        super().__init__(records)
        self.rows = records.collection("recordsets", ("zone_id", "_name"), missing("RecordSet"))
        self.left = records.collection("abandoned_recordsets", ("zone_id", "_name"))
        self.zones = zones
        self._quotas, self._progress = quotas, progress
        progress.track(self.rows, self._publish, lambda record: None)
        zones.created.append(self._furnish)
        zones.changed.append(self._follow)
        zones.published.append(self._publish_managed)
        zones.abandoned.append(self._leave_all)
        zones.removed.append(self._forget_all)

    # -- who reaches a record set ------------------------------------------------------------------

    def visible(self, caller: Caller, key: str, zone_id: str | None = None) -> Record:
        """Return a record set in a zone that the caller reaches. Raises ApiError 404."""
        record = self.rows.require(key)
        if zone_id not in (None, record["zone_id"]):
            raise self.rows.missing(key)
        zone = self.zones.visible(caller, record["zone_id"])
        if not caller.may_see(zone) and not caller.may_see(record):
            raise self.rows.missing(key)
        return record

    def of_zone(self, caller: Caller, zone: Record) -> list[Record]:
        """Return a zone's record sets; of a zone that is only shared with the caller, those of the caller."""
        rows = self.rows.select(zone_id=zone["id"])
        return rows if caller.may_see(zone) else [row for row in rows if caller.may_see(row)]

    def listed(self, caller: Caller) -> list[Record]:
        """Return the record sets of all zones that the caller reaches."""
        return [row for zone in self.zones.listed(caller) for row in self.of_zone(caller, zone)]

    def served(self, zone: Record, **fields: str) -> list[Record]:
        """Return the record sets with these fields that the name servers have of a zone."""
        found = [row for rows in (self.rows, self.left) for row in rows.select(zone_id=zone["id"], **fields)]
        return [row for row in found if row["_served"]]

    # -- changes -----------------------------------------------------------------------------------

    def create(self, caller: Caller, zone: Record, wanted: Record) -> Record:
        """Create a record set from checked fields. Raises ApiError."""
        self._require_changeable(zone, "create")
        kind, name = wanted["type"], wanted["name"]
        if kind == "NS" and name.startswith("*."):
            raise invalid_object(problem("NS recordsets may not have wildcard names", ["name"], "value", name))
        if kind == "NS" and folded(name) == zone["_name"] and not caller.edits_managed:
            raise bad_request("Creating root zone NS recordsets is not allowed")
        self._quotas.admit(zone["project_id"], "zone_recordsets", len(self._counted(zone)) + 1)
        self._admit_records(zone, wanted["records"], 0)
        self._check_place(zone, kind, name)
        record = self.put(zone, wanted, caller.project_id)
        if record["records"]:
            self.zones.touch(zone)
        return record

    def put(self, zone: Record, wanted: Record, project_id: str, managed: bool = False) -> Record:
        """Add a record set to a zone, without checks. The name servers do not get one without records."""
        empty = not wanted["records"]
        record = {
            "id": new_id(),
            "zone_id": zone["id"],
            "project_id": project_id,
            "name": wanted["name"],
            "zone_name": zone["name"],
            "type": wanted["type"],
            "records": list(wanted["records"]),
            "description": wanted.get("description"),
            "ttl": wanted.get("ttl"),
            "status": "ACTIVE" if empty else "PENDING",
            "action": "NONE" if empty else "CREATE",
            "version": 1,
            "created_at": self.moment(),
            "updated_at": None,
            "_name": folded(wanted["name"]),
            "_managed": managed,
            "_served": None,
        }
        self.rows.add(record)
        if not managed and not empty:
            self._progress.begin(self.rows, record, "CREATE")
        return record

    def update(self, caller: Caller, record: Record, changes: Record) -> None:
        """Change a record set. Raises ApiError."""
        zone = self.changeable(caller, record, "update")
        if "records" in changes:
            self._admit_records(zone, changes["records"], len(record["records"]))
        self.change(record, changes)

    def change(self, record: Record, changes: Record) -> None:
        """Change a record set, without checks."""
        self.rows.update(record, **changes, version=record["version"] + 1, updated_at=self.moment())
        self._progress.begin(self.rows, record, "UPDATE")
        self.zones.touch(self.zones.rows.require(record["zone_id"]))

    def delete(self, caller: Caller, record: Record) -> None:
        """Begin the deletion of a record set. Raises ApiError."""
        self.changeable(caller, record, "delete")
        self.withdraw(record)

    def withdraw(self, record: Record) -> None:
        """Delete a record set, without checks: it is gone at once, and its zone is pending."""
        version = record["version"] + 1
        self.rows.update(record, status="PENDING", action="DELETE", version=version, updated_at=self.moment())
        self.rows.remove(record)
        self.zones.touch(self.zones.rows.require(record["zone_id"]))

    def give(self, zone: Record, project_id: str) -> None:
        """Give a zone to another project, with the record sets of its owner."""
        for record in self.rows.select(zone_id=zone["id"], project_id=zone["project_id"]):
            self.rows.update(record, project_id=project_id)
        self.zones.rows.update(zone, project_id=project_id, updated_at=self.moment())

    def changeable(self, caller: Caller, record: Record, verb: str) -> Record:
        """Return the zone of a record set that the caller may update or delete. Raises ApiError 400, 403."""
        zone = self.zones.rows.require(record["zone_id"])
        self._require_changeable(zone, verb)
        if record["_managed"] and not caller.edits_managed:
            if record["type"] == "SOA":
                raise bad_request(f"{_GERUNDS[verb]} SOA recordsets is not allowed")
            raise bad_request(f"Managed records may not be {verb}d")
        return zone

    def _require_changeable(self, zone: Record, verb: str) -> None:
        if zone["type"] == SECONDARY:
            raise forbidden(f"Can't {verb} RecordSet in a SECONDARY zone")
        if zone["action"] == "DELETE":
            raise bad_request("Can not update a deleting zone")

    # -- rules -------------------------------------------------------------------------------------

    def _counted(self, zone: Record) -> list[Record]:
        """Return the record sets that count for quotas."""
        return [row for row in self.rows.select(zone_id=zone["id"]) if not row["_managed"]]

    def _admit_records(self, zone: Record, wanted: Sequence[str], replaced: int) -> None:
        self._quotas.admit(zone["project_id"], "recordset_records", len(wanted))
        present = sum(len(row["records"]) for row in self._counted(zone))
        self._quotas.admit(zone["project_id"], "zone_records", present - replaced + len(wanted))

    def _check_place(self, zone: Record, kind: str, name: str) -> None:
        """Refuse a record set that is outside of its zone or in a zone below it, and one beside a CNAME."""
        if not is_below(name, zone["name"]):
            raise _misplaced("RecordSet is not contained within it's parent zone")
        nearest = self.zones.enclosing(name)
        if nearest is not None and nearest["id"] != zone["id"]:
            raise _misplaced(f"RecordSet belongs in a child zone: {nearest['name']}")
        if kind == "CNAME" and folded(name) == zone["_name"]:
            raise _misplaced("CNAME recordsets may not be created at the zone apex")
        beside = self.rows.select(zone_id=zone["id"], _name=folded(name))
        if any(row["type"] == kind for row in beside):
            raise duplicate("RecordSet")
        if beside and (kind == "CNAME" or any(row["type"] == "CNAME" for row in beside)):
            raise _misplaced("CNAME recordsets may not share a name with any other records")

    # -- what every zone has -----------------------------------------------------------------------

    def _furnish(self, zone: Record) -> None:
        """Add the SOA and NS record sets of a new zone."""
        if zone["type"] == PRIMARY:
            servers = [server["hostname"] for server in NAME_SERVERS]
            for kind, texts in (("SOA", [soa_of(zone)]), ("NS", servers)):
                wanted = {"name": zone["name"], "type": kind, "records": texts}
                self.put(zone, wanted, zone["project_id"], managed=True)

    def _follow(self, zone: Record) -> None:
        """Let the SOA record follow the serial number and the other fields of the zone."""
        for record in self._managed(zone):
            if record["type"] == "SOA":
                version = record["version"] + 1
                self.rows.update(record, records=[soa_of(zone)], version=version, updated_at=self.moment())

    def _publish_managed(self, zone: Record) -> None:
        for record in self._managed(zone):
            self.rows.update(record, status="ACTIVE", action="NONE")
            self._publish(record)

    def _managed(self, zone: Record) -> Iterator[Record]:
        return (row for row in self.rows.select(zone_id=zone["id"]) if row["_managed"])

    def _publish(self, record: Record) -> None:
        served = {"records": record["records"], "ttl": record["ttl"]} if record["records"] else None
        self.rows.update(record, _served=served)

    def _leave_all(self, zone: Record) -> None:
        for record in self.rows.select(zone_id=zone["id"]):
            self.rows.remove(record)
            self.left.add(record)

    def _forget_all(self, zone: Record) -> None:
        for rows in (self.rows, self.left):
            for record in rows.select(zone_id=zone["id"]):
                rows.remove(record)


_GERUNDS = {"update": "Updating", "delete": "Deleting"}


def _misplaced(message: str) -> ApiError:
    return ApiError(400, message, "invalid_recordset_location")


def soa_of(zone: Record) -> str:
    """Return the SOA record of a zone."""
    server = NAME_SERVERS[0]["hostname"]
    return f"{server} {responsible(zone['email'])} {zone['serial']} {REFRESH} {RETRY} {EXPIRE} {MINIMUM}"
