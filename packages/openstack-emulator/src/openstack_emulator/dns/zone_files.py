"""Import and export of zones as zone files (RFC 1035, 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Collection, Record, public
from openstack_emulator.dns.http import Caller, caller_of, listed, missing, uuid_of
from openstack_emulator.dns.names import domain_problem, folded, host_problem, mailbox_problem
from openstack_emulator.dns.quotas import UNLIMITED, Quotas
from openstack_emulator.dns.records import TYPES, record_problem
from openstack_emulator.dns.recordsets import RecordSets
from openstack_emulator.dns.zones import PRIMARY

MEDIA_TYPE = "text/dns"
SECONDS = 1.0
LARGEST_FILE = 1 << 20
_ORIGIN = re.compile(r"^\$ORIGIN\s+(\S+)", re.MULTILINE | re.IGNORECASE)
_SOA = re.compile(r"^(\S+)\s+(?:\d+\s+)?(?:IN\s+)?(?:\d+\s+)?SOA\s", re.MULTILINE | re.IGNORECASE | re.ASCII)


class ZoneFiles(Component):
    """Imports and exports: `{id, project_id, zone_id, status, message, …}`; each is PENDING for a while."""

    def __init__(self, records: Records, sets: RecordSets, quotas: Quotas) -> None:
        super().__init__(records)
        self.sets, self._quotas = sets, quotas
        self.imports = records.collection("zone_imports", missing=missing("Zone Import"))
        self.exports = records.collection("zone_exports", missing=missing("Zone Export"))
        records.deferrable(self.finish_import, self.finish_export)

    def visible(self, rows: Collection, caller: Caller, key: str) -> Record:
        """Return an import or export of the caller. Raises ApiError 404."""
        record = rows.require(key)
        if not caller.may_see(record):
            raise rows.missing(key)
        return record

    def begin_import(self, caller: Caller, content: str) -> Record:
        """Begin to create a zone from a zone file."""
        record = self._added(self.imports, caller.project_id, None, {"_content": content, "_admin": caller.is_admin})
        self.after(SECONDS, self.finish_import, record["id"])
        return record

    def begin_export(self, caller: Caller, zone: Record) -> Record:
        """Begin to write a zone file. Raises ApiError 413 for a zone with more record sets than the quota."""
        limit = self._quotas.limits_of(zone["project_id"])["api_export_size"]
        if limit != UNLIMITED and len(self.sets.rows.select(zone_id=zone["id"])) > limit:
            raise ApiError(413, "Quota exceeded for api_export_size.", "over_quota")
        record = self._added(self.exports, caller.project_id, zone["id"], {"location": None})
        self.after(SECONDS, self.finish_export, record["id"])
        return record

    def _added(self, rows: Collection, project: str, zone: str | None, fields: Record) -> Record:
        common = {"id": new_id(), "project_id": project, "zone_id": zone, "status": "PENDING", "message": None}
        moments = {"version": 1, "created_at": self.moment(), "updated_at": None}
        return rows.add({**common, **moments, **fields})

    def finish_import(self, key: str) -> None:
        """Create the zone of an import, or record why it cannot be created."""
        record = self.imports.get(key)
        if record is None:
            return
        caller = Caller(record["project_id"], record.pop("_admin"), False, False)
        try:
            zone = self._create(caller, record.pop("_content"))
        except (ValueError, ApiError) as error:
            message = error.message if isinstance(error, ApiError) else str(error)
            self.imports.update(record, status="ERROR", message=message, updated_at=self.moment())
        else:
            done = {"zone_id": zone["id"], "message": f"{zone['name']} imported"}
            self.imports.update(record, status="COMPLETE", updated_at=self.moment(), **done)

    def finish_export(self, key: str) -> None:
        """Let an export be read."""
        record = self.exports.get(key)
        if record is not None:
            location = f"designate://v2/zones/tasks/exports/{key}/export"
            self.exports.update(record, status="COMPLETE", location=location, updated_at=self.moment())

    def _create(self, caller: Caller, content: str) -> Record:
        """Create a zone and its record sets. Raises ValueError and ApiError, and then creates nothing."""
        soa, wanted = _parsed(content)
        _, mailbox, *_ = soa["records"][0].split()
        fields = {"name": soa["name"], "ttl": soa["ttl"], "email": _email(mailbox), "type": PRIMARY}
        problem = domain_problem(soa["name"]) or mailbox_problem(fields["email"])
        if problem is not None:
            raise ValueError(problem)
        own = [one for one in wanted if not (one["type"] == "NS" and folded(one["name"]) == folded(soa["name"]))]
        for one in own:
            _check(one)
        self._quotas.admit(caller.project_id, "zone_recordsets", len(own))
        self._quotas.admit(caller.project_id, "zone_records", sum(len(one["records"]) for one in own))
        for one in own:
            self._quotas.admit(caller.project_id, "recordset_records", len(one["records"]))
        zone = self.sets.zones.create(caller, fields)
        for one in own:
            self.sets.put(zone, one, caller.project_id)
        return zone

    def written(self, zone: Record) -> str:
        """Return a zone as a zone file."""
        lines = [f"$ORIGIN {zone['name']}", f"$TTL {zone['ttl']}", ""]
        for row in sorted(self.sets.rows.select(zone_id=zone["id"]), key=lambda row: row["type"] != "SOA"):
            ttl = "" if row["ttl"] is None else f" {row['ttl']}"
            lines += [f"{row['name']}{ttl} IN {row['type']} {data}" for data in row["records"]]
        return "\n".join([*lines, ""])


def _parsed(content: str) -> tuple[Record, list[Record]]:
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
    soa = next(one for one in sets if one["type"] == "SOA")
    return soa, [one for one in sets if one is not soa]


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


def _sets(zone: Any) -> Iterator[Record]:
    import dns.rdatatype

    for name, rdatas in zone.iterate_rdatasets():
        kind = dns.rdatatype.to_text(rdatas.rdtype)
        yield {"name": name.to_text(), "type": kind, "ttl": rdatas.ttl, "records": [one.to_text() for one in rdatas]}


def _check(wanted: Record) -> None:
    """Raise ValueError for a record set that the API would refuse."""
    if wanted["type"] not in TYPES:
        raise ValueError(f"Records of type {wanted['type']} are not supported.")
    problem = host_problem(wanted["name"])
    for record in wanted["records"]:
        problem = problem or record_problem(wanted["type"], record)
    if problem is not None:
        raise ValueError(problem)


def _email(mailbox: str) -> str:
    """Return the address that the mailbox of a SOA record means: its first dot without a backslash is the @."""
    local, _, host = re.sub(r"(?<!\\)\.", "@", mailbox, count=1).partition("@")
    return f"{local.replace(chr(92), '')}@{host.removesuffix('.')}"


def _view(request: Request, path: str, record: Record) -> dict[str, Any]:
    links = {"self": f"{request.base}/v2/zones/tasks/{path}/{record['id']}"}
    if path == "exports" and record["status"] == "COMPLETE":
        links["export"] = f"{links['self']}/export"
    if record["zone_id"] is not None:
        links["zone"] = f"{request.base}/v2/zones/{record['zone_id']}"
    return {**public(record), "links": links}


def create_import(files: ZoneFiles, request: Request) -> Response:
    caller, media_type = caller_of(request), request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type != MEDIA_TYPE:
        raise ApiError(415, f"Unsupported Content-Type: {media_type}", "unsupported_content_type")
    if len(request.body) > LARGEST_FILE:
        raise ApiError(413, f"The zone file has more than {LARGEST_FILE} bytes.", "request_too_large")
    record = files.begin_import(caller, request.body.decode(errors="replace"))
    return Response(_view(request, "imports", record), 202)


def create_export(files: ZoneFiles, request: Request) -> Response:
    caller = caller_of(request)
    zone = files.sets.zones.owned(caller, uuid_of(request, "zone_id"))
    return Response(_view(request, "exports", files.begin_export(caller, zone)), 202)


def list_imports(files: ZoneFiles, request: Request) -> Response:
    return _listed(request, files.imports, "imports")


def list_exports(files: ZoneFiles, request: Request) -> Response:
    return _listed(request, files.exports, "exports")


def _listed(request: Request, rows: Collection, path: str) -> Response:
    caller = caller_of(request)
    reached = [row for row in rows if caller.may_see(row)]
    filters = ("status", "message", "zone_id")
    return listed(request, path, reached, lambda asked, row: _view(asked, path, row), filters)


def _import(files: ZoneFiles, request: Request) -> Record:
    return files.visible(files.imports, caller_of(request), uuid_of(request, "zone_import_id"))


def _export(files: ZoneFiles, request: Request) -> Record:
    return files.visible(files.exports, caller_of(request), uuid_of(request, "zone_export_id"))


def show_import(files: ZoneFiles, request: Request) -> Response:
    return Response(_view(request, "imports", _import(files, request)))


def show_export(files: ZoneFiles, request: Request) -> Response:
    return Response(_view(request, "exports", _export(files, request)))


def delete_import(files: ZoneFiles, request: Request) -> Response:
    files.imports.remove(_import(files, request))
    return Response(status=204)


def delete_export(files: ZoneFiles, request: Request) -> Response:
    files.exports.remove(_export(files, request))
    return Response(status=204)


def show_file(files: ZoneFiles, request: Request) -> Response:
    """Return a zone file, as the zone is now."""
    record = _export(files, request)
    accepted = [one.partition(";")[0].strip() for one in request.headers.get("accept", "*/*").split(",")]
    if not {MEDIA_TYPE, "text/*", "*/*"} & set(accepted):
        raise ApiError(406, f"A zone file is {MEDIA_TYPE} only.", "not_acceptable")
    zone = files.sets.zones.rows.get(record["zone_id"])
    if zone is None or record["status"] != "COMPLETE":
        raise ApiError(400, "Zone export is not complete, or its zone is gone.", "bad_request")
    return Response(files.written(zone).encode(), headers={"Content-Type": MEDIA_TYPE})


ZONE_FILE_ROUTES = using(
    ZoneFiles,
    {
        "/zones/tasks/imports": {"GET": list_imports, "POST": create_import},
        "/zones/tasks/imports/{zone_import_id}": {"GET": show_import, "DELETE": delete_import},
        "/zones/{zone_id}/tasks/export": {"POST": create_export},
        "/zones/tasks/exports": {"GET": list_exports},
        "/zones/tasks/exports/{zone_export_id}": {"GET": show_export, "DELETE": delete_export},
        "/zones/tasks/exports/{zone_export_id}/export": {"GET": show_file},
    },
)
