"""Configuration of single domains."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.identity.records import Domain
from openstack_emulator.identity.routes.entity import Values, whole_body
from openstack_emulator.identity.rules import domain_configuration
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.domain_configuration import DEFAULTS, Configuration, ConfigurationPart, refused
from openstack_emulator.identity.rules.policy import enforce


def show_defaults(identity: Identity, request: Request) -> Response:
    """The defaults: of everything, of a group, or of one option, as the path has it."""
    enforce(request.context, "get_domain_config")
    return Response({"config": _part(request).of(DEFAULTS, domain_configuration.unsupported)})


def show(identity: Identity, request: Request) -> Response:
    domain = _domain(identity, request, "get_domain_config")
    shown = domain_configuration.shown(domain.config)
    return Response({"config": _part(request).of(shown, domain_configuration.unset)})


def replace(identity: Identity, request: Request) -> Response:
    """Replace the whole configuration; 201 when the domain had none."""
    domain = _domain(identity, request, "write_domain_config")
    status = 200 if domain.config else 201
    return _kept(identity, domain, domain_configuration.checked(_configuration_in(request)), status)


def update(identity: Identity, request: Request) -> Response:
    """Options set beside those that are there."""
    domain = _domain(identity, request, "write_domain_config")
    merged = domain_configuration.merged(domain.config, _configuration_in(request), _part(request))
    return _kept(identity, domain, merged)


def delete(identity: Identity, request: Request) -> Response:
    """Everything, a group, or one option."""
    domain = _domain(identity, request, "write_domain_config")
    _kept(identity, domain, domain_configuration.without(domain.config, _part(request)))
    return Response(status=204)


def _kept(identity: Identity, domain: Domain, config: Configuration, status: int = 200) -> Response:
    domain.config = config
    identity.domains.rows.save(domain)
    return Response({"config": domain_configuration.shown(config)}, status)


def _domain(identity: Identity, request: Request, rule: str) -> Domain:
    enforce(request.context, rule)
    return identity.domains.rows.require(request.vars["id"])


def _part(request: Request) -> ConfigurationPart:
    return ConfigurationPart(request.vars.get("group"), request.vars.get("option"))


def _configuration_in(request: Request) -> Values:
    config = whole_body(request).get("config")
    if not isinstance(config, dict) or not config:
        raise refused("The request body must have an object 'config' with something in it.")
    return config
