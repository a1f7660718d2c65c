"""Handlers about the service itself: versions, extensions, zones, providers, types of rules."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.network.routes.extensions import EXTENSIONS, PROVIDERS, extension
from openstack_emulator.network.routes.lists import listed_views
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.rules.errors import missing
from openstack_emulator.network.rules.networks import ZONES
from openstack_emulator.network.views.api import rule_types

versions = all_versions(ApiVersion("v2.0", (own("/v2.0/"),)))


def resources(network: NetworkService, request: Request) -> Response:
    rows = [
        {
            "name": kind.name,
            "collection": kind.plural,
            "links": [{"rel": "self", "href": f"{request.base}/v2.0{kind.path}"}],
        }
        for kind in network.state.kinds.kinds.values()
        if not kind.parent
    ]
    return Response({"resources": rows})


def list_extensions(network: NetworkService, request: Request) -> Response:
    return Response({"extensions": [extension(alias) for alias in EXTENSIONS]})


def show_extension(network: NetworkService, request: Request) -> Response:
    alias = request.vars["alias"]
    if alias not in EXTENSIONS:
        raise missing("Extension", "Extension with alias", alias)
    return Response({"extension": extension(alias)})


def list_zones(network: NetworkService, request: Request) -> Response:
    rows = [
        {"name": zone, "resource": resource, "state": "available"}
        for zone in ZONES
        for resource in ("network", "router")
    ]
    return Response({"availability_zones": rows})


def list_providers(network: NetworkService, request: Request) -> Response:
    return listed_views("service_providers", [dict(provider) for provider in PROVIDERS], request)


def list_rule_types(network: NetworkService, request: Request) -> Response:
    return Response({"rule_types": [{"type": name} for name in rule_types()]})


def show_rule_type(network: NetworkService, request: Request) -> Response:
    name = request.vars["type"]
    if name not in rule_types():
        raise missing("QosRuleType", "QoS rule type", name)
    return Response({"rule_type": {"type": name, "drivers": [{"name": "openvswitch", "supported_parameters": []}]}})
