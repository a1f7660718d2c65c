"""Application credentials and access rules: logging in with less than all of one's rights."""

from __future__ import annotations

import secrets
from typing import Any

from openstack_emulator.core.cloud import Routes, Service, new_hex_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import Collection, Record, public
from openstack_emulator.identity.lists import answer, filtered
from openstack_emulator.identity.passwords import hash_password
from openstack_emulator.identity.policy import enforce
from openstack_emulator.identity.records import IdentityRecords, Target
from openstack_emulator.identity.tokens import application_credential_of, forbid_restricted
from openstack_emulator.identity.validation import (
    MALFORMED,
    Field,
    boolean,
    checked,
    choice,
    description,
    identifier,
    listing,
    mapping,
    moment,
    name,
    nullable,
    parse_time,
    pattern,
    text,
)
from stoker_foundation.clock import isoformat_micro
from stoker_foundation.patterns.linear import covers_path

FIELDS = {
    "name": Field(name, required=True),
    "description": Field(description, default=None),
    "secret": Field(nullable(text(1)), default=None),
    "expires_at": Field(nullable(moment), default=None),
    "roles": Field(listing(mapping), default=[]),
    "unrestricted": Field(nullable(boolean), default=None),
    "access_rules": Field(listing(mapping), default=None),
}
RULE_FIELDS = {
    "id": Field(identifier),
    "service": Field(name),
    "path": Field(pattern("/.*")),
    "method": Field(choice("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")),
}
WHAT = "managing additional application credentials"


def create(identity: IdentityRecords, request: Request) -> Response:
    """A credential for the caller, on the project of the token."""
    user_id, caller = request.vars["user_id"], request.context
    enforce(caller, "create_application_credential", {"user_id": user_id})
    forbid_restricted(identity, caller, WHAT)
    wanted = request.object("application_credential")
    given = checked({**FIELDS, "project_id": Field(identifier)}, wanted, where="application_credential")
    if caller.project_id is None or given.pop("project_id", caller.project_id) != caller.project_id:
        raise forbidden("An application credential is for the project that the token is scoped to.")
    if identity.application_credentials.first(user_id=user_id, name=given["name"]) is not None:
        raise conflict("Conflict occurred attempting to store application_credential - Duplicate entry found.")
    secret = given.pop("secret") or secrets.token_urlsafe(48)
    roles, expires = _roles(identity, caller, given["roles"]), _expiry(identity, given["expires_at"])
    credential = identity.application_credentials.add(
        {
            **given,
            "id": new_hex_id(),
            "user_id": user_id,
            "project_id": caller.project_id,
            "roles": roles,
            "expires_at": expires,
            "access_rules": _rules(identity, user_id, given["access_rules"]),
            "_secret": hash_password(secret),
        }
    )
    shown = {**_view(identity, request, credential), "secret": secret}
    return Response({"application_credential": shown}, 201)


def _roles(identity: IdentityRecords, caller: Context, wanted: list[Record]) -> list[Record]:
    """The roles asked for, which must be the token's; all of the token's when none is named."""
    target = Target("project", caller.project)
    held = [role for role in identity.roles_of(caller.user_id, target) if role["name"] in caller.roles]
    found = [_role(held, each) for each in wanted] if wanted else held
    return [{key: role[key] for key in ("id", "name", "domain_id")} for role in found]


def _role(held: list[Record], wanted: Record) -> Record:
    key = "id" if "id" in wanted else "name"
    for role in held:
        if role[key] == wanted.get(key):
            return role
    raise bad_request("Invalid application credential: Cannot create an application credential with unassigned role")


def _expiry(identity: IdentityRecords, wanted: str | None) -> float | None:
    expires = None if wanted is None else parse_time(wanted)
    if expires is not None and expires <= identity.cloud.clock.now():
        raise bad_request(f"The 'expires_at' must not be before now. {MALFORMED}")
    return expires


def _rules(identity: IdentityRecords, user_id: str, wanted: list[Record] | None) -> list[str] | None:
    """The ids of the access rules, created where the user has no equal one; all are checked before any is created."""
    if wanted is None:
        return None
    given = [checked(RULE_FIELDS, {k: v for k, v in each.items() if k != "links"}) for each in wanted]
    for each in given:
        if "id" in each:
            _required(identity.access_rules, each["id"], user_id)
        elif not {"service", "path", "method"} <= set(each):
            raise bad_request("An access rule is an id, or a service, a path and a method.")
    return [each["id"] if "id" in each else _rule(identity, user_id, each)["id"] for each in given]


def _rule(identity: IdentityRecords, user_id: str, wanted: Record) -> Record:
    same = identity.access_rules.first(user_id=user_id, **wanted)
    return same or identity.access_rules.add({"id": new_hex_id(), "user_id": user_id, **wanted})


def index(identity: IdentityRecords, request: Request) -> Response:
    user_id = _user(identity, request, "get_application_credential")
    rows = filtered(identity.application_credentials.select(user_id=user_id), request.query, ("name",))
    return answer(request, "application_credentials", [_view(identity, request, row) for row in rows])


def show(identity: IdentityRecords, request: Request) -> Response:
    user_id = _user(identity, request, "get_application_credential")
    credential = _required(identity.application_credentials, request.vars["id"], user_id)
    return Response({"application_credential": _view(identity, request, credential)})


def delete(identity: IdentityRecords, request: Request) -> Response:
    user_id = _user(identity, request, "delete_application_credential")
    forbid_restricted(identity, request.context, WHAT)
    credential = _required(identity.application_credentials, request.vars["id"], user_id)
    identity.application_credentials.remove(credential)
    return Response(status=204)


def list_rules(identity: IdentityRecords, request: Request) -> Response:
    user_id = _user(identity, request, "get_access_rule")
    rows = filtered(identity.access_rules.select(user_id=user_id), request.query, ("service", "path", "method"))
    return answer(request, "access_rules", [_rule_view(request, row) for row in rows])


def show_rule(identity: IdentityRecords, request: Request) -> Response:
    user_id = _user(identity, request, "get_access_rule")
    rule = _required(identity.access_rules, request.vars["id"], user_id)
    return Response({"access_rule": _rule_view(request, rule)})


def delete_rule(identity: IdentityRecords, request: Request) -> Response:
    user_id = _user(identity, request, "delete_access_rule")
    rule = _required(identity.access_rules, request.vars["id"], user_id)
    if any(rule["id"] in (row["access_rules"] or ()) for row in identity.application_credentials):
        raise forbidden(f"Access rule {rule['id']} is in use by an application credential.")
    identity.access_rules.remove(rule)
    return Response(status=204)


def admit(identity: IdentityRecords, caller: Context, service: Service, request: Request) -> None:
    """403 when the caller's application credential has access rules and none of them covers the request."""
    credential = application_credential_of(identity, caller)
    if credential is None or credential["access_rules"] is None:
        return
    for key in credential["access_rules"]:
        rule = identity.access_rules.get(key)
        if rule is not None and _covers(rule, service, request):
            return
    raise forbidden(f"The access rules of the application credential do not allow {request.method} {request.path}.")


def _covers(rule: Record, service: Service, request: Request) -> bool:
    if rule["service"] not in service.endpoints or rule["method"] != request.method:
        return False
    return covers_path(rule["path"], request.raw_path)


def _user(identity: IdentityRecords, request: Request, rule: str) -> str:
    enforce(request.context, rule, {"user_id": request.vars["user_id"]})
    return str(identity.users.require(request.vars["user_id"])["id"])


def _required(collection: Collection, key: str, user_id: str) -> Record:
    """A record of the user; one of somebody else is not there."""
    record = collection.require(key)
    if record["user_id"] != user_id:
        raise not_found(f"Could not find {collection.name}: {key}.")
    return record


def _view(identity: IdentityRecords, request: Request, credential: Record) -> Record:
    expires, rules = credential["expires_at"], credential["access_rules"]
    shown: dict[str, Any] = {
        **public(credential),
        "roles": [
            {key: role[key] for key in ("id", "name", "domain_id", "description", "options")}
            for key in identity.with_implied({role["id"] for role in credential["roles"]})
            if (role := identity.roles.get(key)) is not None
        ],
        "system": None,
        "expires_at": None if expires is None else isoformat_micro(expires),
        "links": {"self": _link(request, "application_credentials", credential)},
    }
    if rules is None:
        del shown["access_rules"]
    else:
        shown["access_rules"] = [_rule_fields(identity.access_rules.require(key)) for key in rules]
    return shown


def _rule_view(request: Request, rule: Record) -> Record:
    return {**_rule_fields(rule), "links": {"self": _link(request, "access_rules", rule)}}


def _rule_fields(rule: Record) -> Record:
    return {key: rule[key] for key in ("id", "service", "path", "method")}


def _link(request: Request, plural: str, record: Record) -> str:
    return f"{request.base}/v3/users/{record['user_id']}/{plural}/{record['id']}"


APPLICATION_CREDENTIAL_ROUTES: Routes = {
    "/users/{user_id}/application_credentials": {"GET": index, "POST": create},
    "/users/{user_id}/application_credentials/{id}": {"GET": show, "DELETE": delete},
    "/users/{user_id}/access_rules": {"GET": list_rules},
    "/users/{user_id}/access_rules/{id}": {"GET": show_rule, "DELETE": delete_rule},
}
