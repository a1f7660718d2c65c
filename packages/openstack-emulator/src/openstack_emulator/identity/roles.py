"""Roles, of the cloud or of a domain, and which ones imply which."""

from __future__ import annotations

from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.entity import Entity, options
from openstack_emulator.identity.lists import answer, links
from openstack_emulator.identity.policy import enforce
from openstack_emulator.identity.records import IdentityRecords, ImpliedRole
from openstack_emulator.identity.removal import remove_role
from openstack_emulator.identity.validation import Field, boolean, description, identifier, name, nullable

NEVER_IMPLIED = "admin"


def create_role(identity: IdentityRecords, values: Record) -> Record:
    """Create a role. Its domain need not exist, as in Keystone: such a role can be given nowhere."""
    return identity.create_role(values.pop("name"), values.pop("domain_id"), **values)


def change_role(identity: IdentityRecords, role: Record, changes: Record) -> None:
    identity.refuse_rename(identity.roles, "role", role, changes)


ROLES = Entity(
    "role",
    "roles",
    "roles",
    {
        "name": Field(name, required=True),
        "domain_id": Field(nullable(identifier), default=None),
        "description": Field(description, default=None),
        "options": Field(options(immutable=boolean), default={}),
    },
    create=create_role,
    change=change_role,
    remove=remove_role,
    subject=lambda role: {"domain_id": role.get("domain_id"), "role_name": role.get("name")},
    filters=("name", "domain_id"),
    extra=True,
    fixed=frozenset({"domain_id"}),
)


def list_roles(identity: IdentityRecords, request: Request) -> Response:
    """The cloud's roles; those of a domain only when the query names it."""
    enforce(request.context, "list_roles")
    domain_id = request.query.get("domain_id") or None
    rows = ROLES.rows(identity, request, identity.roles.select(domain_id=domain_id), "list_roles")
    return answer(request, "roles", rows)


def list_implied(identity: IdentityRecords, request: Request) -> Response:
    enforce(request.context, "get_implied_role")
    prior = identity.roles.require(request.vars["id"])
    return Response({"role_inference": _rule(identity, request, prior), "links": links(request)})


def list_all_implied(identity: IdentityRecords, request: Request) -> Response:
    enforce(request.context, "get_implied_role")
    priors = dict.fromkeys(row.prior_id for row in identity.implied_roles)
    rules = [_rule(identity, request, identity.roles.require(key)) for key in priors]
    return Response({"role_inferences": rules, "links": links(request)})


def show_implied(identity: IdentityRecords, request: Request) -> Response:
    enforce(request.context, "get_implied_role")
    prior, implied = _pair(identity, request)
    _require_rule(identity, prior, implied)
    return Response(_inference(request, prior, implied))


def check_implied(identity: IdentityRecords, request: Request) -> Response:
    show_implied(identity, request)
    return Response(status=204)


def imply(identity: IdentityRecords, request: Request) -> Response:
    enforce(request.context, "write_implied_role")
    prior, implied = _pair(identity, request)
    if implied["name"] == NEVER_IMPLIED and implied["domain_id"] is None:
        raise forbidden(f"{implied['id']} cannot be an implied role.")
    if implied["domain_id"] is not None and prior["domain_id"] is None:
        raise forbidden(f"{implied['id']} cannot be an implied roles.")
    identity.imply_role(prior["id"], implied["id"])
    return Response(_inference(request, prior, implied), 201)


def stop_implying(identity: IdentityRecords, request: Request) -> Response:
    enforce(request.context, "write_implied_role")
    prior, implied = _pair(identity, request)
    identity.implied_roles.remove(_require_rule(identity, prior, implied))
    return Response(status=204)


def _pair(identity: IdentityRecords, request: Request) -> tuple[Record, Record]:
    return identity.roles.require(request.vars["id"]), identity.roles.require(request.vars["implied_id"])


def _require_rule(identity: IdentityRecords, prior: Record, implied: Record) -> ImpliedRole:
    found = identity.implied_roles.get(f"{prior['id']}:{implied['id']}")
    if found is None:
        raise not_found(f"Role {prior['id']} does not imply {implied['id']}.")
    return found


def _rule(identity: IdentityRecords, request: Request, prior: Record) -> Record:
    rows = identity.implied_roles.select(prior_id=prior["id"])
    implied = [_mention(request, identity.roles.require(row.implied_id)) for row in rows]
    return {"prior_role": _mention(request, prior), "implies": implied}


def _inference(request: Request, prior: Record, implied: Record) -> Record:
    """The rule of two roles, which are named only."""
    named = [
        {key: shown[key] for key in ("id", "name", "links")}
        for shown in (_mention(request, role) for role in (prior, implied))
    ]
    return {
        "role_inference": {"prior_role": named[0], "implies": named[1]},
        "links": {"self": request.url},
    }


def _mention(request: Request, role: Record) -> Record:
    shown = {key: role[key] for key in ("id", "name", "description", "domain_id")}
    return {**shown, "links": {"self": f"{request.base}/v3/roles/{role['id']}"}}


ROLE_ROUTES: Routes = {
    **ROLES.routes(),
    "/roles": {**ROLES.routes()["/roles"], "GET": list_roles},
    "/roles/{id}/implies": {"GET": list_implied},
    "/roles/{id}/implies/{implied_id}": {
        "GET": show_implied,
        "HEAD": check_implied,
        "PUT": imply,
        "DELETE": stop_implying,
    },
    "/role_inferences": {"GET": list_all_implied},
}
