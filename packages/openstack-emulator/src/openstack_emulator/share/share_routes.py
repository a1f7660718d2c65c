"""Shares, their export locations and metadata over HTTP."""

from __future__ import annotations

from openstack_emulator.core import fields
from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.filters import Filter, equal, holds
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.store import Record
from openstack_emulator.share.access import AccessRules
from openstack_emulator.share.lists import COMMON, listing
from openstack_emulator.share.managed import BackendShares
from openstack_emulator.share.refusals import member
from openstack_emulator.share.shares import Shares
from openstack_emulator.share.views import SINCE_SOFT_DELETION, brief, export_view, share_view

TEXT = fields.nullable(fields.text())
METADATA = fields.text_map(largest_value=1023, key_form=r".{1,255}")
PLACES = ("host", "share_server_id")
"""Where shares are stored, which is for administrators."""
NO_ITEM = "MetadataItemNotFound: Metadata item is not found."
OTHER_KEY = "Request body and URI mismatch"
NAMES = {"name": TEXT, "description": TEXT, "display_name": TEXT, "display_description": TEXT}
CREATABLE = {
    **NAMES,
    "share_type": TEXT,
    "volume_type": TEXT,
    "share_network_id": TEXT,
    "snapshot_id": TEXT,
    "availability_zone": TEXT,
    "metadata": fields.nullable(METADATA),
    "is_public": fields.nullable(fields.boolean),
}
UNSUPPORTED = ("share_group_id", "consistency_group_id", "scheduler_hints")
UPDATABLE = {**NAMES, "is_public": fields.boolean}
MANAGED = {
    **NAMES,
    "service_host": fields.text(1),
    "export_path": lambda value: fields.text(1)(value.get("path") if isinstance(value, dict) else value),
    "protocol": fields.text(1),
    "share_type": TEXT,
    "is_public": fields.boolean,
}
FILTERS: dict[str, Filter] = {
    **COMMON,
    "share_type_id": equal("share_type_id"),
    "share_network_id": equal("share_network_id"),
    "snapshot_id": equal("snapshot_id"),
    "share_server_id": equal("share_server_id"),
    "host": equal("host"),
    "project_id": equal("project_id"),
    "metadata": holds("metadata"),
}


def _exported_as(field: str) -> Filter:
    """The share has an export location with this value."""
    return lambda row, wanted: any(export[field] == wanted for export in row.get("_exports"))


EXPORT_FILTERS: dict[str, Filter] = {f"export_location_{name}": _exported_as(name) for name in ("id", "path")}
"""Filters since microversion 2.35."""
SINCE_EXPORT_FILTERS = (2, 35)


def _filters(request: Request) -> dict[str, Filter]:
    return {**FILTERS, **(EXPORT_FILTERS if request.version >= SINCE_EXPORT_FILTERS else {})}


def found(shares: Shares, request: Request) -> Record:
    """The share in the path, which the caller may see."""
    return shares.find(request.context, request.vars["share_id"])


def own(shares: Shares, request: Request) -> Record:
    """The share in the path, which the caller may change."""
    return shares.own(request.context, request.vars["share_id"])


def _rows(shares: Shares, request: Request) -> list[Record]:
    """The shares of the caller's project, or of all; with `is_public`, public ones of other projects too; with
    `is_soft_deleted`, those in the recycle bin."""
    context, query = request.context, request.query
    if not context.is_admin and any(query.get(name) is not None for name in PLACES):
        raise forbidden(f"Only administrators can list shares by {' or '.join(PLACES)}.")
    deleted = request.version >= SINCE_SOFT_DELETION and bool(query.boolean("is_soft_deleted"))
    rows = [row for row in shares.rows if row["is_soft_deleted"] == deleted]
    if context.is_admin and query.boolean("all_tenants"):
        return rows
    public = bool(query.boolean("is_public"))
    return [row for row in rows if row["project_id"] == context.project or (public and row["is_public"])]


def index(shares: Shares, request: Request) -> Response:
    return listing(
        request, "shares", _rows(shares, request), _filters(request), lambda row: brief(request, "shares", row)
    )


def detail(rules: AccessRules, request: Request) -> Response:
    rows = _rows(rules.shares, request)
    return listing(request, "shares", rows, _filters(request), lambda row: share_view(rules, request, row))


def create(rules: AccessRules, request: Request) -> Response:
    wanted = member(request, "share")
    fields.check_fields(wanted, CREATABLE, where="share", strict=False)
    for name in UNSUPPORTED:
        if wanted.get(name):
            raise not_found(f"The emulated service has no {name}: {wanted[name]}.")
    share = rules.shares.create(request.context, wanted)
    rules.shares.rows.update(share, _request_id=request.id)
    return Response({"share": share_view(rules, request, share)})


def show(rules: AccessRules, request: Request) -> Response:
    return Response({"share": share_view(rules, request, found(rules.shares, request))})


def update(rules: AccessRules, request: Request) -> Response:
    share, wanted = own(rules.shares, request), member(request, "share")
    fields.check_fields(wanted, UPDATABLE, where="share", strict=False)
    changes = {key.removeprefix("display_"): wanted[key] for key in UPDATABLE if key in wanted}
    if "is_public" in changes:
        changes["is_public"] = fields.as_boolean(changes["is_public"])
        if changes["is_public"] and not share["is_public"]:
            rules.shares.require_publisher(request.context)
    rules.shares.update(share, changes)
    return Response({"share": share_view(rules, request, share)})


def delete(shares: Shares, request: Request) -> Response:
    shares.delete(own(shares, request))
    return Response(status=202)


def manage(backend: BackendShares, request: Request) -> Response:
    wanted = member(request, "share")
    fields.check_fields(wanted, MANAGED, ("service_host", "export_path", "protocol"), "share", strict=False)
    share = backend.manage(request.context, wanted)
    return Response({"share": share_view(backend.records.component(AccessRules), request, share)})


def _exporting(shares: Shares, request: Request) -> Record:
    """The share in the path. Raises ApiError 403 for one that the caller may not see."""
    share = shares.rows.require(request.vars["share_id"])
    if not request.context.may_see(share) and not share["is_public"]:
        raise forbidden("Policy doesn't allow share_export_location:index to be performed.")
    return share


def list_exports(shares: Shares, request: Request) -> Response:
    share = _exporting(shares, request)
    return Response({"export_locations": [export_view(request, share, one, False) for one in share["_exports"]]})


def show_export(shares: Shares, request: Request) -> Response:
    share = _exporting(shares, request)
    return Response({"export_location": export_view(request, share, export_of(share, request.vars["export_id"]))})


def list_replicas(shares: Shares, request: Request) -> Response:
    """The replicas of shares: none, since the back end replicates no shares."""
    return Response({"share_replicas": []})


def export_of(share: Record, key: str) -> Record:
    """An export location of a share. Raises ApiError 404."""
    found: Record | None = next((one for one in share["_exports"] if one["id"] == key), None)
    if found is None:
        raise not_found(f"Export location with UUID '{key}' could not be found.")
    return found


def _write_metadata(shares: Shares, request: Request, metadata: dict[str, str]) -> None:
    shares.update(own(shares, request), {"metadata": metadata})


SHARE_METADATA = Metadata(
    read=lambda shares, request: found(shares, request)["metadata"],
    write=_write_metadata,
    form=METADATA,
    missing=NO_ITEM,
    mismatch=OTHER_KEY,
    removed=200,
)
