"""Availability zones, and aggregates of hosts, over HTTP."""

from __future__ import annotations

from openstack_emulator.compute.records import Aggregate
from openstack_emulator.compute.rules.aggregates import INTERNAL_ZONE
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.views import aggregate_detail
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields, invalid


def list_zones(compute: ComputeService, request: Request) -> Response:
    rows = [{"zoneName": zone, "zoneState": {"available": True}, "hosts": None} for zone in compute.aggregates.zones()]
    return Response({"availabilityZoneInfo": rows})


def list_zones_detail(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    zones: dict[str, dict[str, dict[str, object]]] = {INTERNAL_ZONE: {}}
    for service in compute.hosts.services:
        zone = compute.aggregates.zone_of_service(service)
        state = {"available": True, "active": not service.disabled, "updated_at": compute.servers.moment()}
        zones.setdefault(zone, {}).setdefault(service.host, {})[service.binary] = state
    rows = [{"zoneName": zone, "zoneState": {"available": True}, "hosts": hosts} for zone, hosts in zones.items()]
    return Response({"availabilityZoneInfo": rows})


def _aggregate(compute: ComputeService, request: Request) -> Aggregate:
    request.context.require()
    return compute.aggregates.rows.require(request.vars["aggregate_id"])


AGGREGATE = {"name": fields.name(), "availability_zone": fields.nullable(fields.text(1, 255, r"[^:]*"))}


def list_aggregates(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    return Response({"aggregates": [aggregate_detail(request, row) for row in compute.aggregates.rows]})


def create_aggregate(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    body = request.object("aggregate")
    check_fields(body, AGGREGATE, ("name",), "aggregate")
    view = aggregate_detail(request, compute.aggregates.create(body["name"].strip(), body.get("availability_zone")))
    shown = {key: value for key, value in view.items() if key not in ("hosts", "metadata")}
    return Response({"aggregate": shown})


def show_aggregate(compute: ComputeService, request: Request) -> Response:
    return Response({"aggregate": aggregate_detail(request, _aggregate(compute, request))})


def update_aggregate(compute: ComputeService, request: Request) -> Response:
    aggregate, body = _aggregate(compute, request), request.object("aggregate")
    check_fields(body, AGGREGATE, where="aggregate")
    if not body:
        raise invalid("aggregate", body, "{} does not have enough properties")
    compute.aggregates.update(aggregate, body)
    return Response({"aggregate": aggregate_detail(request, aggregate)})


def delete_aggregate(compute: ComputeService, request: Request) -> Response:
    compute.aggregates.delete(_aggregate(compute, request))
    return Response(status=200)


def aggregate_action(compute: ComputeService, request: Request) -> Response:
    aggregate, body = _aggregate(compute, request), request.json
    if not isinstance(body, dict) or len(body) != 1:
        raise bad_request("The body of an action must be an object with the name of the action as its only key.")
    [(name, arguments)] = body.items()
    if name in ("add_host", "remove_host"):
        check_fields(arguments, {"host": fields.text(1)}, ("host",), name)
        change = compute.aggregates.add_host if name == "add_host" else compute.aggregates.remove_host
        change(aggregate, arguments.get("host"))
    elif name == "set_metadata":
        checks = {"metadata": fields.text_map(null_values=True, key_form=r"[a-zA-Z0-9\-_:. ]{1,255}")}
        check_fields(arguments, checks, ("metadata",), name)
        compute.aggregates.set_metadata(aggregate, arguments.get("metadata"))
    else:
        raise bad_request(f"There is no such action: {name}")
    return Response({"aggregate": aggregate_detail(request, aggregate)})
