"""Moves of servers between hosts over HTTP."""

from __future__ import annotations

from functools import partial
from typing import Any

from openstack_emulator.compute.records import Migration
from openstack_emulator.compute.routes.bodies import found
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.views import links
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page


def _migration_view(request: Request, row: Migration) -> dict[str, object]:
    view: dict[str, Any] = {
        "id": row.number,
        "status": row.status,
        "instance_uuid": row.server_id,
        "source_compute": row.source,
        "source_node": row.source,
        "dest_compute": row.target,
        "dest_node": row.target,
        "dest_host": row.target,
        "old_instance_type_id": 1,
        "new_instance_type_id": 1,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
    if request.version >= (2, 23):
        server = links(request, "servers", row.server_id)
        view |= {"migration_type": row.kind, "links": server}
    if request.version >= (2, 59):
        view |= {"uuid": row.id}
    if request.version >= (2, 80):
        view |= {"user_id": row.user_id, "project_id": row.project_id}
    return view


def list_migrations(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    rows = list(compute.actions.migrations.rows)[::-1]
    for name, field in (
        ("status", "status"),
        ("instance_uuid", "server_id"),
        ("migration_type", "kind"),
        ("source_compute", "source"),
        ("user_id", "user_id"),
        ("project_id", "project_id"),
    ):
        if (value := request.query.get(name)) is not None:
            rows = [row for row in rows if row.get(field) == value]
    if (host := request.query.get("host")) is not None:
        rows = [row for row in rows if host in (row.source, row.target)]
    shown = page(rows, request.query)
    return Response(shown.body(request, "migrations", partial(_migration_view, request)))


def list_server_migrations(compute: ComputeService, request: Request) -> Response:
    """The live migrations of a server that are in progress."""
    request.context.require()
    if request.version < (2, 23):
        raise ApiError(404, "The resource could not be found.")
    server = found(compute, request)
    rows = compute.actions.migrations.rows.select(server_id=server.id, status="running")
    return Response({"migrations": [_migration_view(request, row) for row in rows]})
