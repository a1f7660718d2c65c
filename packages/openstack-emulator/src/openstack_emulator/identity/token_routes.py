"""`/v3/auth/*`: get, check and revoke tokens; what they open."""

from __future__ import annotations

from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import public
from openstack_emulator.identity import tokens
from openstack_emulator.identity.authentication import authenticate
from openstack_emulator.identity.catalog import catalog
from openstack_emulator.identity.policy import denied
from openstack_emulator.identity.records import SYSTEM, IdentityRecords

SUBJECT = "X-Subject-Token"
RULES_AWARE = "openstack-identity-access-rules"
"""Header by which a service says that it enforces the access rules of application credentials."""


def create_token(identity: IdentityRecords, request: Request) -> Response:
    secret, granted = authenticate(identity, request.object("auth"))
    body = tokens.describe(identity, granted, "nocatalog" not in request.query)
    return Response(body, 201, {SUBJECT: secret, "Vary": "X-Auth-Token"})


def show_token(identity: IdentityRecords, request: Request) -> Response:
    secret, granted = _subject(identity, request, "validate_token")
    body = tokens.describe(identity, granted, "nocatalog" not in request.query)
    restricted = "access_rules" in body["token"].get("application_credential", {})
    if restricted and RULES_AWARE not in request.headers:
        raise not_found("Could not find token: it has access rules, which the asking service does not heed.")
    return Response(body, 200, {SUBJECT: secret, "Vary": "X-Auth-Token"})


def delete_token(identity: IdentityRecords, request: Request) -> Response:
    secret, _ = _subject(identity, request, "revoke_token")
    tokens.revoke(identity, secret)
    return Response(status=204)


def show_catalog(identity: IdentityRecords, request: Request) -> Response:
    caller = request.context
    if caller.project_id is None and caller.domain_id is None and not caller.system:
        raise forbidden("An unscoped token has no catalog.")
    entries = catalog(identity, caller.user_id, caller.project_id)
    return Response({"catalog": entries, "links": _links(request)})


def list_projects(identity: IdentityRecords, request: Request) -> Response:
    return Response({"projects": _reachable(identity, request, "project"), "links": _links(request)})


def list_domains(identity: IdentityRecords, request: Request) -> Response:
    return Response({"domains": _reachable(identity, request, "domain"), "links": _links(request)})


def list_systems(identity: IdentityRecords, request: Request) -> Response:
    reachable = identity.roles_of(request.context.user_id, SYSTEM)
    return Response({"system": [{"all": True}] if reachable else [], "links": {"self": request.url}})


def _reachable(identity: IdentityRecords, request: Request, kind: str) -> list[dict[str, object]]:
    """The enabled projects or domains the caller could scope a token to."""
    ids = {target.id for target in identity.targets_of(request.context.user_id) if target.kind == kind}
    collection = identity.projects if kind == "project" else identity.domains
    return [
        {**public(record), "links": {"self": f"{request.base}/v3/{kind}s/{record['id']}"}}
        for record in collection
        if record["id"] in ids and record["enabled"]
    ]


def _subject(identity: IdentityRecords, request: Request, rule: str) -> tuple[str, tokens.Grant]:
    """The token asked about; other users' tokens are for admins and services only.

    A token of a trust is its trustee's, although it acts as the trustor: as such it may not even ask about itself.
    """
    secret = request.headers.get(SUBJECT.lower(), "")
    if not secret:
        raise denied(rule)
    granted = tokens.look_up(identity, secret)
    if granted is None:
        raise not_found("Could not find token.")
    trust = identity.trusts.get(granted.token.trust_id or "")
    if (granted.user["id"] if trust is None else trust["trustee_user_id"]) != request.context.user_id:
        request.context.require("service")
    return secret, granted


def _links(request: Request) -> dict[str, str | None]:
    return {"self": request.url, "previous": None, "next": None}
