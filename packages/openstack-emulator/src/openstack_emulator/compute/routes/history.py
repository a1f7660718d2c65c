"""What was done to servers, over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.compute.records import Event
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.constants import missing
from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page

EVENT_NAMES = {
    "create": "compute__do_build_and_run_instance",
    "delete": "compute_terminate_instance",
    "stop": "compute_stop_instance",
    "start": "compute_start_instance",
    "reboot": "compute_reboot_instance",
    "rebuild": "compute_rebuild_instance",
    "resize": "compute_finish_resize",
    "attach_volume": "compute_attach_volume",
    "detach_volume": "compute_detach_volume",
    "extend_volume": "compute_extend_volume",
    "attach_interface": "compute_attach_interface",
    "detach_interface": "compute_detach_interface",
}


def _key(request: Request) -> str:
    """The server that the path names."""
    return request.vars["server_id"]


def _history(compute: ComputeService, request: Request) -> list[Event]:
    """The history of a server, latest entry first; since 2.21 also of a deleted one."""
    key = _key(request)
    rows = compute.reports.history.rows.select(server_id=key)[::-1]
    if key in compute.servers.rows or request.version < (2, 21) or not rows:
        compute.servers.find(request.context, key)
    elif not request.context.is_admin and rows[0].server_project_id != request.context.project_id:
        raise missing("servers", key)
    return rows


def _event_view(request: Request, event: Event) -> dict[str, Any]:
    view = {
        "action": event.action,
        "instance_uuid": event.server_id,
        "request_id": event.id,
        "user_id": event.user_id,
        "project_id": event.project_id,
        "start_time": event.start,
        "message": "Error" if event.result == "Error" else None,
    }
    if request.version >= (2, 58):
        view |= {"updated_at": event.updated}
    return view


def list_events(compute: ComputeService, request: Request) -> Response:
    rows = _history(compute, request)
    if request.version < (2, 58):
        return Response({"instanceActions": [_event_view(request, row) for row in rows]})
    shown = page(rows, request.query)
    body: dict[str, Any] = {"instanceActions": [_event_view(request, row) for row in shown.rows]}
    if shown.next_marker is not None:
        body |= {"links": shown.links(request)}
    return Response(body)


def show_event(compute: ComputeService, request: Request) -> Response:
    rows, key = _history(compute, request), request.vars["request_id"]
    event = next((row for row in rows if row.id == key), None)
    if event is None:
        raise not_found(f"Action for request_id {key} on instance {_key(request)} not found")
    view = _event_view(request, event)
    if request.context.is_admin or request.version >= (2, 51):
        view |= {"events": [_step_view(request, event)]}
    return Response({"instanceAction": view})


def _step_view(request: Request, event: Event) -> dict[str, Any]:
    view = {
        "event": EVENT_NAMES.get(event.action, f"compute_{event.action}_instance"),
        "start_time": event.start,
        "finish_time": event.finish,
        "result": event.result,
    }
    if request.context.is_admin or request.version < (2, 51):
        view |= {"traceback": None}
    if request.version >= (2, 62):
        view |= {"hostId": event.host or ""}
        if request.context.is_admin:
            view |= {"host": event.host}
    if request.version >= (2, 84) and request.context.is_admin:
        view |= {"details": event.message}
    return view
