"""Snapshots of shares over HTTP."""

from __future__ import annotations

from http import HTTPStatus

from openstack_emulator.core.actions import act, for_administrators, reset_status, status_among
from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.filters import Filter, equal, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.share.records import Snapshot
from openstack_emulator.share.routes.bodies import (
    METADATA,
    NAMES,
    NO_ITEM,
    OTHER_KEY,
    Actions,
    changes_of,
    member,
)
from openstack_emulator.share.routes.lists import COMMON, list_response
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.rules.inputs import NewSnapshot
from openstack_emulator.share.rules.snapshots import STATUSES
from openstack_emulator.share.views import snapshot_view, summary

CREATABLE = {
    **NAMES,
    "share_id": fields.text(1),
    "force": fields.boolean,
    "metadata": fields.nullable(METADATA),
}
FILTERS: dict[str, Filter] = {**COMMON, "share_id": equal("share_id"), "size": equal("size")}


def found(systems: SharedFileSystems, request: Request) -> Snapshot:
    """The snapshot in the path, which the caller may see."""
    return visible(systems.snapshots.rows, request.context, request.vars["snapshot_id"])


def index(systems: SharedFileSystems, request: Request) -> Response:
    rows = project_rows(systems.snapshots.rows, request)[::-1]
    return list_response(request, "snapshots", rows, FILTERS, lambda row: summary(request, "snapshots", row))


def detail(systems: SharedFileSystems, request: Request) -> Response:
    rows = project_rows(systems.snapshots.rows, request)[::-1]
    return list_response(request, "snapshots", rows, FILTERS, lambda row: snapshot_view(request, row))


def create(systems: SharedFileSystems, request: Request) -> Response:
    body = member(request, "snapshot")
    check_fields(body, CREATABLE, ("share_id",), "snapshot", strict=False)
    try:
        share = systems.shares.own(request.context, body["share_id"])
    except ApiError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            raise not_found("NotFound: Resource could not be found.") from None
        raise
    snapshot = systems.snapshots.create(request.context, share, NewSnapshot.from_json(body))
    return Response({"snapshot": snapshot_view(request, snapshot)}, 202)


def show(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"snapshot": snapshot_view(request, found(systems, request))})


def list_exports(systems: SharedFileSystems, request: Request) -> Response:
    """The export locations of a snapshot: none, since the back end cannot mount snapshots."""
    found(systems, request)
    return Response({"share_snapshot_export_locations": []})


def update(systems: SharedFileSystems, request: Request) -> Response:
    snapshot, body = found(systems, request), member(request, "snapshot")
    check_fields(body, NAMES, where="snapshot", strict=False)
    systems.snapshots.rows.update(snapshot, **changes_of(body, NAMES), updated_at=systems.snapshots.moment())
    return Response({"snapshot": snapshot_view(request, snapshot)})


def delete(systems: SharedFileSystems, request: Request) -> Response:
    systems.snapshots.delete(found(systems, request))
    return Response(status=202)


def _metadata(systems: SharedFileSystems, request: Request) -> dict[str, str]:
    return found(systems, request).metadata


def _set_metadata(systems: SharedFileSystems, request: Request, metadata: dict[str, str]) -> None:
    snapshot = found(systems, request)
    snapshot.metadata = metadata
    systems.snapshots.save(snapshot)


SNAPSHOT_METADATA = Metadata(_metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 200)
INSTANCE_ACTIONS: Actions[Snapshot] = {
    "reset_status": reset_status(
        status_among("reset_status", STATUSES, strict=False),
        lambda systems, snapshot, status: systems.snapshots.set_status(snapshot, status),
    ),
}
"""The actions that an instance of a snapshot has too."""
ACTIONS: Actions[Snapshot] = {
    **INSTANCE_ACTIONS,
    "force_delete": for_administrators(lambda systems, snapshot: systems.snapshots.delete(snapshot, force=True)),
}


def act_on(systems: SharedFileSystems, request: Request) -> Response:
    request.context.require()
    return act(ACTIONS, systems, request, found(systems, request))
