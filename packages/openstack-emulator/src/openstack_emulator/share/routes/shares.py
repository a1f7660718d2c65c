"""Shares, their export locations and metadata over HTTP."""

from __future__ import annotations

from operator import attrgetter

from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.filters import Filter, equal, holds
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.share.records import Export, Share
from openstack_emulator.share.routes.bodies import METADATA, NAMES, NO_ITEM, OTHER_KEY, TEXT, changes_of, member
from openstack_emulator.share.routes.lists import COMMON, list_response
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.rules.inputs import BackendLocation, NewShare
from openstack_emulator.share.views import SINCE_SOFT_DELETION, export_view, share_view, summary

PLACES = ("host", "share_server_id")
"""Where shares are stored, which is for administrators."""
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
    "export_path": lambda value: fields.text(1)(_path(value)),
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


def _path(path: object) -> object:
    """The path of an export, which may be given as an object with the path in it."""
    return path.get("path") if isinstance(path, dict) else path


def _exported_as(field: str) -> Filter:
    """The share has an export location with this value."""
    read = attrgetter(field)
    return lambda row, value: any(read(export) == value for export in row.get("_exports"))


EXPORT_FILTERS: dict[str, Filter] = {f"export_location_{name}": _exported_as(name) for name in ("id", "path")}
"""Filters since microversion 2.35."""
SINCE_EXPORT_FILTERS = (2, 35)


def _filters(request: Request) -> dict[str, Filter]:
    return {**FILTERS, **(EXPORT_FILTERS if request.version >= SINCE_EXPORT_FILTERS else {})}


def found(systems: SharedFileSystems, request: Request) -> Share:
    """The share in the path, which the caller may see."""
    return systems.shares.find(request.context, request.vars["share_id"])


def own(systems: SharedFileSystems, request: Request) -> Share:
    """The share in the path, which the caller may change."""
    return systems.shares.own(request.context, request.vars["share_id"])


def _rows(systems: SharedFileSystems, request: Request) -> list[Share]:
    """The shares of the caller's project, or of all; with `is_public`, public ones of other projects too; with
    `is_soft_deleted`, those in the recycle bin."""
    context, query = request.context, request.query
    if not context.is_admin and any(query.get(name) is not None for name in PLACES):
        raise forbidden(f"Only administrators can list shares by {' or '.join(PLACES)}.")
    deleted = request.version >= SINCE_SOFT_DELETION and bool(query.boolean("is_soft_deleted"))
    rows = [row for row in systems.shares.rows if row.is_soft_deleted == deleted]
    if context.is_admin and query.boolean("all_tenants"):
        return rows
    public = bool(query.boolean("is_public"))
    return [row for row in rows if row.project_id == context.project or (public and row.is_public)]


def index(systems: SharedFileSystems, request: Request) -> Response:
    rows = _rows(systems, request)
    return list_response(request, "shares", rows, _filters(request), lambda row: summary(request, "shares", row))


def detail(systems: SharedFileSystems, request: Request) -> Response:
    rows = _rows(systems, request)
    return list_response(request, "shares", rows, _filters(request), lambda row: share_view(systems, request, row))


def create(systems: SharedFileSystems, request: Request) -> Response:
    body = member(request, "share")
    check_fields(body, CREATABLE, where="share", strict=False)
    for name in UNSUPPORTED:
        if body.get(name):
            raise not_found(f"The emulated service has no {name}: {body[name]}.")
    kind = body.get("share_type") or body.get("volume_type")
    share = systems.shares.create(request.context, NewShare.from_json(body, kind, request.id))
    return Response({"share": share_view(systems, request, share)})


def show(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"share": share_view(systems, request, found(systems, request))})


def update(systems: SharedFileSystems, request: Request) -> Response:
    share, body = own(systems, request), member(request, "share")
    check_fields(body, UPDATABLE, where="share", strict=False)
    changes = changes_of(body, UPDATABLE)
    if "is_public" in changes:
        public = as_boolean(changes.get("is_public"))
        if public and not share.is_public:
            systems.shares.require_publisher(request.context)
        changes |= {"is_public": public}
    systems.shares.update(share, changes)
    return Response({"share": share_view(systems, request, share)})


def delete(systems: SharedFileSystems, request: Request) -> Response:
    systems.shares.delete(own(systems, request))
    return Response(status=202)


def manage(systems: SharedFileSystems, request: Request) -> Response:
    body = member(request, "share")
    check_fields(body, MANAGED, ("service_host", "export_path", "protocol"), "share", strict=False)
    place = BackendLocation(host=body["service_host"], path=str(_path(body["export_path"])), protocol=body["protocol"])
    share = systems.unmanaged.manage(request.context, place, NewShare.from_json(body, body.get("share_type")))
    return Response({"share": share_view(systems, request, share)})


def _exporting(systems: SharedFileSystems, request: Request) -> Share:
    """The share in the path. Raises ApiError 403 for one that the caller may not see."""
    share = systems.shares.rows.require(request.vars["share_id"])
    if not request.context.may_see(share) and not share.is_public:
        raise forbidden("Policy doesn't allow share_export_location:index to be performed.")
    return share


def list_exports(systems: SharedFileSystems, request: Request) -> Response:
    share = _exporting(systems, request)
    return Response({"export_locations": [export_view(request, share, export, False) for export in share.exports]})


def show_export(systems: SharedFileSystems, request: Request) -> Response:
    share = _exporting(systems, request)
    return Response({"export_location": export_view(request, share, export_of(share, request.vars["export_id"]))})


def list_replicas(systems: SharedFileSystems, request: Request) -> Response:
    """The replicas of shares: none, since the back end replicates no shares."""
    return Response({"share_replicas": []})


def export_of(share: Share, key: str) -> Export:
    """An export location of a share. Raises ApiError 404."""
    export = next((export for export in share.exports if export.id == key), None)
    if export is None:
        raise not_found(f"Export location with UUID '{key}' could not be found.")
    return export


def _metadata(systems: SharedFileSystems, request: Request) -> dict[str, str]:
    return found(systems, request).metadata


def _set_metadata(systems: SharedFileSystems, request: Request, metadata: dict[str, str]) -> None:
    share = own(systems, request)
    share.metadata = metadata
    systems.shares.save(share)


SHARE_METADATA = Metadata(_metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 200)
