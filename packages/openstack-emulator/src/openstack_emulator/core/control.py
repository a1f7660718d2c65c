"""The control API, at `/control`: fault rules, the journal of requests, the count of objects.

It needs no token and answers to loopback only: not to pages of other sites in a browser on this machine either, which
`Origin` and `Host` give away (forged requests, and names that a stranger's DNS points to loopback). Fault rules do not
apply to it.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from openstack_emulator.core.cloud import Handler, Records, Service
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.faults import parse_fault
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.urls import is_local


class ControlRecords(Records):
    """Nothing is kept: rules and journal live as long as the process."""

    service = "control"


def _refuse_unauthorized(request: Request) -> None:
    if request.guest or not ip_address(request.remote).is_loopback:
        raise forbidden("The control API answers to loopback only.")
    host, origin = request.headers.get("host"), request.headers.get("origin")
    if host is not None and not is_local(host):
        raise forbidden("The control API answers to names of this machine only: use 127.0.0.1 or localhost.")
    is_foreign = origin is not None and (not origin.startswith("http://") or origin.removeprefix("http://") != host)
    if is_foreign or request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise forbidden("The control API does not answer to pages of other sites.")


def _loopback(handler: Handler) -> Handler:
    def guarded(control: ControlRecords, request: Request) -> Response:
        _refuse_unauthorized(request)
        return handler(control, request)

    return guarded


def list_faults(control: ControlRecords, request: Request) -> Response:
    """The fault rules, in the order in which they were added."""
    return Response({"faults": control.cloud.faults.all()})


def add_fault(control: ControlRecords, request: Request) -> Response:
    """Add a fault rule; the answer has its ID. Raises ApiError 400."""
    fault = control.cloud.faults.add(parse_fault(request.json))
    return Response({"fault": {"id": fault.id}}, 201)


def clear_faults(control: ControlRecords, request: Request) -> Response:
    """Remove all fault rules."""
    control.cloud.faults.clear()
    return Response(status=204)


def remove_fault(control: ControlRecords, request: Request) -> Response:
    """Remove one fault rule. Raises ApiError 404."""
    if control.cloud.faults.remove(request.vars["fault_id"]) is None:
        raise not_found(f"No fault rule {request.vars['fault_id']}.")
    return Response(status=204)


def show_journal(control: ControlRecords, request: Request) -> Response:
    """The requests that changed something; parameters of the query select some."""
    return Response({"requests": control.cloud.journal.select(dict(request.query.pairs))})


def clear_journal(control: ControlRecords, request: Request) -> Response:
    """Forget the requests that changed something."""
    control.cloud.journal.clear()
    return Response(status=204)


def count_objects(control: ControlRecords, request: Request) -> Response:
    """`{"objects": {"nova": {"servers": {"count": 1, "ids": […]}}}}`, of one `?project_id=` if given."""
    project = request.query.get("project_id")
    objects: dict[str, dict[str, Any]] = {}
    control.cloud.open_all()
    for (service, name), table in control.cloud.store.tables.items():
        if not table.internal:
            ids = table.ids()
            if project is not None:
                ids = [record.id for record in table if record.get("project_id") == project]
            objects.setdefault(service, {})[name] = {"count": len(ids), "ids": ids}
    return Response({"objects": objects, "pending": len(control.cloud.transitions)})


def add_event(control: ControlRecords, request: Request) -> Response:
    """Announce an event, as a service's notification: `{"project_id": …, "event_type": …, "traits": {…}}`."""
    body = request.json
    if not isinstance(body, dict) or not all(isinstance(body.get(name), str) for name in ("project_id", "event_type")):
        raise bad_request("An event needs project_id and event_type.")
    if not isinstance(body.get("traits", {}), dict):
        raise bad_request("The traits of an event must be an object.")
    control.notify("aodh", "event", body["project_id"], body["event_type"], body.get("traits", {}))
    return Response(status=202)


def evaluate_alarms(control: ControlRecords, request: Request) -> Response:
    """Let the alarming service evaluate all alarms now, besides its regular evaluations."""
    control.notify("aodh", "evaluate")
    return Response(status=202)


ROUTES: dict[str, dict[str, Handler]] = {
    "/evaluations": {"POST": evaluate_alarms},
    "/events": {"POST": add_event},
    "/faults": {"GET": list_faults, "POST": add_fault, "DELETE": clear_faults},
    "/faults/{fault_id}": {"DELETE": remove_fault},
    "/journal": {"GET": show_journal, "DELETE": clear_journal},
    "/objects": {"GET": count_objects},
}

CONTROL = Service(
    name="control",
    mount="/control",
    records=ControlRecords,
    endpoints={},
    routes={
        path: {method: _loopback(handler) for method, handler in methods.items()} for path, methods in ROUTES.items()
    },
    optional_token=True,
)
