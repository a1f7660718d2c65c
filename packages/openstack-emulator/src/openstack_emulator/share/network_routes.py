"""Share networks and security services over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.component import visible
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.filters import Filter, equal, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.store import Record
from openstack_emulator.share.lists import COMMON, LIKE, created_within, listing
from openstack_emulator.share.networks import NETWORK_PLACE, SecurityServices, ShareNetworks
from openstack_emulator.share.refusals import invalid_input, member
from openstack_emulator.share.share_routes import METADATA, NO_ITEM, OTHER_KEY
from openstack_emulator.share.views import SINCE_SUBNETS_IN_ZONE, SUBNET_FIELDS, network_view, subnet_view

TEXT = fields.nullable(fields.text())
PLACE = dict.fromkeys(NETWORK_PLACE, TEXT)
NETWORK = {"name": TEXT, "description": TEXT, **PLACE}
SUBNET = {"availability_zone": TEXT, "metadata": fields.nullable(METADATA), **PLACE}
SERVICE_TYPES = ("active_directory", "ldap", "kerberos")
SERVICE = dict.fromkeys(("name", "description", "dns_ip", "server", "domain", "user", "password"), TEXT)
SUBNET_MEMBER = "share_network_subnet"
SINCE_UNIT = (2, 44)
"""The first microversion with organizational units (`ou`)."""
SERVICE_FILTERS: dict[str, Filter] = {
    **COMMON,
    **{name: equal(name) for name in ("id", "type", "dns_ip", "server", "domain", "user")},
}
SERVICE_QUERY = frozenset(
    {*SERVICE_FILTERS, *LIKE, "all_tenants", "share_network_id", "project_id", "limit", "offset", "marker", "sort_key",
     "sort_dir", "with_count"}
)  # fmt: skip
"""What a list of security services can be asked for; with anything else, administrators find nothing."""


# -- share networks -------------------------------------------------------------------------------------------------


def _network(networks: ShareNetworks, request: Request) -> Record:
    return visible(networks.rows, request.context, request.vars["network_id"])


def _shown(networks: ShareNetworks, request: Request, network: Record) -> Response:
    return Response({"share_network": network_view(networks, request, network)})


def _filters(networks: ShareNetworks) -> dict[str, Filter]:
    """The filters of share networks; those by fields of subnets hold for any subnet."""

    def in_subnet(name: str) -> Filter:
        return lambda row, wanted: any(
            str(one[name]) == wanted for one in networks.subnets.select(share_network_id=row.get("id"))
        )

    return {
        **COMMON,
        "id": equal("id"),
        "project_id": equal("project_id"),
        "security_service_id": lambda row, wanted: wanted in row.get("_security_services"),
        **{name: in_subnet(name) for name in SUBNET_FIELDS},
    }


def _rows(networks: ShareNetworks, request: Request) -> list[Record]:
    """The share networks of the caller's project; of another one, or of all, for administrators who ask for it."""
    project = request.query.get("project_id")
    if project is not None and request.context.is_admin:
        return created_within(request, networks.rows.select(project_id=project), _day)
    return created_within(request, project_rows(networks.rows, request)[::-1], _day)


def _day(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d")


def list_networks(networks: ShareNetworks, request: Request) -> Response:
    rows = _rows(networks, request)
    return listing(
        request, "share_networks", rows, _filters(networks), lambda row: {"id": row["id"], "name": row["name"]}
    )


def list_networks_detail(networks: ShareNetworks, request: Request) -> Response:
    rows = _rows(networks, request)
    return listing(
        request, "share_networks", rows, _filters(networks), lambda row: network_view(networks, request, row)
    )


def create_network(networks: ShareNetworks, request: Request) -> Response:
    wanted = member(request, "share_network")
    fields.check_fields(wanted, {**NETWORK, **SUBNET}, where="share_network", strict=False)
    if wanted.get("nova_net_id"):
        raise bad_request("nova networking is not supported starting in Ocata.")
    return _shown(networks, request, networks.create(request.context, wanted))


def show_network(networks: ShareNetworks, request: Request) -> Response:
    return _shown(networks, request, _network(networks, request))


def update_network(networks: ShareNetworks, request: Request) -> Response:
    network, wanted = _network(networks, request), member(request, "share_network")
    fields.check_fields(wanted, NETWORK, where="share_network", strict=False)
    if wanted.get("nova_net_id"):
        raise bad_request("nova networking is not supported starting in Ocata.")
    networks.update(network, {key: wanted[key] for key in NETWORK if key in wanted})
    return _shown(networks, request, network)


def delete_network(networks: ShareNetworks, request: Request) -> Response:
    networks.delete(_network(networks, request))
    return Response(status=202)


def _service_id(arguments: Any, name: str) -> str:
    fields.check_fields(arguments, {"security_service_id": fields.text()}, ("security_service_id",), name)
    return str(arguments["security_service_id"])


def add_service(networks: ShareNetworks, request: Request, network: Record, arguments: Any) -> Response:
    networks.add_service(request.context, network, _service_id(arguments, "add_security_service"))
    return _shown(networks, request, network)


def remove_service(networks: ShareNetworks, request: Request, network: Record, arguments: Any) -> Response:
    networks.remove_service(request.context, network, _service_id(arguments, "remove_security_service"))
    return _shown(networks, request, network)


# -- subnets --------------------------------------------------------------------------------------------------------


def _subnet(networks: ShareNetworks, request: Request) -> Record:
    network, key = _network(networks, request), request.vars["subnet_id"]
    subnet = networks.subnets.require(key)
    if subnet["share_network_id"] != network["id"]:
        raise networks.subnets.missing(key)
    return subnet


def _subnet_shown(networks: ShareNetworks, request: Request, subnet: Record) -> Response:
    network = networks.rows.require(subnet["share_network_id"])
    further = {"share_network_id": network["id"], "share_network_name": network["name"]}
    return Response({"share_network_subnet": {**subnet_view(request, subnet), **further}})


def list_subnets(networks: ShareNetworks, request: Request) -> Response:
    network = _network(networks, request)
    return Response({"share_network_subnets": [subnet_view(request, one) for one in networks.subnets_of(network)]})


def create_subnet(networks: ShareNetworks, request: Request) -> Response:
    network, body = _network(networks, request), request.json
    name = "share-network-subnet" if isinstance(body, dict) and "share-network-subnet" in body else SUBNET_MEMBER
    wanted = member(request, name)
    fields.check_fields(wanted, SUBNET, where=name, strict=False)
    zone = wanted.get("availability_zone")
    taken = {one["availability_zone"] for one in networks.subnets_of(network)}
    if request.version < SINCE_SUBNETS_IN_ZONE and zone in taken:
        raise conflict(f"Share network {network['id']} has a subnet in availability zone {zone} already.")
    return _subnet_shown(networks, request, networks.add_subnet(network, wanted))


def show_subnet(networks: ShareNetworks, request: Request) -> Response:
    return _subnet_shown(networks, request, _subnet(networks, request))


def delete_subnet(networks: ShareNetworks, request: Request) -> Response:
    networks.remove_subnet(_subnet(networks, request))
    return Response(status=202)


def _write_metadata(networks: ShareNetworks, request: Request, metadata: dict[str, str]) -> None:
    networks.subnets.update(_subnet(networks, request), metadata=metadata, updated_at=networks.moment())


SUBNET_METADATA = Metadata(
    read=lambda networks, request: _subnet(networks, request)["metadata"],
    write=_write_metadata,
    form=METADATA,
    missing=NO_ITEM,
    mismatch=OTHER_KEY,
    removed=200,
)


# -- security services ------------------------------------------------------------------------------------------------


def _service(services: SecurityServices, request: Request) -> Record:
    return visible(services.rows, request.context, request.vars["service_id"])


def service_view(request: Request, service: Record) -> dict[str, Any]:
    """A security service with its password, which Manila shows."""
    found = {key: value for key, value in service.items() if not key.startswith("_")}
    if request.version < SINCE_UNIT:
        del found["ou"]
    return found


def _service_brief(service: Record) -> dict[str, Any]:
    return {key: service[key] for key in ("id", "name", "type", "status")}


def _services(services: SecurityServices, request: Request) -> list[Record]:
    if request.context.is_admin and any(name not in SERVICE_QUERY for name, _ in request.query.pairs):
        return []
    network_id = request.query.get("share_network_id")
    if network_id:
        return services.of_network(request.context, network_id)
    return project_rows(services.rows, request)[::-1]


def list_services(services: SecurityServices, request: Request) -> Response:
    return listing(request, "security_services", _services(services, request), SERVICE_FILTERS, _service_brief)


def list_services_detail(services: SecurityServices, request: Request) -> Response:
    rows = _services(services, request)
    return listing(request, "security_services", rows, SERVICE_FILTERS, lambda row: service_view(request, row))


def _service_fields(request: Request) -> dict[str, fields.Check]:
    return {**SERVICE, **({"ou": TEXT} if request.version >= SINCE_UNIT else {})}


def create_service(services: SecurityServices, request: Request) -> Response:
    wanted = member(request, "security_service")
    if (kind := wanted.get("type")) not in SERVICE_TYPES:
        known = ",".join(SERVICE_TYPES)
        raise invalid_input(f"Invalid type {kind} specified for security service. Valid types are {known}")
    checks = {**_service_fields(request), "type": fields.text()}
    fields.check_fields(wanted, checks, where="security_service", strict=False)
    given = {key: wanted[key] for key in checks if key in wanted}
    return Response({"security_service": service_view(request, services.create(request.context, given))})


def show_service(services: SecurityServices, request: Request) -> Response:
    return Response({"security_service": service_view(request, _service(services, request))})


def update_service(services: SecurityServices, request: Request) -> Response:
    service, wanted = _service(services, request), member(request, "security_service")
    checks = _service_fields(request)
    fields.check_fields(wanted, checks, where="security_service", strict=False)
    services.update(service, {key: wanted[key] for key in checks if key in wanted})
    return Response({"security_service": service_view(request, service)})


def delete_service(services: SecurityServices, request: Request) -> Response:
    services.delete(_service(services, request))
    return Response(status=202)
