"""What other services and operators report to Nova: external events, assisted snapshots, hosts as before 2.43."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from openstack_emulator.compute.block_devices import BlockDevices
from openstack_emulator.compute.hosts import Aggregates, Hosts
from openstack_emulator.compute.states import RUNNING, SHUT_DOWN
from openstack_emulator.core import fields
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.store import Record

EVENTS: dict[str, Version] = {
    "network-changed": (2, 1),
    "network-vif-plugged": (2, 1),
    "network-vif-unplugged": (2, 1),
    "network-vif-deleted": (2, 1),
    "volume-extended": (2, 51),
    "power-update": (2, 76),
    "accelerator-request-bound": (2, 82),
    "volume-reimaged": (2, 93),
}
"""Names of events and the microversions that brought them."""
EVENT_STATUS = ("failed", "completed", "in-progress")
POWERED = {"POWER_ON": ("active", RUNNING), "POWER_OFF": ("stopped", SHUT_DOWN)}
TAGGED = frozenset({"volume-extended", "power-update", "accelerator-request-bound", "volume-reimaged"})
SWITCH = fields.one_of("enable", "disable")


def take_events(devices: BlockDevices, request: Request) -> Response:
    """Events about servers. A change of power, which bare metal reports, changes a server; a larger volume makes its
    disk larger.

    200 when all were taken, 207 when some were, 404 when no server was found.
    """
    request.context.require("service")
    rows = (request.json if isinstance(request.json, dict) else {}).get("events")
    if not isinstance(rows, list) or not rows:
        raise fields.invalid("events", rows, "a list of events with one member at least is needed")
    for row in rows:
        _check_event(request, row)
    answers = [_take_event(devices, row) for row in rows]
    codes = {answer["code"] for answer in answers}
    if codes == {404}:
        raise not_found("No instances found for any event")
    return Response({"events": answers}, 200 if codes == {200} else 207)


def _check_event(request: Request, row: Any) -> None:
    names = [name for name, version in EVENTS.items() if request.version >= version]
    checks = {
        "name": fields.one_of(*names),
        "server_uuid": fields.identifier,
        "status": fields.one_of(*EVENT_STATUS),
        "tag": fields.text(),
    }
    fields.check_fields(row, checks, ("name", "server_uuid"), "events")
    if row["name"] in TAGGED and not row.get("tag"):
        raise bad_request(f"Event {row['name']} needs a tag.")
    if row["name"] == "power-update" and row["tag"] not in POWERED:
        raise bad_request(f"The tag of power-update must be one of {', '.join(POWERED)}.")


def _take_event(devices: BlockDevices, event: Record) -> Record:
    answer = {"status": "completed", **event, "code": 200}
    server = devices.servers.rows.get(event["server_uuid"])
    if server is None:
        return {**answer, "status": "failed", "code": 404}
    if server["host"] is None:
        return {**answer, "status": "failed", "code": 422}
    if event["name"] == "power-update" and server["vm_state"] in ("active", "stopped"):
        state, power = POWERED[event["tag"]]
        devices.servers.touch(server, vm_state=state, power_state=power)
    if event["name"] == "volume-extended":
        devices.volume_extended(server["id"], event["tag"])
    return answer


def begin_snapshot(devices: BlockDevices, request: Request) -> Response:
    """A snapshot that Cinder leaves to Nova: of a volume that a server has, in a file beside it."""
    request.context.require("service")
    wanted = request.object("snapshot")
    fields.check_fields(
        wanted, {"volume_id": fields.text(1), "create_info": fields.anything}, ("volume_id", "create_info"), "snapshot"
    )
    checks = {
        "snapshot_id": fields.text(1),
        "type": fields.one_of("qcow2"),
        "new_file": fields.text(1),
        "id": fields.text(1),
    }
    info = wanted["create_info"]
    fields.check_fields(info, checks, ("snapshot_id", "type", "new_file"), "create_info")
    _require_attached(devices, wanted["volume_id"])
    return Response({"snapshot": {"id": info.get("id"), "volumeId": wanted["volume_id"]}})


def end_snapshot(devices: BlockDevices, request: Request) -> Response:
    request.context.require("service")
    try:
        info = orjson.loads(request.query.get("delete_info") or "")
    except orjson.JSONDecodeError as error:
        raise bad_request(f"delete_info must be a JSON object: {error}.") from None
    fields.check_fields(info, {"volume_id": fields.text(1)}, ("volume_id",), "delete_info", strict=False)
    _require_attached(devices, info["volume_id"])
    return Response(status=204)


def _require_attached(devices: BlockDevices, volume_id: str) -> None:
    if devices.rows.first(volume_id=volume_id) is None:
        raise bad_request(f"Volume {volume_id} is not attached to any server.")


def list_hosts(aggregates: Aggregates, request: Request) -> Response:
    """Every service of every host."""
    request.context.require()
    zone, wanted = request.query.get("zone"), request.query.get("service")
    rows = [
        {
            "host_name": service["host"],
            "service": service["binary"].removeprefix("nova-"),
            "zone": aggregates.zone_of_service(service),
        }
        for service in aggregates.hosts.services
    ]
    shown = [row for row in rows if (not zone or row["zone"] == zone) and wanted in (None, row["service"])]
    return Response({"hosts": shown})


def _host(hosts: Hosts, request: Request) -> Record:
    request.context.require()
    return hosts.rows.require(request.vars["host"])


def show_host(hosts: Hosts, request: Request) -> Response:
    """What a host has, what is in use, and by whom."""
    host = _host(hosts, request)
    used = hosts.usage(host["id"])
    by_project: dict[str, list[Record]] = {}
    for server in hosts.servers_on(host["id"]):
        by_project.setdefault(server["project_id"], []).append(server["flavor"])
    everything = [flavor for flavors in by_project.values() for flavor in flavors]
    totals = {
        "(total)": (host["vcpus"], host["memory_mb"], host["local_gb"]),
        "(used_now)": (used["vcpus_used"], used["memory_mb_used"], used["local_gb_used"]),
        "(used_max)": _sizes(everything),
        **{project: _sizes(flavors) for project, flavors in by_project.items()},
    }
    rows = [
        {"resource": {"host": host["id"], "project": project, "cpu": cpu, "memory_mb": memory, "disk_gb": disk}}
        for project, (cpu, memory, disk) in totals.items()
    ]
    return Response({"host": rows})


def _sizes(flavors: list[Record]) -> tuple[int, int, int]:
    return (
        sum(flavor["vcpus"] for flavor in flavors),
        sum(flavor["ram"] for flavor in flavors),
        sum(flavor["disk"] + flavor["ephemeral"] for flavor in flavors),
    )


def update_host(hosts: Hosts, request: Request) -> Response:
    """Enable or disable the hosts service of a host. Its hypervisors have no maintenance mode."""
    request.context.require()
    wanted = request.json
    fields.check_fields(wanted, {"status": SWITCH, "maintenance_mode": SWITCH}, where="host")
    if not wanted:
        raise bad_request("One of status and maintenance_mode is needed.")
    host = _host(hosts, request)
    if "maintenance_mode" in wanted:
        raise _unsupported("a maintenance mode")
    service = hosts.service_of(host["id"])
    if service is not None:
        hosts.services.update(service, disabled=wanted["status"] == "disable", disabled_reason=None)
    return Response({"host": host["id"], "status": f"{wanted['status']}d"})


def power(what: str) -> Callable[[Hosts, Request], Response]:
    """An action on the power of a host, which libvirt does not support."""

    def act(hosts: Hosts, request: Request) -> Response:
        _host(hosts, request)
        raise _unsupported(what)

    return act


def _unsupported(what: str) -> ApiError:
    return ApiError(501, f"The hypervisors of this cloud have no {what}.")


SERVICE_ROUTES = using(
    BlockDevices,
    {
        "/os-server-external-events": {"POST": take_events},
        "/os-assisted-volume-snapshots": {"POST": begin_snapshot},
        "/os-assisted-volume-snapshots/{snapshot_id}": {"DELETE": end_snapshot},
    },
)
HOST_ROUTES = merged(
    using(Aggregates, {"/os-hosts": {"GET": list_hosts}}),
    using(
        Hosts,
        {
            "/os-hosts/{host}": {"GET": show_host, "PUT": update_host},
            **{f"/os-hosts/{{host}}/{what}": {"GET": power(what)} for what in ("startup", "shutdown", "reboot")},
        },
    ),
)
"""Calls that microversion 2.43 removed."""
