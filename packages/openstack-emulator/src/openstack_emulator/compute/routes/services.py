"""The processes of Nova over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.compute.records import ServiceProcess
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.constants import missing
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields


def _service_view(compute: ComputeService, request: Request, service: ServiceProcess) -> dict[str, object]:
    view: dict[str, Any] = {
        "id": service.id if request.version >= (2, 53) else service.number,
        "binary": service.binary,
        "host": service.host,
        "zone": compute.aggregates.zone_of_service(service),
        "status": "disabled" if service.disabled else "enabled",
        "state": "down" if service.forced_down else "up",
        "updated_at": compute.servers.moment(),
        "disabled_reason": service.disabled_reason,
    }
    if request.version >= (2, 11):
        view |= {"forced_down": service.forced_down}
    return view


def list_services(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    host, binary = request.query.get("host"), request.query.get("binary")
    rows = [row for row in compute.hosts.services if host in (None, row.host) and binary in (None, row.binary)]
    return Response({"services": [_service_view(compute, request, row) for row in rows]})


def update_service(compute: ComputeService, request: Request) -> Response:
    """By id since 2.53; before, `enable`, `disable`, `disable-log-reason` and `force-down` by host and binary."""
    request.context.require()
    services = compute.hosts.services
    key, body = request.vars["service_id"], request.json
    if request.version >= (2, 53):
        service = services.require(key)
        checks = {
            "status": fields.one_of("enabled", "disabled"),
            "disabled_reason": fields.text(1),
            "forced_down": fields.boolean,
        }
        check_fields(body, checks)
        _change_service(services, service, body)
        return Response({"service": _service_view(compute, request, service)})
    changes = {"enable": "enabled", "disable": "disabled", "disable-log-reason": "disabled"}
    check_fields(body, {}, ("host", "binary"), strict=False)
    host, binary = body.get("host"), body.get("binary")
    found = services.first(host=host, binary=binary)
    if found is None:
        raise missing("services", binary)
    if key == "force-down" and request.version >= (2, 11):
        _change_service(services, found, {"forced_down": body.get("forced_down", True)})
        return Response({"service": {"host": found.host, "binary": found.binary, "forced_down": found.forced_down}})
    if key not in changes:
        raise not_found("Unknown action")
    _change_service(services, found, {**body, "status": changes[key]})
    view = {"host": found.host, "binary": found.binary, "status": changes[key]}
    return Response({"service": {**view, **({"disabled_reason": found.disabled_reason} if "log" in key else {})}})


def _change_service(services: Table[ServiceProcess], service: ServiceProcess, body: Mapping[str, object]) -> None:
    status, reason = body.get("status"), body.get("disabled_reason")
    if reason is not None and status != "disabled":
        raise bad_request("Specifying disabled_reason is only allowed when status is disabled.")
    if status is not None:
        services.update(service, disabled=status == "disabled", disabled_reason=reason)
    if (down := as_boolean(body.get("forced_down"))) is not None:
        services.update(service, forced_down=down)
