"""The providers of load balancers, and the machines that these run on, over HTTP."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.loadbalancer.routes.forms import FLAVOR_CAPABILITIES, ZONE_CAPABILITIES
from openstack_emulator.loadbalancer.routes.lists import list_response
from openstack_emulator.loadbalancer.routes.objects import key_of
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing
from openstack_emulator.loadbalancer.rules.drafts import PROVIDERS
from openstack_emulator.loadbalancer.views import amphora_view


def index(service: LoadBalancing, request: Request) -> Response:
    return _described(request, "providers", PROVIDERS)


def list_flavor_capabilities(service: LoadBalancing, request: Request) -> Response:
    _check_provider(request)
    return _described(request, "flavor_capabilities", FLAVOR_CAPABILITIES)


def list_zone_capabilities(service: LoadBalancing, request: Request) -> Response:
    _check_provider(request)
    return _described(request, "availability_zone_capabilities", ZONE_CAPABILITIES)


def _check_provider(request: Request) -> None:
    if (provider := request.vars["provider"]) not in PROVIDERS:
        raise bad_request(f"Provider '{provider}' is not enabled.")


def _described(request: Request, plural: str, described: Mapping[str, str]) -> Response:
    rows = [{"name": name, "description": description} for name, description in described.items()]
    return list_response(request, plural, rows, "name")


# -- amphorae ------------------------------------------------------------------------------------------------------


def list_amphorae(service: LoadBalancing, request: Request) -> Response:
    return list_response(request, "amphorae", [amphora_view(amphora) for amphora in service.amphorae.all()])


def show_amphora(service: LoadBalancing, request: Request) -> Response:
    return Response({"amphora": amphora_view(service.amphorae.require(key_of(request)))})


def fail_over_amphora(service: LoadBalancing, request: Request) -> Response:
    """Replace an amphora."""
    service.provisioning.fail_over(service.amphorae.require(key_of(request)).balancer)
    return Response(status=202)


def configure_amphora(service: LoadBalancing, request: Request) -> Response:
    """Make an amphora's agent read its configuration again, which changes nothing here."""
    service.amphorae.require(key_of(request))
    return Response(status=202)
