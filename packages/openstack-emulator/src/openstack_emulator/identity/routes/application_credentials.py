"""Application credentials and access rules."""

from __future__ import annotations

from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import exact_boolean, mapping, one_of, optional
from openstack_emulator.core.validation.fields import text as string
from openstack_emulator.identity.records import AccessRule, ApplicationCredential
from openstack_emulator.identity.routes.lists import filtered, list_response
from openstack_emulator.identity.routes.validation import (
    Field,
    checked,
    description,
    identifier,
    listing,
    moment,
    name,
    text,
)
from openstack_emulator.identity.rules.application_credentials import required
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.inputs import NewAccessRule, NewApplicationCredential
from openstack_emulator.identity.rules.policy import enforce
from openstack_emulator.identity.views import access_rule_view, application_credential_view

FIELDS = {
    "name": Field(name, required=True),
    "description": Field(description, default=None),
    "secret": Field(optional(text(1)), default=None),
    "expires_at": Field(optional(moment), default=None),
    "roles": Field(listing(mapping), default=[]),
    "unrestricted": Field(optional(exact_boolean), default=None),
    "access_rules": Field(listing(mapping), default=None),
    "project_id": Field(identifier),
}
RULE_FIELDS = {
    "id": Field(identifier),
    "service": Field(name),
    "path": Field(string(maximum=None, pattern="/.*")),
    "method": Field(one_of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")),
}


def create(identity: Identity, request: Request) -> Response:
    """A credential for the caller, on the project of the token."""
    caller = request.context
    enforce(caller, "create_application_credential", {"user_id": request.vars["user_id"]})
    identity.delegations.application_credentials.forbid_restricted(caller)
    body = checked(FIELDS, request.object("application_credential"), where="application_credential")
    if caller.project_id is None or body.pop("project_id", caller.project_id) != caller.project_id:
        raise forbidden("An application credential is for the project that the token is scoped to.")
    rules = body.pop("access_rules")
    access_rules = None if rules is None else [NewAccessRule(**checked(RULE_FIELDS, each)) for each in rules]
    new = NewApplicationCredential(**body, access_rules=access_rules)
    credential, secret = identity.delegations.application_credentials.create(new, caller)
    shown = {**application_credential_view(identity, request, credential), "secret": secret}
    return Response({"application_credential": shown}, 201)


def index(identity: Identity, request: Request) -> Response:
    user_id = _user(identity, request, "get_application_credential")
    found = filtered(
        identity.delegations.application_credentials.rows.select(user_id=user_id), request.query, ("name",)
    )
    shown = [application_credential_view(identity, request, credential) for credential in found]
    return list_response(request, "application_credentials", shown)


def show(identity: Identity, request: Request) -> Response:
    credential = _credential(identity, request, "get_application_credential")
    return Response({"application_credential": application_credential_view(identity, request, credential)})


def delete(identity: Identity, request: Request) -> Response:
    user_id = _user(identity, request, "delete_application_credential")
    identity.delegations.application_credentials.forbid_restricted(request.context)
    rows = identity.delegations.application_credentials.rows
    rows.remove(required(rows, request.vars["id"], user_id))
    return Response(status=204)


def list_rules(identity: Identity, request: Request) -> Response:
    user_id = _user(identity, request, "get_access_rule")
    rows = identity.delegations.application_credentials.access_rules.select(user_id=user_id)
    found = filtered(rows, request.query, ("service", "path", "method"))
    return list_response(request, "access_rules", [access_rule_view(request, rule) for rule in found])


def show_rule(identity: Identity, request: Request) -> Response:
    rule = _rule(identity, request, "get_access_rule")
    return Response({"access_rule": access_rule_view(request, rule)})


def delete_rule(identity: Identity, request: Request) -> Response:
    identity.delegations.application_credentials.remove_rule(_rule(identity, request, "delete_access_rule"))
    return Response(status=204)


def _credential(identity: Identity, request: Request, rule: str) -> ApplicationCredential:
    user_id = _user(identity, request, rule)
    return required(identity.delegations.application_credentials.rows, request.vars["id"], user_id)


def _rule(identity: Identity, request: Request, rule: str) -> AccessRule:
    user_id = _user(identity, request, rule)
    return required(identity.delegations.application_credentials.access_rules, request.vars["id"], user_id)


def _user(identity: Identity, request: Request, rule: str) -> str:
    """The ID of the user in the path, when the caller may."""
    user_id = request.vars["user_id"]
    enforce(request.context, rule, {"user_id": user_id})
    return identity.users.rows.require(user_id).id
