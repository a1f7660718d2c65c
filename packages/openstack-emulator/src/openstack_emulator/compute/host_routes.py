"""Zones, hypervisors, services, aggregates and migrations over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.compute.hosts import INTERNAL_ZONE, Aggregates, Hosts
from openstack_emulator.compute.migrations import Migrations
from openstack_emulator.compute.moves import Moves
from openstack_emulator.compute.tables import missing
from openstack_emulator.compute.views import aggregate_detail, links
from openstack_emulator.core import fields
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.store import Collection, Record


def list_zones(aggregates: Aggregates, request: Request) -> Response:
    rows = [{"zoneName": zone, "zoneState": {"available": True}, "hosts": None} for zone in aggregates.zones()]
    return Response({"availabilityZoneInfo": rows})


def list_zones_detail(aggregates: Aggregates, request: Request) -> Response:
    request.context.require()
    zones: dict[str, dict[str, dict[str, Any]]] = {INTERNAL_ZONE: {}}
    for service in aggregates.hosts.services:
        zone = aggregates.zone_of_service(service)
        state = {"available": True, "active": not service["disabled"], "updated_at": aggregates.moment()}
        zones.setdefault(zone, {}).setdefault(service["host"], {})[service["binary"]] = state
    rows = [{"zoneName": zone, "zoneState": {"available": True}, "hosts": hosts} for zone, hosts in zones.items()]
    return Response({"availabilityZoneInfo": rows})


def _host_view(hosts: Hosts, request: Request, host: Record, detailed: bool) -> dict[str, Any]:
    service = hosts.service_of(host["id"])
    by_uuid = request.version >= (2, 53)
    view: dict[str, Any] = {
        "id": host["uuid"] if by_uuid else host["number"],
        "hypervisor_hostname": host["id"],
        "state": "down" if service is not None and service["forced_down"] else "up",
        "status": "disabled" if service is not None and service["disabled"] else "enabled",
    }
    if by_uuid and request.query.boolean("with_servers"):
        servers = hosts.servers_on(host["id"])
        view["servers"] = [{"name": f"instance-{row['number']:08x}", "uuid": row["id"]} for row in servers]
    if not detailed:
        return view
    view |= {
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8000000,
        "host_ip": f"192.168.100.{10 + host['number']}",
        "service": {
            "id": service["id"] if by_uuid else service["number"],
            "host": host["id"],
            "disabled_reason": service["disabled_reason"],
        }
        if service is not None
        else {},
    }
    if request.version >= (2, 88):
        return {**view, "uptime": None}
    return {**view, **_capacity(hosts, host), "cpu_info": {} if request.version >= (2, 28) else "{}"}


def _capacity(hosts: Hosts, host: Record) -> dict[str, Any]:
    used = hosts.usage(host["id"])
    return {
        **{field: host[field] for field in ("vcpus", "memory_mb", "local_gb")},
        **used,
        "free_ram_mb": host["memory_mb"] - used["memory_mb_used"],
        "free_disk_gb": host["local_gb"] - used["local_gb_used"],
        "disk_available_least": host["local_gb"] - used["local_gb_used"],
        "current_workload": 0,
    }


def _hypervisors(hosts: Hosts, request: Request, detailed: bool) -> Response:
    request.context.require()
    rows = list(hosts.rows)
    pattern = request.query.get("hypervisor_hostname_pattern")
    if pattern is not None:
        rows = [row for row in rows if pattern in row["id"]]
        if not rows:
            raise not_found(f"No hypervisor matching '{pattern}' could be found.")
    shown = page(rows, request.query, key="uuid")
    body: dict[str, Any] = {"hypervisors": [_host_view(hosts, request, row, detailed) for row in shown.rows]}
    if shown.next_marker is not None:
        body["hypervisors_links"] = shown.links(request)
    return Response(body)


def list_hypervisors(hosts: Hosts, request: Request) -> Response:
    return _hypervisors(hosts, request, detailed=False)


def list_hypervisors_detail(hosts: Hosts, request: Request) -> Response:
    return _hypervisors(hosts, request, detailed=True)


def _hypervisor(hosts: Hosts, request: Request) -> Record:
    request.context.require()
    key, field = request.vars["hypervisor_id"], "uuid" if request.version >= (2, 53) else "number"
    host = next((row for row in hosts.rows if str(row[field]) == key), None)
    if host is None:
        raise not_found(f"Hypervisor with ID '{key}' could not be found.")
    return host


def show_hypervisor(hosts: Hosts, request: Request) -> Response:
    return Response({"hypervisor": _host_view(hosts, request, _hypervisor(hosts, request), detailed=True)})


def hypervisor_uptime(hosts: Hosts, request: Request) -> Response:
    view = _host_view(hosts, request, _hypervisor(hosts, request), detailed=False)
    return Response({"hypervisor": {**view, "uptime": "up 1 day,  0:00,  0 users,  load average: 0.00, 0.00, 0.00"}})


def hypervisor_statistics(hosts: Hosts, request: Request) -> Response:
    request.context.require()
    rows = [_capacity(hosts, host) for host in hosts.rows]
    total = {field: sum(row[field] for row in rows) for field in rows[0]}
    return Response({"hypervisor_statistics": {"count": len(rows), **total}})


def _search(hosts: Hosts, request: Request) -> list[Record]:
    request.context.require()
    pattern = request.vars["hypervisor_id"]
    rows = [row for row in hosts.rows if pattern in row["id"]]
    if not rows:
        raise not_found(f"No hypervisor matching '{pattern}' could be found.")
    return rows


def search_hypervisors(hosts: Hosts, request: Request) -> Response:
    rows = _search(hosts, request)
    return Response({"hypervisors": [_host_view(hosts, request, row, detailed=False) for row in rows]})


def hypervisor_servers(hosts: Hosts, request: Request) -> Response:
    views = []
    for host in _search(hosts, request):
        servers = hosts.servers_on(host["id"])
        rows = [{"name": f"instance-{row['number']:08x}", "uuid": row["id"]} for row in servers]
        views.append({**_host_view(hosts, request, host, detailed=False), **({"servers": rows} if rows else {})})
    return Response({"hypervisors": views})


def _service_view(aggregates: Aggregates, request: Request, service: Record) -> dict[str, Any]:
    view = {
        "id": service["id"] if request.version >= (2, 53) else service["number"],
        "binary": service["binary"],
        "host": service["host"],
        "zone": aggregates.zone_of_service(service),
        "status": "disabled" if service["disabled"] else "enabled",
        "state": "down" if service["forced_down"] else "up",
        "updated_at": aggregates.moment(),
        "disabled_reason": service["disabled_reason"],
    }
    if request.version >= (2, 11):
        view["forced_down"] = service["forced_down"]
    return view


def list_services(aggregates: Aggregates, request: Request) -> Response:
    request.context.require()
    host, binary = request.query.get("host"), request.query.get("binary")
    rows = [row for row in aggregates.hosts.services if host in (None, row["host"]) and binary in (None, row["binary"])]
    return Response({"services": [_service_view(aggregates, request, row) for row in rows]})


def update_service(aggregates: Aggregates, request: Request) -> Response:
    """By id since 2.53; before, `enable`, `disable`, `disable-log-reason` and `force-down` by host and binary."""
    request.context.require()
    services = aggregates.hosts.services
    key, wanted = request.vars["service_id"], request.json
    if request.version >= (2, 53):
        service = services.require(key)
        checks = {
            "status": fields.one_of("enabled", "disabled"),
            "disabled_reason": fields.text(1),
            "forced_down": fields.boolean,
        }
        fields.check_fields(wanted, checks)
        _change_service(services, service, wanted)
        return Response({"service": _service_view(aggregates, request, service)})
    changes = {"enable": "enabled", "disable": "disabled", "disable-log-reason": "disabled"}
    fields.check_fields(wanted, {}, ("host", "binary"), strict=False)
    found = services.first(host=wanted["host"], binary=wanted["binary"])
    if found is None:
        raise missing("services", wanted["binary"])
    if key == "force-down" and request.version >= (2, 11):
        _change_service(services, found, {"forced_down": wanted.get("forced_down", True)})
        return Response(
            {"service": {"host": found["host"], "binary": found["binary"], "forced_down": found["forced_down"]}}
        )
    if key not in changes:
        raise not_found("Unknown action")
    _change_service(services, found, {**wanted, "status": changes[key]})
    view = {"host": found["host"], "binary": found["binary"], "status": changes[key]}
    return Response({"service": {**view, **({"disabled_reason": found["disabled_reason"]} if "log" in key else {})}})


def _change_service(services: Collection, service: Record, wanted: Record) -> None:
    status, reason = wanted.get("status"), wanted.get("disabled_reason")
    if reason is not None and status != "disabled":
        raise bad_request("Specifying disabled_reason is only allowed when status is disabled.")
    if status is not None:
        services.update(service, disabled=status == "disabled", disabled_reason=reason)
    if (down := fields.as_boolean(wanted.get("forced_down"))) is not None:
        services.update(service, forced_down=down)


def _aggregate(aggregates: Aggregates, request: Request) -> Record:
    request.context.require()
    return aggregates.rows.require(request.vars["aggregate_id"])


AGGREGATE = {"name": fields.name(), "availability_zone": fields.nullable(fields.text(1, 255, r"[^:]*"))}


def list_aggregates(aggregates: Aggregates, request: Request) -> Response:
    request.context.require()
    return Response({"aggregates": [aggregate_detail(request, row) for row in aggregates.rows]})


def create_aggregate(aggregates: Aggregates, request: Request) -> Response:
    request.context.require()
    wanted = request.object("aggregate")
    fields.check_fields(wanted, AGGREGATE, ("name",), "aggregate")
    view = aggregate_detail(request, aggregates.create(wanted["name"].strip(), wanted.get("availability_zone")))
    shown = {key: value for key, value in view.items() if key not in ("hosts", "metadata")}
    return Response({"aggregate": shown})


def show_aggregate(aggregates: Aggregates, request: Request) -> Response:
    return Response({"aggregate": aggregate_detail(request, _aggregate(aggregates, request))})


def update_aggregate(aggregates: Aggregates, request: Request) -> Response:
    aggregate, wanted = _aggregate(aggregates, request), request.object("aggregate")
    fields.check_fields(wanted, AGGREGATE, where="aggregate")
    if not wanted:
        raise fields.invalid("aggregate", wanted, "{} does not have enough properties")
    aggregates.update(aggregate, wanted)
    return Response({"aggregate": aggregate_detail(request, aggregate)})


def delete_aggregate(aggregates: Aggregates, request: Request) -> Response:
    aggregates.delete(_aggregate(aggregates, request))
    return Response(status=200)


def aggregate_action(aggregates: Aggregates, request: Request) -> Response:
    aggregate, body = _aggregate(aggregates, request), request.json
    if not isinstance(body, dict) or len(body) != 1:
        raise bad_request("The body of an action must be an object with the name of the action as its only key.")
    [(name, arguments)] = body.items()
    if name in ("add_host", "remove_host"):
        fields.check_fields(arguments, {"host": fields.text(1)}, ("host",), name)
        change = aggregates.add_host if name == "add_host" else aggregates.remove_host
        change(aggregate, arguments["host"])
    elif name == "set_metadata":
        checks = {"metadata": fields.text_map(null_values=True, key_form=r"[a-zA-Z0-9\-_:. ]{1,255}")}
        fields.check_fields(arguments, checks, ("metadata",), name)
        aggregates.set_metadata(aggregate, arguments["metadata"])
    else:
        raise bad_request(f"There is no such action: {name}")
    return Response({"aggregate": aggregate_detail(request, aggregate)})


def _migration_view(request: Request, row: Record) -> dict[str, Any]:
    view = {
        "id": row["number"],
        "status": row["status"],
        "instance_uuid": row["server_id"],
        "source_compute": row["source"],
        "source_node": row["source"],
        "dest_compute": row["target"],
        "dest_node": row["target"],
        "dest_host": row["target"],
        "old_instance_type_id": 1,
        "new_instance_type_id": 1,
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }
    if request.version >= (2, 23):
        server = links(request, "servers", row["server_id"])
        view |= {"migration_type": row["kind"], "links": server}
    if request.version >= (2, 59):
        view["uuid"] = row["id"]
    if request.version >= (2, 80):
        view |= {"user_id": row["user_id"], "project_id": row["project_id"]}
    return view


def list_migrations(migrations: Migrations, request: Request) -> Response:
    request.context.require()
    rows = list(migrations.rows)[::-1]
    for name, field in (
        ("status", "status"),
        ("instance_uuid", "server_id"),
        ("migration_type", "kind"),
        ("source_compute", "source"),
        ("user_id", "user_id"),
        ("project_id", "project_id"),
    ):
        if (wanted := request.query.get(name)) is not None:
            rows = [row for row in rows if row[field] == wanted]
    if (host := request.query.get("host")) is not None:
        rows = [row for row in rows if host in (row["source"], row["target"])]
    shown = page(rows, request.query)
    body: dict[str, Any] = {"migrations": [_migration_view(request, row) for row in shown.rows]}
    if shown.next_marker is not None:
        body["migrations_links"] = shown.links(request)
    return Response(body)


def list_server_migrations(moves: Moves, request: Request) -> Response:
    """The live migrations of a server that are in progress."""
    request.context.require()
    if request.version < (2, 23):
        raise ApiError(404, "The resource could not be found.")
    server = moves.servers.find(request.context, request.vars["server_id"])
    rows = moves.migrations.rows.select(server_id=server["id"], status="running")
    return Response({"migrations": [_migration_view(request, row) for row in rows]})
