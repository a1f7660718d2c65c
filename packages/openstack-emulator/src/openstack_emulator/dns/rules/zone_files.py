"""Import and export of zones as zone files (RFC 1035, 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation.sentences import sentence
from openstack_emulator.dns.records import PRIMARY, Zone, ZoneExport, ZoneImport, ZoneTask
from openstack_emulator.dns.rules.callers import Caller
from openstack_emulator.dns.rules.contents import TYPES, record_problem
from openstack_emulator.dns.rules.errors import missing, over_quota
from openstack_emulator.dns.rules.inputs import DEFAULT_TTL, NewRecordSet, NewZone
from openstack_emulator.dns.rules.names import domain_problem, folded, host_problem, mailbox_problem
from openstack_emulator.dns.rules.quotas import EXPORT_SIZE, UNLIMITED, Quotas
from openstack_emulator.dns.rules.recordsets import RecordSets

SECONDS = 1.0
T = TypeVar("T", bound=ZoneTask)
_ORIGIN = re.compile(r"^\$ORIGIN\s+(\S+)", re.MULTILINE | re.IGNORECASE)
_SOA = re.compile(r"^(\S+)\s+(?:\d+\s+)?(?:IN\s+)?(?:\d+\s+)?SOA\s", re.MULTILINE | re.IGNORECASE | re.ASCII)


class ZoneFiles(Rules):
    """Imports and exports, from their beginning to their end."""

    def __init__(self, records: Records, sets: RecordSets, quotas: Quotas) -> None:
        super().__init__(records)
        self._sets, self._quotas = sets, quotas
        self.imports = records.table("zone_imports", ZoneImport, missing=missing("Zone Import"))
        self.exports = records.table("zone_exports", ZoneExport, missing=missing("Zone Export"))
        records.deferrable(self.finish_import, self.finish_export)

    def visible(self, rows: Table[T], caller: Caller, key: str) -> T:
        """Return an import or export of the caller. Raises ApiError 404."""
        record = rows.require(key)
        if not caller.may_see(record):
            raise rows.missing(key)
        return record

    def begin_import(self, caller: Caller, content: str) -> ZoneImport:
        """Begin to create a zone from a zone file."""
        record = self.imports.add(
            ZoneImport(
                id=new_id(),
                project_id=caller.project_id,
                zone_id=None,
                status="PENDING",
                message=None,
                version=1,
                created_at=self.moment(),
                updated_at=None,
                content=content,
                by_administrator=caller.is_admin,
            )
        )
        self.after(SECONDS, self.finish_import, record.id)
        return record

    def begin_export(self, caller: Caller, zone: Zone) -> ZoneExport:
        """Begin to write a zone file. Raises ApiError 413 for a zone with more record sets than the quota."""
        limit = self._quotas.limits_of(zone.project_id)[EXPORT_SIZE]
        if limit != UNLIMITED and len(self._sets.rows.select(zone_id=zone.id)) > limit:
            raise over_quota(EXPORT_SIZE)
        record = self.exports.add(
            ZoneExport(
                id=new_id(),
                project_id=caller.project_id,
                zone_id=zone.id,
                status="PENDING",
                message=None,
                version=1,
                created_at=self.moment(),
                updated_at=None,
                location=None,
            )
        )
        self.after(SECONDS, self.finish_export, record.id)
        return record

    def finish_import(self, key: str) -> None:
        """Create the zone of an import, or record why it cannot be created."""
        record = self.imports.get(key)
        if record is None or record.content is None:
            return
        caller = Caller(record.project_id, record.by_administrator, False, False)
        content, record.content = record.content, None
        try:
            zone = self._create(caller, content)
        except (ValueError, ApiError) as error:
            record.status = "ERROR"
            record.message = error.message if isinstance(error, ApiError) else str(error)
        else:
            record.status, record.zone_id, record.message = "COMPLETE", zone.id, f"{zone.name} imported"
        record.updated_at = self.moment()
        self.imports.save(record)

    def finish_export(self, key: str) -> None:
        """Let an export be read."""
        record = self.exports.get(key)
        if record is not None:
            record.status, record.location = "COMPLETE", f"designate://v2/zones/tasks/exports/{key}/export"
            record.updated_at = self.moment()
            self.exports.save(record)

    def exported(self, export: ZoneExport) -> str:
        """Return the file of an export, with its zone as that is now. Raises ApiError 400."""
        zone = None if export.zone_id is None else self._sets.zones.rows.get(export.zone_id)
        if zone is None or export.status != "COMPLETE":
            raise ApiError(400, "Zone export is not complete, or its zone is gone.", "bad_request")
        return self._written(zone)

    def _create(self, caller: Caller, content: str) -> Zone:
        """Create a zone and its record sets. Raises ValueError and ApiError, and then creates nothing."""
        soa, record_sets = _parsed(content)
        _, mailbox, *_ = soa.records[0].split()
        ttl = DEFAULT_TTL if soa.ttl is None else soa.ttl
        new = NewZone(name=soa.name, type=PRIMARY, email=_email(mailbox), ttl=ttl)
        problem = domain_problem(new.name) or mailbox_problem(new.email)
        if problem is not None:
            raise ValueError(sentence(problem))
        own = [
            record_set
            for record_set in record_sets
            if not (record_set.type == "NS" and folded(record_set.name) == folded(soa.name))
        ]
        for record_set in own:
            _check(record_set)
        self._quotas.admit(caller.project_id, "zone_recordsets", len(own))
        self._quotas.admit(caller.project_id, "zone_records", sum(len(record_set.records) for record_set in own))
        for record_set in own:
            self._quotas.admit(caller.project_id, "recordset_records", len(record_set.records))
        zone = self._sets.zones.create(caller, new)
        for record_set in own:
            self._sets.put(zone, record_set, caller.project_id)
        return zone

    def _written(self, zone: Zone) -> str:
        """Return a zone as a zone file."""
        lines = [f"$ORIGIN {zone.name}", f"$TTL {zone.ttl}", ""]
        for row in sorted(self._sets.rows.select(zone_id=zone.id), key=lambda row: row.type != "SOA"):
            ttl = "" if row.ttl is None else f" {row.ttl}"
            lines += [f"{row.name}{ttl} IN {row.type} {data}" for data in row.records]
        return "\n".join([*lines, ""])


def _parsed(content: str) -> tuple[NewRecordSet, list[NewRecordSet]]:
    """Return the SOA record set of a zone file, and all others. Raises ValueError.

    Only $ORIGIN and $TTL are accepted: $INCLUDE reads files, and $GENERATE multiplies records.
    """
    import dns.exception
    import dns.zone

    name = _zone_name(content)
    try:
        zone = dns.zone.from_text(content, origin=name, relativize=False, allow_directives=("$ORIGIN", "$TTL"))
        sets = list(_sets(zone))
    except (dns.exception.DNSException, ValueError) as error:
        raise ValueError(f"Malformed zone file: {error or type(error).__name__}") from None
    soa = next(record_set for record_set in sets if record_set.type == "SOA")
    return soa, [record_set for record_set in sets if record_set is not soa]


def _zone_name(content: str) -> str:
    """Return the name of a zone file's SOA record. Raises ValueError."""
    soa, origin = _SOA.search(content), _ORIGIN.search(content)
    if soa is None:
        raise ValueError("The zone file has no SOA record.")
    owner, suffix = soa[1], origin[1] if origin else ""
    name = suffix if owner == "@" else owner if owner.endswith(".") else f"{owner}.{suffix}"
    if domain_problem(name) is not None:
        raise ValueError(f"The SOA record has no absolute name: {owner}, and $ORIGIN is {suffix or 'missing'}.")
    return name


def _sets(zone: Any) -> Iterator[NewRecordSet]:
    import dns.rdatatype

    for name, rdatas in zone.iterate_rdatasets():
        kind = dns.rdatatype.to_text(rdatas.rdtype)
        texts = [rdata.to_text() for rdata in rdatas]
        yield NewRecordSet(name=name.to_text(), type=kind, ttl=rdatas.ttl, records=texts)


def _check(new_record_set: NewRecordSet) -> None:
    """Raise ValueError for a record set that the API would refuse."""
    if new_record_set.type not in TYPES:
        raise ValueError(f"Records of type {new_record_set.type} are not supported.")
    if (problem := host_problem(new_record_set.name)) is not None:
        raise ValueError(sentence(problem))
    for record in new_record_set.records:
        if (flaw := record_problem(new_record_set.type, record)) is not None:
            raise ValueError(flaw)


def _email(mailbox: str) -> str:
    """Return the address that the mailbox of a SOA record means: its first dot without a backslash is the @."""
    local, _, host = re.sub(r"(?<!\\)\.", "@", mailbox, count=1).partition("@")
    return f"{local.replace(chr(92), '')}@{host.removesuffix('.')}"
