"""The reservation service: its table of routes."""

from __future__ import annotations

from typing import Any, ClassVar

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Microversions, Records, Service
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Collection, Record, public
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.reservation.addresses import Addresses
from openstack_emulator.reservation.calendar import Calendar
from openstack_emulator.reservation.compute_kinds import FlavorReservations, HostReservations, InstanceReservations
from openstack_emulator.reservation.dates import STAMP
from openstack_emulator.reservation.events import BEFORE_END, END, START, Events
from openstack_emulator.reservation.hosts import Hosts, fields_of
from openstack_emulator.reservation.kinds import AddressReservations
from openstack_emulator.reservation.leases import Leases

VERSIONS = Microversions("reservation", (1, 0), (1, 0), (1, 0))
READERS = ("reader", "member")
HIDDEN = frozenset({"before_end_date"})
"""Fields of a lease that its events show."""


class ReservationRecords(Records):
    """Hosts, floating IPs, and leases of them."""

    service = "blazar"
    not_found_messages: ClassVar = {"leases": "Object with {{'lease_id': '{}'}} not found"}

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        calendar = Calendar(self)
        self.hosts = hosts = Hosts(self, calendar)
        addresses = Addresses(self, calendar)
        kinds = (
            HostReservations(self, calendar, hosts),
            InstanceReservations(self, calendar, hosts),
            FlavorReservations(self, calendar, hosts),
            AddressReservations(self, calendar, addresses),
        )
        events = Events(self, calendar.leases.get)
        leases = Leases(self, calendar, kinds, events)
        events.actions = {START: leases.begin, BEFORE_END: leases.warn, END: leases.finish}
        events.on_failed_start = leases.fail

    def seed(self) -> None:
        self.hosts.seed()


def _lease_view(leases: Leases, lease: Record) -> dict[str, Any]:
    shown = {name: value for name, value in public(lease).items() if name not in HIDDEN}
    reservations = [public(reservation) for reservation in leases.reservations_of(lease)]
    return {**shown, "reservations": reservations, "events": [public(event) for event in leases.events.of(lease)]}


def list_leases(leases: Leases, request: Request) -> Response:
    request.context.require(*READERS)
    return Response({"leases": [_lease_view(leases, lease) for lease in leases.listed(request.context)]})


def create_lease(leases: Leases, request: Request) -> Response:
    request.context.require("member")
    return Response({"lease": _lease_view(leases, leases.create(request))}, 201)


def _lease(leases: Leases, request: Request) -> Record:
    request.context.require(*READERS if request.method == "GET" else ("member",))
    return leases.find(request.context, request.vars["lease_id"])


def show_lease(leases: Leases, request: Request) -> Response:
    return Response({"lease": _lease_view(leases, _lease(leases, request))})


def change_lease(leases: Leases, request: Request) -> Response:
    lease = _lease(leases, request)
    leases.change(lease, request.json)
    return Response({"lease": {**_lease_view(leases, lease), "status": "UPDATING"}})


def delete_lease(leases: Leases, request: Request) -> Response:
    leases.remove(_lease(leases, request))
    return Response(status=204)


def list_hosts(hosts: Hosts, request: Request) -> Response:
    request.context.require()
    return Response({"hosts": [fields_of(host) for host in hosts.rows]})


def create_host(hosts: Hosts, request: Request) -> Response:
    request.context.require()
    return Response({"host": fields_of(hosts.create(request))}, 201)


def _host(hosts: Hosts, request: Request) -> Record:
    request.context.require()
    return hosts.rows.require(request.vars["host_id"])


def show_host(hosts: Hosts, request: Request) -> Response:
    return Response({"host": fields_of(_host(hosts, request))})


def change_host(hosts: Hosts, request: Request) -> Response:
    host = _host(hosts, request)
    hosts.change(host, request.json)
    return Response({"host": fields_of(host)})


def delete_host(hosts: Hosts, request: Request) -> Response:
    hosts.remove(_host(hosts, request))
    return Response(status=204)


def _property_view(row: Record) -> dict[str, Any]:
    return {"id": row["_key"], "property": row["id"], **{name: row[name] for name in ("created_at", "updated_at")}}


def list_properties(hosts: Hosts, request: Request) -> Response:
    """The names of capabilities: `all` shows the private ones too, `detail` shows values and what is private."""
    show_all, detail = request.query.boolean("all"), request.query.boolean("detail")
    if show_all:
        request.context.require()
    rows = [row for row in hosts.properties if show_all or not row["private"]]
    if not detail:
        return Response({"resource_properties": [{"property": row["id"]} for row in rows]})
    shown = []
    for row in rows:
        values = {host["capabilities"][row["id"]] for host in hosts.rows if row["id"] in host["capabilities"]}
        shown.append({**_property_view(row), "private": row["private"], "values": sorted(values)})
    return Response({"resource_properties": shown})


def change_property(hosts: Hosts, request: Request) -> Response:
    request.context.require()
    row, given = hosts.properties.get(request.vars["name"]), request.json
    if row is None:
        raise not_found(f"Resource property {request.vars['name']} does not exist.")
    if not isinstance(given, dict) or given.keys() != {"private"} or not isinstance(given["private"], bool):
        raise bad_request("The request body must be a JSON object with the boolean private.")
    hosts.properties.update(row, private=given["private"], updated_at=hosts.records.timestamp(STAMP))
    return Response({"resource_property": {**_property_view(row), "private": row["private"]}})


def _allocation(calendar: Calendar, request: Request, key: str) -> dict[str, Any]:
    """The reservations of a resource; the query selects them by `lease_id` and `reservation_id`."""
    wanted = {name: request.query.get(name) for name in ("lease_id", "reservation_id")}
    found = []
    for reservation in calendar.of_resource(key):
        lease = calendar.lease_of(reservation)
        shown = {"id": reservation["id"], "lease_id": lease["id"]}
        dates = {name: lease[name] for name in ("start_date", "end_date")}
        if wanted["lease_id"] in (None, lease["id"]) and wanted["reservation_id"] in (None, reservation["id"]):
            found.append({**shown, **dates})
    return {"resource_id": key, "reservations": found}


def list_host_allocations(hosts: Hosts, request: Request) -> Response:
    return _allocations(hosts, hosts.rows, request)


def list_address_allocations(addresses: Addresses, request: Request) -> Response:
    return _allocations(addresses, addresses.rows, request)


def _allocations(component: Hosts | Addresses, rows: Collection, request: Request) -> Response:
    request.context.require()
    calendar = component.records.component(Calendar)
    return Response({"allocations": [_allocation(calendar, request, row["id"]) for row in rows]})


def show_host_allocation(hosts: Hosts, request: Request) -> Response:
    host = _host(hosts, request)
    return Response({"allocation": _allocation(hosts.records.component(Calendar), request, host["id"])})


def list_addresses(addresses: Addresses, request: Request) -> Response:
    request.context.require(*READERS)
    return Response({"floatingips": [public(row) for row in addresses.rows]})


def create_address(addresses: Addresses, request: Request) -> Response:
    request.context.require()
    return Response({"floatingip": public(addresses.create(request))}, 201)


def _address(addresses: Addresses, request: Request) -> Record:
    request.context.require(*READERS if request.method == "GET" else ())
    return addresses.rows.require(request.vars["address_id"])


def show_address(addresses: Addresses, request: Request) -> Response:
    return Response({"floatingip": public(_address(addresses, request))})


def delete_address(addresses: Addresses, request: Request) -> Response:
    addresses.remove(_address(addresses, request))
    return Response(status=204)


_VERSION = ApiVersion("v1.0", (own("/v1"),))


ROUTES = merged(
    using(
        Leases,
        {
            "/leases": {"GET": list_leases, "POST": create_lease},
            "/leases/{lease_id}": {"GET": show_lease, "PUT": change_lease, "DELETE": delete_lease},
        },
    ),
    using(
        Hosts,
        {
            "/os-hosts": {"GET": list_hosts, "POST": create_host},
            "/os-hosts/{host_id}": {"GET": show_host, "PUT": change_host, "DELETE": delete_host},
            "/os-hosts/allocations": {"GET": list_host_allocations},
            "/os-hosts/{host_id}/allocation": {"GET": show_host_allocation},
            "/os-hosts/properties": {"GET": list_properties},
            "/os-hosts/properties/{name}": {"PATCH": change_property},
        },
    ),
    using(
        Addresses,
        {
            "/floatingips": {"GET": list_addresses, "POST": create_address},
            "/floatingips/{address_id}": {"GET": show_address, "DELETE": delete_address},
            "/floatingips/allocations": {"GET": list_address_allocations},
        },
    ),
)

_NAMES = {"leases": "leases", "os-hosts": "oshosts", "floatingips": "floatingips"}
RULES = {
    f"{method} {pattern}": f"blazar:{_NAMES[pattern.split('/')[1]]}:{method.lower()}"
    for pattern, methods in ROUTES.items()
    for method in methods
}
"""Routes and the rules of the service's policy."""

RESERVATION = Service(
    name="blazar",
    mount="/reservation",
    records=ReservationRecords,
    endpoints={"reservation": "/reservation/v1"},
    prefixes=("/v1",),
    routes=ROUTES,
    root={"/": {"GET": all_versions(_VERSION)}},
    public=frozenset({"GET /"}),
    identified_after_token=True,
    error_body=error_bodies.blazar,
    microversions=VERSIONS,
    rules=RULES,
    refusal="Policy doesn't allow {rule} to be performed",
)
