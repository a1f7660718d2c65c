"""The instances of shares and snapshots, for administrators: each has one, with the same ID."""

from __future__ import annotations

from openstack_emulator.core.actions import act
from openstack_emulator.core.http import Request, Response
from openstack_emulator.share.records import Share, Snapshot
from openstack_emulator.share.routes import share_actions, snapshots
from openstack_emulator.share.routes.shares import EXPORT_FILTERS, SINCE_EXPORT_FILTERS, export_of
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.views import (
    export_view,
    instance_view,
    snapshot_instance_summary,
    snapshot_instance_view,
)


def index(systems: SharedFileSystems, request: Request) -> Response:
    rows = list(systems.shares.rows)
    if request.version >= SINCE_EXPORT_FILTERS:
        tests = [(test, value) for name, test in EXPORT_FILTERS.items() if (value := request.query.get(name))]
        rows = [row for row in rows if all(test(row, value) for test, value in tests)]
    return Response({"share_instances": [instance_view(systems, request, row) for row in rows]})


def of_share(systems: SharedFileSystems, request: Request) -> Response:
    share = systems.shares.rows.require(request.vars["share_id"])
    return Response({"share_instances": [instance_view(systems, request, share)]})


def _share(systems: SharedFileSystems, request: Request) -> Share:
    return systems.shares.rows.require(request.vars["instance_id"])


def show(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"share_instance": instance_view(systems, request, _share(systems, request))})


def list_exports(systems: SharedFileSystems, request: Request) -> Response:
    share = _share(systems, request)
    return Response({"export_locations": [export_view(request, share, export, False) for export in share.exports]})


def show_export(systems: SharedFileSystems, request: Request) -> Response:
    share = _share(systems, request)
    return Response({"export_location": export_view(request, share, export_of(share, request.vars["export_id"]))})


def act_on(systems: SharedFileSystems, request: Request) -> Response:
    return act(share_actions.INSTANCE_ACTIONS, systems, request, _share(systems, request))


def _snapshot(systems: SharedFileSystems, request: Request) -> Snapshot:
    return systems.snapshots.rows.require(request.vars["instance_id"])


def _snapshots(systems: SharedFileSystems, request: Request) -> list[Snapshot]:
    value = request.query.get("snapshot_id")
    return [row for row in systems.snapshots.rows if value in (None, row.id)]


def list_snapshots(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"snapshot_instances": [snapshot_instance_summary(row) for row in _snapshots(systems, request)]})


def list_snapshots_in_detail(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"snapshot_instances": [snapshot_instance_view(row) for row in _snapshots(systems, request)]})


def show_snapshot(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"snapshot_instance": snapshot_instance_view(_snapshot(systems, request))})


def act_on_snapshot(systems: SharedFileSystems, request: Request) -> Response:
    return act(snapshots.INSTANCE_ACTIONS, systems, request, _snapshot(systems, request))
