"""Snapshots of shares over HTTP."""

from __future__ import annotations

from http import HTTPStatus

from openstack_emulator.core import fields
from openstack_emulator.core.component import visible
from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.filters import Filter, equal, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.store import Record
from openstack_emulator.share.lists import COMMON, listing
from openstack_emulator.share.refusals import member
from openstack_emulator.share.share_routes import METADATA, NAMES, NO_ITEM, OTHER_KEY
from openstack_emulator.share.snapshots import ShareSnapshots
from openstack_emulator.share.views import brief, snapshot_view

CREATABLE = {
    **NAMES,
    "share_id": fields.text(1),
    "force": fields.boolean,
    "metadata": fields.nullable(METADATA),
}
FILTERS: dict[str, Filter] = {**COMMON, "share_id": equal("share_id"), "size": equal("size")}


def found(snapshots: ShareSnapshots, request: Request) -> Record:
    """The snapshot in the path, which the caller may see."""
    return visible(snapshots.rows, request.context, request.vars["snapshot_id"])


def index(snapshots: ShareSnapshots, request: Request) -> Response:
    rows = project_rows(snapshots.rows, request)[::-1]
    return listing(request, "snapshots", rows, FILTERS, lambda row: brief(request, "snapshots", row))


def detail(snapshots: ShareSnapshots, request: Request) -> Response:
    rows = project_rows(snapshots.rows, request)[::-1]
    return listing(request, "snapshots", rows, FILTERS, lambda row: snapshot_view(request, row))


def create(snapshots: ShareSnapshots, request: Request) -> Response:
    wanted = member(request, "snapshot")
    fields.check_fields(wanted, CREATABLE, ("share_id",), "snapshot", strict=False)
    try:
        share = snapshots.shares.own(request.context, wanted["share_id"])
    except ApiError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            raise not_found("NotFound: Resource could not be found.") from None
        raise
    return Response({"snapshot": snapshot_view(request, snapshots.create(request.context, share, wanted))}, 202)


def show(snapshots: ShareSnapshots, request: Request) -> Response:
    return Response({"snapshot": snapshot_view(request, found(snapshots, request))})


def list_exports(snapshots: ShareSnapshots, request: Request) -> Response:
    """The export locations of a snapshot: none, since the back end cannot mount snapshots."""
    found(snapshots, request)
    return Response({"share_snapshot_export_locations": []})


def update(snapshots: ShareSnapshots, request: Request) -> Response:
    snapshot, wanted = found(snapshots, request), member(request, "snapshot")
    fields.check_fields(wanted, NAMES, where="snapshot", strict=False)
    changes = {key.removeprefix("display_"): wanted[key] for key in NAMES if key in wanted}
    snapshots.rows.update(snapshot, **changes, updated_at=snapshots.moment())
    return Response({"snapshot": snapshot_view(request, snapshot)})


def delete(snapshots: ShareSnapshots, request: Request) -> Response:
    snapshots.delete(found(snapshots, request))
    return Response(status=202)


def _write_metadata(snapshots: ShareSnapshots, request: Request, metadata: dict[str, str]) -> None:
    snapshots.rows.update(found(snapshots, request), metadata=metadata, updated_at=snapshots.moment())


SNAPSHOT_METADATA = Metadata(
    read=lambda snapshots, request: found(snapshots, request)["metadata"],
    write=_write_metadata,
    form=METADATA,
    missing=NO_ITEM,
    mismatch=OTHER_KEY,
    removed=200,
)
