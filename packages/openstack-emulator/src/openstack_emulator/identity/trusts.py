"""Trusts (`OS-TRUST`): a user lets another act with some of their roles on a project."""

from __future__ import annotations

from openstack_emulator.core.cloud import Routes, new_hex_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import Record, public
from openstack_emulator.identity.lists import filtered, links
from openstack_emulator.identity.policy import allowed, denied_because, enforce
from openstack_emulator.identity.records import IdentityRecords, Target
from openstack_emulator.identity.roles import ROLES
from openstack_emulator.identity.tokens import application_credential_of, trust_is_over
from openstack_emulator.identity.validation import (
    MALFORMED,
    Field,
    boolean,
    checked,
    identifier,
    integer,
    listing,
    mapping,
    nullable,
    parse_time,
    text,
)
from stoker_foundation.clock import isoformat_micro

MOST_REDELEGATIONS = 3
"""How often a trust can be handed on, Keystone's default."""
FIELDS = {
    "trustor_user_id": Field(identifier, required=True),
    "trustee_user_id": Field(identifier, required=True),
    "impersonation": Field(boolean, required=True),
    "project_id": Field(nullable(identifier), default=None),
    "roles": Field(listing(mapping), default=[]),
    "expires_at": Field(nullable(text()), default=None),
    "remaining_uses": Field(nullable(integer(1)), default=None),
    "allow_redelegation": Field(boolean, default=False),
    "redelegation_count": Field(nullable(integer(0)), default=None),
}


def create_trust(identity: IdentityRecords, request: Request) -> Response:
    given = checked(FIELDS, request.object("trust"), extra=True, where="trust")
    caller = request.context
    _forbid_application_credentials(identity, caller)
    enforce(caller, "create_trust", given)
    identity.users.require(given["trustee_user_id"])
    parent = identity.trusts.require(caller.trust_id) if caller.trust_id is not None else None
    count = _redelegation_count(given, parent)
    trust = {
        **given,
        "id": new_hex_id(),
        "roles": _roles(identity, given, parent),
        "expires_at": _expiry(identity, given["expires_at"], parent),
        "redelegation_count": count,
        "redelegated_trust_id": None if parent is None else parent["id"],
        "deleted_at": None,
    }
    del trust["allow_redelegation"]
    identity.trusts.add(trust)
    return Response({"trust": _shown(identity, request, trust)}, 201)


def _forbid_application_credentials(identity: IdentityRecords, caller: Context) -> None:
    """403 for a token of an application credential, also of an unrestricted one."""
    if application_credential_of(identity, caller) is not None:
        raise forbidden(
            "You are not authorized to perform the requested action: Delegated tokens cannot manage trusts."
        )


def _redelegation_count(given: Record, parent: Record | None) -> int:
    """How often the new trust can be redelegated; 403 for more than the trust it is made from allows."""
    if given["allow_redelegation"] and given["remaining_uses"] is not None:
        raise bad_request("remaining_uses must not be set if redelegation is allowed")
    most = MOST_REDELEGATIONS
    if parent is not None:
        if parent["redelegation_count"] <= 0:
            raise forbidden(f"Redelegation is not allowed by trust {parent['id']}.")
        if given["impersonation"] and not parent["impersonation"]:
            raise forbidden("Impersonation is not allowed because the redelegated trust does not specify it.")
        most = parent["redelegation_count"] - 1
    wanted = given["redelegation_count"]
    if wanted is not None and wanted > most:
        raise forbidden(f"Requested redelegation depth of {wanted} is greater than the allowed {most}.")
    if parent is None and not given["allow_redelegation"]:
        return 0
    return most if wanted is None else int(wanted)


def _expiry(identity: IdentityRecords, wanted: str | None, parent: Record | None) -> float | None:
    """Seconds since the epoch; not before now, nor after the end of the trust it is made from."""
    limit: float | None = None if parent is None else parent["expires_at"]
    if wanted is None:
        return limit
    expires = parse_time(wanted)
    if expires is None:
        raise bad_request(f"Timestamp not in expected format. {MALFORMED}")
    if expires <= identity.cloud.clock.now():
        raise bad_request(f"The 'expires_at' must not be before now. {MALFORMED}")
    if limit is not None and expires > limit:
        raise forbidden("Requested expiration time is more than the redelegated trust can provide.")
    return expires


def _roles(identity: IdentityRecords, given: Record, parent: Record | None) -> list[str]:
    """The ids of the roles handed on: they must be the trustor's, and the parent's when there is one."""
    if given["project_id"] is None:
        if given["roles"]:
            raise bad_request("A trust with roles needs a project.")
        return []
    identity.projects.require(given["project_id"])
    if not given["roles"]:
        raise denied_because("At least one role should be specified.")
    held = identity.roles_of(given["trustor_user_id"], Target("project", given["project_id"]))
    ids = [_held_role(identity, wanted, held)["id"] for wanted in given["roles"]]
    if parent is not None and (
        parent["project_id"] != given["project_id"] or not set(ids) <= set(identity.with_implied(set(parent["roles"])))
    ):
        raise forbidden("Some of the requested roles are not in the redelegated trust.")
    return ids


def _held_role(identity: IdentityRecords, wanted: Record, held: list[Record]) -> Record:
    if isinstance(key := wanted.get("id"), str):
        found = next((role for role in held if role["id"] == key), None)
    elif isinstance(key := wanted.get("name"), str):
        known = identity.roles.select(name=key, domain_id=None)
        if not known:
            raise not_found(f"Role {key} is not defined")
        found, key = _only([role for role in known if role in held], key), known[0]["id"]
    else:
        raise bad_request("A role of a trust is named by its id or its name.")
    if found is None:
        raise not_found(f"Could not find role: {key}.")
    return found


def _only(found: list[Record], key: str) -> Record | None:
    if len(found) > 1:
        raise conflict(f"More than one role is named {key}: give its id.")
    return found[0] if found else None


def list_trusts(identity: IdentityRecords, request: Request) -> Response:
    """All for an admin; others ask for their own by `trustor_user_id` or `trustee_user_id`."""
    query, caller = request.query, request.context
    names = ("trustor_user_id", "trustee_user_id")
    if not allowed(caller, "list_trusts", {}):
        asked = {name: query.get(name) for name in names}
        enforce(caller, "list_own_trusts" if any(asked.values()) else "list_trusts", asked)
    rows = [trust for trust in filtered(identity.trusts, query, names) if not trust_is_over(identity, trust)]
    shown = [_shown(identity, request, trust) for trust in rows]
    for trust in shown:
        del trust["roles"], trust["roles_links"]
    return Response({"trusts": shown, "links": links(request)})


def show_trust(identity: IdentityRecords, request: Request) -> Response:
    trust = _required(identity, request, "get_trust")
    return Response({"trust": _shown(identity, request, trust)})


def delete_trust(identity: IdentityRecords, request: Request) -> Response:
    """End a trust and those made from it; their tokens end with them."""
    _forbid_application_credentials(identity, request.context)
    doomed = [_required(identity, request, "delete_trust")]
    for trust in doomed:
        doomed.extend(identity.trusts.select(redelegated_trust_id=trust["id"]))
        identity.trusts.remove(trust)
    return Response(status=204)


def list_roles(identity: IdentityRecords, request: Request) -> Response:
    trust = _required(identity, request, "get_trust")
    return Response({"roles": _role_views(identity, request, trust), "links": links(request)})


def show_role(identity: IdentityRecords, request: Request) -> Response:
    trust = _required(identity, request, "get_trust")
    for role in _role_views(identity, request, trust):
        if role["id"] == request.vars["role_id"]:
            return Response({"role": role})
    raise not_found(f"Could not find role: {request.vars['role_id']}.")


def _required(identity: IdentityRecords, request: Request, rule: str) -> Record:
    """A trust that is not over, when the caller may."""
    trust = identity.trusts.get(request.vars["trust_id"])
    if trust is None or trust_is_over(identity, trust):
        raise not_found(f"Could not find trust: {request.vars['trust_id']}.")
    enforce(request.context, rule, trust)
    return trust


def _shown(identity: IdentityRecords, request: Request, trust: Record) -> Record:
    link = f"{request.base}/v3/OS-TRUST/trusts/{trust['id']}"
    expires = trust["expires_at"]
    return {
        **public(trust),
        "expires_at": None if expires is None else isoformat_micro(expires) + "Z",
        "roles": _role_views(identity, request, trust),
        "roles_links": {"self": f"{link}/roles", "previous": None, "next": None},
        "links": {"self": link},
    }


def _role_views(identity: IdentityRecords, request: Request, trust: Record) -> list[Record]:
    roles = (identity.roles.get(key) for key in trust["roles"])
    return [ROLES.shown(identity, request, role) for role in roles if role is not None]


TRUST_ROUTES: Routes = {
    "/OS-TRUST/trusts": {"GET": list_trusts, "POST": create_trust},
    "/OS-TRUST/trusts/{trust_id}": {"GET": show_trust, "DELETE": delete_trust},
    "/OS-TRUST/trusts/{trust_id}/roles": {"GET": list_roles},
    "/OS-TRUST/trusts/{trust_id}/roles/{role_id}": {"GET": show_role},
}
