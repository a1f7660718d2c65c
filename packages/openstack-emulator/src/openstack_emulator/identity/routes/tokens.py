"""`/v3/auth/*`: get, check and revoke tokens; what they open."""

from __future__ import annotations

from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.identity.records import SYSTEM, Domain, Project
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.policy import denied
from openstack_emulator.identity.rules.tokens import Grant
from openstack_emulator.identity.views import catalog_view, linked, token_view

SUBJECT = "X-Subject-Token"
RULES_AWARE = "openstack-identity-access-rules"
"""Header by which a service says that it enforces the access rules of application credentials."""


def create(identity: Identity, request: Request) -> Response:
    secret, granted = identity.authentication.authenticate(request.object("auth"))
    return token_response(identity, secret, granted, 201, "nocatalog" not in request.query)


def token_response(
    identity: Identity, secret: str, granted: Grant, status: int = 200, with_catalog: bool = True
) -> Response:
    """A token, with its text in the headers."""
    return Response(token_view(identity, granted, with_catalog), status, {SUBJECT: secret, "Vary": "X-Auth-Token"})


def show(identity: Identity, request: Request) -> Response:
    secret, granted = _subject(identity, request, "validate_token")
    through = identity.authentication.tokens.delegation(granted.token)
    credential = None if through is None else through.credential
    if credential is not None and credential.access_rules is not None and RULES_AWARE not in request.headers:
        raise not_found("Could not find token: it has access rules, which the asking service does not heed.")
    return token_response(identity, secret, granted, with_catalog="nocatalog" not in request.query)


def delete(identity: Identity, request: Request) -> Response:
    secret, _ = _subject(identity, request, "revoke_token")
    identity.authentication.tokens.revoke(secret)
    return Response(status=204)


def show_catalog(identity: Identity, request: Request) -> Response:
    caller = request.context
    if caller.project_id is None and caller.domain_id is None and not caller.system:
        raise forbidden("An unscoped token has no catalog.")
    entries = catalog_view(identity, caller.user_id, caller.project_id)
    return Response({"catalog": entries, "links": _links(request)})


def list_projects(identity: Identity, request: Request) -> Response:
    """The enabled projects the caller could scope a token to."""
    ids = _reachable(identity, request, "project")
    found = [each for each in identity.projects.rows if each.id in ids]
    return _scopes(request, "projects", found)


def list_domains(identity: Identity, request: Request) -> Response:
    """The enabled domains the caller could scope a token to."""
    ids = _reachable(identity, request, "domain")
    found = [each for each in identity.domains.rows if each.id in ids]
    return _scopes(request, "domains", found)


def _reachable(identity: Identity, request: Request, kind: str) -> set[str]:
    return {target.id for target in identity.grants.targets_of(request.context.user_id) if target.kind == kind}


def _scopes(request: Request, plural: str, found: list[Project] | list[Domain]) -> Response:
    shown = [linked(request, plural, record) for record in found if record.enabled]
    return Response({plural: shown, "links": _links(request)})


def list_systems(identity: Identity, request: Request) -> Response:
    reachable = identity.grants.roles_of(request.context.user_id, SYSTEM)
    return Response({"system": [{"all": True}] if reachable else [], "links": {"self": request.url}})


def _subject(identity: Identity, request: Request, rule: str) -> tuple[str, Grant]:
    """The token asked about; other users' tokens are for admins and services only.

    A token of a trust is its trustee's, although it acts as the trustor: as such it may not even ask about itself.
    """
    secret = request.headers.get(SUBJECT.lower(), "")
    if not secret:
        raise denied(rule)
    granted = identity.authentication.tokens.look_up(secret)
    if granted is None:
        raise not_found("Could not find token.")
    trust = identity.delegations.trusts.rows.get(granted.token.trust_id or "")
    if (granted.user.id if trust is None else trust.trustee_user_id) != request.context.user_id:
        request.context.require("service")
    return secret, granted


def _links(request: Request) -> dict[str, str | None]:
    return {"self": request.url, "previous": None, "next": None}
