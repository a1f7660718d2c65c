"""Trusts (`OS-TRUST`)."""

from __future__ import annotations

from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import exact_boolean, exact_integer, mapping, optional
from openstack_emulator.identity.records import Trust
from openstack_emulator.identity.routes.lists import filtered, links
from openstack_emulator.identity.routes.validation import Field, checked, identifier, listing, text
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.inputs import NewTrust
from openstack_emulator.identity.rules.policy import allowed, enforce
from openstack_emulator.identity.views import linked, trust_summary, trust_view

FIELDS = {
    "trustor_user_id": Field(identifier, required=True),
    "trustee_user_id": Field(identifier, required=True),
    "impersonation": Field(exact_boolean, required=True),
    "project_id": Field(optional(identifier), default=None),
    "roles": Field(listing(mapping), default=[]),
    "expires_at": Field(optional(text()), default=None),
    "remaining_uses": Field(optional(exact_integer(1)), default=None),
    "allow_redelegation": Field(exact_boolean, default=False),
    "redelegation_count": Field(optional(exact_integer(0)), default=None),
}
SHOWN_ONLY = frozenset({"redelegated_trust_id", "deleted_at"})
"""Fields that requests may repeat and that have no effect."""


def create(identity: Identity, request: Request) -> Response:
    body = checked(FIELDS, request.object("trust"), extra=True, where="trust")
    caller = request.context
    identity.delegations.trusts.forbid_application_credentials(caller)
    enforce(caller, "create_trust", body)
    known = {name: value for name, value in body.items() if name in FIELDS}
    extra = {name: value for name, value in body.items() if name not in FIELDS and name not in SHOWN_ONLY}
    trust = identity.delegations.trusts.create(NewTrust(**known, extra=extra), caller)
    return Response({"trust": trust_view(identity, request, trust)}, 201)


def index(identity: Identity, request: Request) -> Response:
    """All for an admin; others ask for their own by `trustor_user_id` or `trustee_user_id`."""
    query, caller = request.query, request.context
    names = ("trustor_user_id", "trustee_user_id")
    if not allowed(caller, "list_trusts", {}):
        target = {name: query.get(name) for name in names}
        enforce(caller, "list_own_trusts" if any(target.values()) else "list_trusts", target)
    trusts = identity.delegations.trusts
    found = [trust for trust in filtered(trusts.rows, query, names) if not trusts.is_over(trust)]
    return Response({"trusts": [trust_summary(request, trust) for trust in found], "links": links(request)})


def show(identity: Identity, request: Request) -> Response:
    trust = _required(identity, request, "get_trust")
    return Response({"trust": trust_view(identity, request, trust)})


def delete(identity: Identity, request: Request) -> Response:
    identity.delegations.trusts.forbid_application_credentials(request.context)
    identity.delegations.trusts.remove(_required(identity, request, "delete_trust"))
    return Response(status=204)


def list_roles(identity: Identity, request: Request) -> Response:
    roles = identity.delegations.trusts.roles_of(_required(identity, request, "get_trust"))
    return Response({"roles": [linked(request, "roles", role) for role in roles], "links": links(request)})


def show_role(identity: Identity, request: Request) -> Response:
    key = request.vars["role_id"]
    for role in identity.delegations.trusts.roles_of(_required(identity, request, "get_trust")):
        if role.id == key:
            return Response({"role": linked(request, "roles", role)})
    raise not_found(f"Could not find role: {key}.")


def _required(identity: Identity, request: Request, rule: str) -> Trust:
    """A trust that is not over, when the caller may."""
    trust = identity.delegations.trusts.require(request.vars["trust_id"])
    enforce(request.context, rule, trust)
    return trust
