"""Limits: registered ones, which hold for everybody, and those of single projects and domains (the flat model)."""

from __future__ import annotations

from collections.abc import Sequence

from openstack_emulator.core.cloud import Routes, new_hex_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden
from openstack_emulator.core.fields import identifier as uuid
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.entity import Entity, whole_body
from openstack_emulator.identity.lists import answer
from openstack_emulator.identity.policy import enforce
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.identity.validation import (
    Field,
    checked,
    description,
    identifier,
    integer,
    invalid,
    name,
    nullable,
)

RESOURCE = ("service_id", "region_id", "resource_name")
COMMON = {
    "service_id": Field(identifier, required=True),
    "region_id": Field(nullable(identifier), default=None),
    "resource_name": Field(name, required=True),
    "description": Field(description, default=None),
}


def create_registered(identity: IdentityRecords, values: Record) -> Record:
    return identity.registered_limits.add({"id": new_hex_id(), **values})


def remove_registered(identity: IdentityRecords, registered: Record) -> None:
    if identity.limits.select(**_resource(registered)):
        raise forbidden(f"Unable to delete registered limit {registered['id']} because there are project limits.")
    identity.registered_limits.remove(registered)


def create_limit(identity: IdentityRecords, values: Record) -> Record:
    return identity.limits.add({"id": new_hex_id(), **values})


def change_registered(identity: IdentityRecords, registered: Record, changes: Record) -> None:
    if any(changes.get(field, registered[field]) != registered[field] for field in RESOURCE):
        _check_registered(identity, {**registered, **changes}, ())
        if identity.limits.select(**_resource(registered)):
            raise forbidden(f"Unable to update registered limit {registered['id']} because there are project limits.")


def _check_registered(identity: IdentityRecords, values: Record, others: Sequence[Record]) -> None:
    if values["service_id"] not in identity.services:
        raise bad_request(f"Service {values['service_id']} of the registered limit was not found.")
    if values["region_id"] is not None and values["region_id"] not in identity.regions:
        raise bad_request(f"Region {values['region_id']} of the registered limit was not found.")
    if identity.registered_limits.select(**_resource(values)) or _resource(values) in map(_resource, others):
        raise conflict("Conflict occurred attempting to store registered_limit - Duplicate entry.")


def _check_limit(identity: IdentityRecords, values: Record, others: Sequence[Record]) -> None:
    holders = [key for key in ("project_id", "domain_id") if values[key] is not None]
    if len(holders) != 1:
        raise bad_request("A limit is for a project or for a domain: give one of project_id and domain_id.")
    held_in = identity.projects if holders == ["project_id"] else identity.domains
    held_in.require(values[holders[0]])
    if not identity.registered_limits.select(**_resource(values)):
        raise forbidden("Unable to create a limit that has no corresponding registered limit.")
    key = {**_resource(values), "project_id": values["project_id"], "domain_id": values["domain_id"]}
    if identity.limits.select(**key) or any(key.items() <= other.items() for other in others):
        raise conflict("Conflict occurred attempting to store limit - Duplicate entry.")


def _resource(record: Record) -> Record:
    return {field: record[field] for field in RESOURCE}


REGISTERED = Entity(
    "registered_limit",
    "registered_limits",
    "registered_limits",
    {**COMMON, "default_limit": Field(integer(-1), required=True)},
    create=create_registered,
    change=change_registered,
    remove=remove_registered,
    subject=lambda registered: {},
    filters=RESOURCE,
)
LIMITS = Entity(
    "limit",
    "limits",
    "limits",
    {
        **COMMON,
        "resource_limit": Field(integer(-1), required=True),
        "project_id": Field(nullable(identifier), default=None),
        "domain_id": Field(nullable(identifier), default=None),
    },
    create=create_limit,
    remove=lambda identity, limit: identity.limits.remove(limit),
    subject=lambda limit: {key: limit.get(key) for key in ("project_id", "domain_id")},
    filters=(*RESOURCE, "project_id", "domain_id"),
    fixed=frozenset({*RESOURCE, "project_id", "domain_id"}),
)
CHECKS = {REGISTERED.plural: _check_registered, LIMITS.plural: _check_limit}


def create_registered_limits(identity: IdentityRecords, request: Request) -> Response:
    return _create_all(identity, request, REGISTERED)


def create_limits(identity: IdentityRecords, request: Request) -> Response:
    return _create_all(identity, request, LIMITS)


def _create_all(identity: IdentityRecords, request: Request, entity: Entity) -> Response:
    """Several at once: all of them or, when one is refused, none."""
    enforce(request.context, f"write_{entity.singular}")
    given = whole_body(request).get(entity.plural)
    if not isinstance(given, list) or not given or not all(isinstance(each, dict) for each in given):
        raise bad_request(f"The request body must have a list of objects '{entity.plural}'.")
    accepted: list[Record] = []
    for each in given:
        values = checked(entity.fields, each)
        CHECKS[entity.plural](identity, values, accepted)
        accepted.append(values)
    shown = [entity.shown(identity, request, entity.create(identity, values)) for values in accepted]
    return Response({entity.plural: shown}, 201)


def list_registered(identity: IdentityRecords, request: Request) -> Response:
    _check_query(request)
    return REGISTERED.handle_list(identity, request)


def _check_query(request: Request) -> None:
    """Refuse a `service_id` in the query that cannot be one. Raises ApiError 400."""
    wanted = request.query.get("service_id")
    if wanted is not None and (problem := uuid(wanted)) is not None:
        raise invalid("service_id", wanted, problem)


def list_limits(identity: IdentityRecords, request: Request) -> Response:
    """Those of the caller's project; everyone's for an admin."""
    enforce(request.context, "list_limits")
    _check_query(request)
    return answer(request, "limits", LIMITS.rows(identity, request, list(identity.limits), "get_limit"))


def show_model(identity: IdentityRecords, request: Request) -> Response:
    description = "Limit enforcement and validation does not take project hierarchy into consideration."
    return Response({"model": {"name": "flat", "description": description}})


LIMIT_ROUTES: Routes = {
    **REGISTERED.routes(),
    **LIMITS.routes(),
    "/registered_limits": {"GET": list_registered, "POST": create_registered_limits},
    "/limits": {"GET": list_limits, "POST": create_limits},
    "/limits/model": {"GET": show_model},
}
