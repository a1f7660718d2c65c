"""Roles, and which ones imply which."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import exact_boolean, optional
from openstack_emulator.identity.records import Role
from openstack_emulator.identity.routes.entity import Entity, options
from openstack_emulator.identity.routes.lists import links, list_response
from openstack_emulator.identity.routes.validation import Field, description, identifier, name
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.policy import enforce
from openstack_emulator.identity.views import implications, inference_view

ROLES = Entity(
    Role,
    lambda identity: identity.roles,
    "role",
    "roles",
    {
        "name": Field(name, required=True),
        "domain_id": Field(optional(identifier), default=None),
        "description": Field(description, default=None),
        "options": Field(options(immutable=exact_boolean), default={}),
    },
    subject={"domain_id": "domain_id", "role_name": "name"},
    filters=("name", "domain_id"),
    extra=True,
    fixed=frozenset({"domain_id"}),
)


def index(identity: Identity, request: Request) -> Response:
    """The cloud's roles; those of a domain only when the query names it."""
    enforce(request.context, "list_roles")
    found = identity.roles.rows.select(domain_id=request.query.get("domain_id") or None)
    return list_response(request, "roles", ROLES.visible_records(identity, request, found, "list_roles"))


def list_implied(identity: Identity, request: Request) -> Response:
    enforce(request.context, "get_implied_role")
    prior = identity.roles.rows.require(request.vars["id"])
    return Response({"role_inference": implications(identity, request, prior), "links": links(request)})


def list_inferences(identity: Identity, request: Request) -> Response:
    enforce(request.context, "get_implied_role")
    priors = dict.fromkeys(row.prior_id for row in identity.roles.implied)
    found = [implications(identity, request, identity.roles.rows.require(key)) for key in priors]
    return Response({"role_inferences": found, "links": links(request)})


def show_implied(identity: Identity, request: Request) -> Response:
    enforce(request.context, "get_implied_role")
    prior, implied = _pair(identity, request)
    identity.roles.inference(prior, implied)
    return Response(inference_view(request, prior, implied))


def check_implied(identity: Identity, request: Request) -> Response:
    show_implied(identity, request)
    return Response(status=204)


def imply(identity: Identity, request: Request) -> Response:
    enforce(request.context, "write_implied_role")
    prior, implied = _pair(identity, request)
    identity.roles.imply(prior, implied)
    return Response(inference_view(request, prior, implied), 201)


def stop_implying(identity: Identity, request: Request) -> Response:
    enforce(request.context, "write_implied_role")
    identity.roles.implied.remove(identity.roles.inference(*_pair(identity, request)))
    return Response(status=204)


def _pair(identity: Identity, request: Request) -> tuple[Role, Role]:
    rows = identity.roles.rows
    return rows.require(request.vars["id"]), rows.require(request.vars["implied_id"])
