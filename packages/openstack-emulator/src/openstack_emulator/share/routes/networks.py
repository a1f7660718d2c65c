"""Share networks and their subnets over HTTP."""

from __future__ import annotations

from datetime import datetime

from openstack_emulator.core.actions import act, argument_of
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.filters import Filter, equal, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.share.records import ShareNetwork, Subnet
from openstack_emulator.share.routes.bodies import METADATA, NO_ITEM, OTHER_KEY, TEXT, Actions, changes_of, member
from openstack_emulator.share.routes.lists import COMMON, created_within, list_response
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.rules.inputs import NewSubnet
from openstack_emulator.share.rules.networks import NETWORK_PLACE
from openstack_emulator.share.views import SINCE_SUBNETS_IN_ZONE, SUBNET_FIELDS, network_view, subnet_view

PLACE = dict.fromkeys(NETWORK_PLACE, TEXT)
NETWORK = {"name": TEXT, "description": TEXT, **PLACE}
SUBNET = {"availability_zone": TEXT, "metadata": fields.nullable(METADATA), **PLACE}
SUBNET_MEMBER = "share_network_subnet"


def _network(systems: SharedFileSystems, request: Request) -> ShareNetwork:
    return visible(systems.networks.rows, request.context, request.vars["network_id"])


def _shown(systems: SharedFileSystems, request: Request, network: ShareNetwork) -> Response:
    return Response({"share_network": network_view(systems, request, network)})


def _filters(systems: SharedFileSystems) -> dict[str, Filter]:
    """The filters of share networks; those by fields of subnets hold for any subnet."""

    def in_subnet(name: str) -> Filter:
        return lambda row, value: any(
            str(subnet.get(name)) == value for subnet in systems.networks.subnets.select(share_network_id=row.get("id"))
        )

    return {
        **COMMON,
        "id": equal("id"),
        "project_id": equal("project_id"),
        "security_service_id": lambda row, value: value in row.get("_security_services"),
        **{name: in_subnet(name) for name in SUBNET_FIELDS},
    }


def _rows(systems: SharedFileSystems, request: Request) -> list[ShareNetwork]:
    """The share networks of the caller's project; of another one, or of all, for administrators who ask for it."""
    project = request.query.get("project_id")
    if project is not None and request.context.is_admin:
        return created_within(request, systems.networks.rows.select(project_id=project), _day)
    return created_within(request, project_rows(systems.networks.rows, request)[::-1], _day)


def _day(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d")


def index(systems: SharedFileSystems, request: Request) -> Response:
    rows = _rows(systems, request)
    return list_response(
        request, "share_networks", rows, _filters(systems), lambda row: {"id": row.id, "name": row.name}
    )


def detail(systems: SharedFileSystems, request: Request) -> Response:
    rows = _rows(systems, request)
    return list_response(
        request, "share_networks", rows, _filters(systems), lambda row: network_view(systems, request, row)
    )


def create(systems: SharedFileSystems, request: Request) -> Response:
    body = member(request, "share_network")
    check_fields(body, {**NETWORK, **SUBNET}, where="share_network", strict=False)
    if body.get("nova_net_id"):
        raise bad_request("nova networking is not supported starting in Ocata.")
    network = systems.networks.create(
        request.context, body.get("name"), body.get("description"), NewSubnet.from_json(body)
    )
    return _shown(systems, request, network)


def show(systems: SharedFileSystems, request: Request) -> Response:
    return _shown(systems, request, _network(systems, request))


def update(systems: SharedFileSystems, request: Request) -> Response:
    network, body = _network(systems, request), member(request, "share_network")
    check_fields(body, NETWORK, where="share_network", strict=False)
    if body.get("nova_net_id"):
        raise bad_request("nova networking is not supported starting in Ocata.")
    systems.networks.update(network, changes_of(body, NETWORK))
    return _shown(systems, request, network)


def delete(systems: SharedFileSystems, request: Request) -> Response:
    systems.networks.delete(_network(systems, request))
    return Response(status=202)


def _add_service(systems: SharedFileSystems, request: Request, network: ShareNetwork, arguments: object) -> Response:
    service_id = argument_of("add_security_service", arguments, "security_service_id", fields.text())
    systems.networks.add_service(request.context, network, service_id)
    return _shown(systems, request, network)


def _remove_service(systems: SharedFileSystems, request: Request, network: ShareNetwork, arguments: object) -> Response:
    service_id = argument_of("remove_security_service", arguments, "security_service_id", fields.text())
    systems.networks.remove_service(request.context, network, service_id)
    return _shown(systems, request, network)


ACTIONS: Actions[ShareNetwork] = {"add_security_service": _add_service, "remove_security_service": _remove_service}


def act_on(systems: SharedFileSystems, request: Request) -> Response:
    return act(ACTIONS, systems, request, _network(systems, request))


def _subnet(systems: SharedFileSystems, request: Request) -> Subnet:
    network, key = _network(systems, request), request.vars["subnet_id"]
    subnet = systems.networks.subnets.require(key)
    if subnet.share_network_id != network.id:
        raise systems.networks.subnets.missing(key)
    return subnet


def _subnet_shown(systems: SharedFileSystems, request: Request, subnet: Subnet) -> Response:
    network = systems.networks.rows.require(subnet.share_network_id)
    further = {"share_network_id": network.id, "share_network_name": network.name}
    return Response({"share_network_subnet": {**subnet_view(request, subnet), **further}})


def list_subnets(systems: SharedFileSystems, request: Request) -> Response:
    network = _network(systems, request)
    return Response(
        {"share_network_subnets": [subnet_view(request, subnet) for subnet in systems.networks.subnets_of(network)]}
    )


def create_subnet(systems: SharedFileSystems, request: Request) -> Response:
    network, body = _network(systems, request), request.json
    name = "share-network-subnet" if isinstance(body, dict) and "share-network-subnet" in body else SUBNET_MEMBER
    new_subnet = member(request, name)
    check_fields(new_subnet, SUBNET, where=name, strict=False)
    zone = new_subnet.get("availability_zone")
    taken = {subnet.availability_zone for subnet in systems.networks.subnets_of(network)}
    if request.version < SINCE_SUBNETS_IN_ZONE and zone in taken:
        raise conflict(f"Share network {network.id} has a subnet in availability zone {zone} already.")
    return _subnet_shown(systems, request, systems.networks.add_subnet(network, NewSubnet.from_json(new_subnet)))


def show_subnet(systems: SharedFileSystems, request: Request) -> Response:
    return _subnet_shown(systems, request, _subnet(systems, request))


def delete_subnet(systems: SharedFileSystems, request: Request) -> Response:
    systems.networks.remove_subnet(_subnet(systems, request))
    return Response(status=202)


def _metadata(systems: SharedFileSystems, request: Request) -> dict[str, str]:
    return _subnet(systems, request).metadata


def _set_metadata(systems: SharedFileSystems, request: Request, metadata: dict[str, str]) -> None:
    subnet = _subnet(systems, request)
    subnet.metadata, subnet.updated_at = metadata, systems.networks.moment()
    systems.networks.subnets.save(subnet)


SUBNET_METADATA = Metadata(_metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 200)
