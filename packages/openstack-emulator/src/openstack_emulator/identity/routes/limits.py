"""Limits of resources, registered and of single projects and domains."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import T
from openstack_emulator.core.validation.fields import exact_integer, optional
from openstack_emulator.core.validation.fields import identifier as uuid
from openstack_emulator.core.validation.objects import invalid
from openstack_emulator.core.validation.sentences import sentence
from openstack_emulator.identity.records import Limit, RegisteredLimit
from openstack_emulator.identity.routes.entity import Entity, whole_body
from openstack_emulator.identity.routes.lists import list_response
from openstack_emulator.identity.routes.validation import Field, checked, description, identifier, name
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.kept import draft
from openstack_emulator.identity.rules.policy import enforce

RESOURCE = ("service_id", "region_id", "resource_name")
COMMON = {
    "service_id": Field(identifier, required=True),
    "region_id": Field(optional(identifier), default=None),
    "resource_name": Field(name, required=True),
    "description": Field(description, default=None),
}
REGISTERED = Entity(
    RegisteredLimit,
    lambda identity: identity.limits.registered,
    "registered_limit",
    "registered_limits",
    {**COMMON, "default_limit": Field(exact_integer(-1), required=True)},
    filters=RESOURCE,
)
LIMITS = Entity(
    Limit,
    lambda identity: identity.limits,
    "limit",
    "limits",
    {
        **COMMON,
        "resource_limit": Field(exact_integer(-1), required=True),
        "project_id": Field(optional(identifier), default=None),
        "domain_id": Field(optional(identifier), default=None),
    },
    subject={"project_id": "project_id", "domain_id": "domain_id"},
    filters=(*RESOURCE, "project_id", "domain_id"),
    fixed=frozenset({*RESOURCE, "project_id", "domain_id"}),
)


def add_registered(identity: Identity, request: Request) -> Response:
    return _add_all(REGISTERED, identity, request, identity.limits.registered.check)


def add(identity: Identity, request: Request) -> Response:
    return _add_all(LIMITS, identity, request, identity.limits.check)


def _add_all(
    entity: Entity[T], identity: Identity, request: Request, check: Callable[[T, Sequence[T]], None]
) -> Response:
    """Several at once: all of them or, when one is refused, none."""
    enforce(request.context, f"write_{entity.singular}")
    entries = whole_body(request).get(entity.plural)
    if not isinstance(entries, list) or not entries or not all(isinstance(each, dict) for each in entries):
        raise bad_request(f"The request body must have a list of objects '{entity.plural}'.")
    accepted: list[T] = []
    for each in entries:
        new = draft(entity.kind, new_hex_id(), checked(entity.fields, each))
        check(new, accepted)
        accepted.append(new)
    rules = entity.rules(identity)
    shown = [entity.shown(identity, request, rules.create(new)) for new in accepted]
    return Response({entity.plural: shown}, 201)


def list_registered(identity: Identity, request: Request) -> Response:
    _check_query(request)
    return REGISTERED.index(identity, request)


def _check_query(request: Request) -> None:
    """Refuse a `service_id` in the query that cannot be one. Raises ApiError 400."""
    value = request.query.get("service_id")
    if value is not None and (problem := uuid(value)) is not None:
        raise invalid("service_id", value, sentence(problem))


def index(identity: Identity, request: Request) -> Response:
    """Those of the caller's project; everyone's for an admin."""
    enforce(request.context, "list_limits")
    _check_query(request)
    return list_response(
        request, "limits", LIMITS.visible_records(identity, request, identity.limits.rows, "get_limit")
    )


def show_model(identity: Identity, request: Request) -> Response:
    description = "Limit enforcement and validation does not take project hierarchy into consideration."
    return Response({"model": {"name": "flat", "description": description}})
