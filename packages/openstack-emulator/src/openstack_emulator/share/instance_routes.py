"""The instances of shares and snapshots, for administrators: each has one, with the same ID."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.actions import Actions, act
from openstack_emulator.core.component import on
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.share import action_routes
from openstack_emulator.share.access import AccessRules
from openstack_emulator.share.share_routes import EXPORT_FILTERS, SINCE_EXPORT_FILTERS, export_of
from openstack_emulator.share.shares import Shares
from openstack_emulator.share.snapshots import ShareSnapshots
from openstack_emulator.share.views import export_view


def _view(rules: AccessRules, request: Request, share: Record) -> dict[str, Any]:
    version = request.version
    names = ("id", "availability_zone", "host", "share_network_id", "status", "created_at", "share_server_id")
    found = {**{name: share[name] for name in names}, "share_id": share["id"]}
    if version < (2, 9):
        paths = [export["path"] for export in share["_exports"]]
        found |= {"export_locations": paths, "export_location": paths[0] if paths else None}
    if version >= (2, 10):
        found["access_rules_status"] = rules.status_of(share)
    if version >= (2, 11):
        found["replica_state"] = None
    if version >= (2, 22):
        found["share_type_id"] = share["share_type_id"]
    if version >= (2, 30):
        found["cast_rules_to_readonly"] = False
    if version >= (2, 54):
        found["progress"] = share["progress"]
    return found


def index(rules: AccessRules, request: Request) -> Response:
    rows = list(rules.shares.rows)
    if request.version >= SINCE_EXPORT_FILTERS:
        asked = [(test, value) for name, test in EXPORT_FILTERS.items() if (value := request.query.get(name))]
        rows = [row for row in rows if all(test(row, value) for test, value in asked)]
    return Response({"share_instances": [_view(rules, request, row) for row in rows]})


def of_share(rules: AccessRules, request: Request) -> Response:
    share = rules.shares.rows.require(request.vars["share_id"])
    return Response({"share_instances": [_view(rules, request, share)]})


def _share(shares: Shares, request: Request) -> Record:
    return shares.rows.require(request.vars["instance_id"])


def show(rules: AccessRules, request: Request) -> Response:
    return Response({"share_instance": _view(rules, request, _share(rules.shares, request))})


def list_exports(shares: Shares, request: Request) -> Response:
    share = _share(shares, request)
    return Response({"export_locations": [export_view(request, share, one, False) for one in share["_exports"]]})


def show_export(shares: Shares, request: Request) -> Response:
    share = _share(shares, request)
    return Response({"export_location": export_view(request, share, export_of(share, request.vars["export_id"]))})


ACTIONS: Actions = {
    "reset_status": on(Shares, action_routes.reset),
    "force_delete": on(Shares, action_routes.force_delete),
}


def action(shares: Shares, request: Request) -> Response:
    return act(ACTIONS, shares.records, request, _share(shares, request))


# -- snapshots -----------------------------------------------------------------------------------------------------


def _snapshot(snapshots: ShareSnapshots, request: Request) -> Record:
    return snapshots.rows.require(request.vars["instance_id"])


def _brief(snapshot: Record) -> dict[str, Any]:
    return {"id": snapshot["id"], "snapshot_id": snapshot["id"], "status": snapshot["status"]}


def _detailed(snapshot: Record) -> dict[str, Any]:
    done = "100%" if snapshot["status"] == "available" else "0%"
    return {
        **_brief(snapshot),
        "share_id": snapshot["share_id"],
        "share_instance_id": snapshot["share_id"],
        "created_at": snapshot["created_at"],
        "updated_at": snapshot["updated_at"],
        "progress": done,
        "provider_location": None,
    }


def _of_snapshot(snapshots: ShareSnapshots, request: Request) -> list[Record]:
    wanted = request.query.get("snapshot_id")
    return [row for row in snapshots.rows if wanted in (None, row["id"])]


def list_snapshots(snapshots: ShareSnapshots, request: Request) -> Response:
    return Response({"snapshot_instances": [_brief(row) for row in _of_snapshot(snapshots, request)]})


def list_snapshots_in_detail(snapshots: ShareSnapshots, request: Request) -> Response:
    return Response({"snapshot_instances": [_detailed(row) for row in _of_snapshot(snapshots, request)]})


def show_snapshot(snapshots: ShareSnapshots, request: Request) -> Response:
    return Response({"snapshot_instance": _detailed(_snapshot(snapshots, request))})


SNAPSHOT_ACTIONS: Actions = {"reset_status": on(ShareSnapshots, action_routes.reset_snapshot)}


def snapshot_action(snapshots: ShareSnapshots, request: Request) -> Response:
    return act(SNAPSHOT_ACTIONS, snapshots.records, request, _snapshot(snapshots, request))
