"""What the identity service keeps, as clients see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.http import Request
from openstack_emulator.core.typed import TypedRecord, to_public
from openstack_emulator.identity.records import (
    AccessRule,
    ApplicationCredential,
    Credential,
    Domain,
    Endpoint,
    Extensible,
    Group,
    Project,
    Role,
    Trust,
    User,
)
from openstack_emulator.identity.rules.catalog import filled_in
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.credentials import ec2_key
from openstack_emulator.identity.rules.grants import EffectiveRole
from openstack_emulator.identity.rules.tokens import Grant
from stoker_foundation.clock import isoformat_micro

View = dict[str, Any]


def record_view(record: TypedRecord) -> View:
    """A record with all that clients may see of it."""
    shown = to_public(record)
    if isinstance(record, Extensible) and record.extra:
        shown |= record.extra
    return shown


def user_view(identity: Identity, user: User) -> View:
    """A user, with the default project if there is one."""
    shown = record_view(user)
    if user.default_project_id is None:
        shown.pop("default_project_id")
    return shown


def linked(request: Request, path: str, record: TypedRecord) -> View:
    """A record with its link. path: of the collection below the version."""
    return {**record_view(record), "links": link(request, f"{path}/{record.id}")}


def link(request: Request, path: str) -> dict[str, str]:
    """The link to a path below the version."""
    return {"self": f"{request.base}/v3/{path}"}


def domain_project_view(identity: Identity, domain: Domain) -> View:
    """A domain as the project that acts as it."""
    return {**record_view(domain), "domain_id": None, "parent_id": None, "is_domain": True}


def endpoint_view(identity: Identity, endpoint: Endpoint) -> View:
    """An endpoint as `GET /v3/endpoints` shows it."""
    return {**record_view(endpoint), "url": identity.catalog.url(endpoint)}


def parents_by_id(identity: Identity, project_id: str) -> View | None:
    """The IDs of the projects above, nested."""
    nested: View | None = None
    for key in reversed(identity.projects.hierarchy.above(project_id)):
        nested = {key: nested}
    return nested


def subtree_by_id(identity: Identity, project_id: str) -> View | None:
    """The IDs of the projects below, nested."""
    below = identity.projects.rows.select(parent_id=project_id)
    return {project.id: subtree_by_id(identity, project.id) for project in below} or None


def role_mention(request: Request, role: Role) -> View:
    """A role as those that imply each other are mentioned."""
    return {
        "id": role.id,
        "name": role.name,
        "description": role.description,
        "domain_id": role.domain_id,
        "links": link(request, f"roles/{role.id}"),
    }


def implications(identity: Identity, request: Request, prior: Role) -> View:
    """What a role implies."""
    implied = [role_mention(request, role) for role in identity.roles.implied_by(prior)]
    return {"prior_role": role_mention(request, prior), "implies": implied}


def inference_view(request: Request, prior: Role, implied: Role) -> View:
    """The rule of two roles, which are named only."""
    first, second = (
        {"id": role.id, "name": role.name, "links": link(request, f"roles/{role.id}")} for role in (prior, implied)
    )
    return {"role_inference": {"prior_role": first, "implies": second}, "links": {"self": request.url}}


def trust_view(identity: Identity, request: Request, trust: Trust) -> View:
    """A trust with its roles."""
    return {
        **trust_summary(request, trust),
        "roles": roles_of_trust(identity, request, trust),
        "roles_links": {**link(request, f"{TRUSTS}/{trust.id}/roles"), "previous": None, "next": None},
    }


def trust_summary(request: Request, trust: Trust) -> View:
    """A trust as lists show it."""
    shown = {**linked(request, TRUSTS, trust), "expires_at": _moment(trust.expires_at)}
    shown.pop("roles")
    return shown


def roles_of_trust(identity: Identity, request: Request, trust: Trust) -> list[View]:
    """The roles of a trust."""
    return [linked(request, "roles", role) for role in identity.delegations.trusts.roles_of(trust)]


TRUSTS = "OS-TRUST/trusts"


def application_credential_view(identity: Identity, request: Request, credential: ApplicationCredential) -> View:
    """An application credential, with its roles and what they imply."""
    roles = identity.grants.roles
    expires, rules = credential.expires_at, credential.access_rules
    shown: View = {
        **to_public(credential),
        "roles": [
            {
                "id": role.id,
                "name": role.name,
                "domain_id": role.domain_id,
                "description": role.description,
                "options": role.options,
            }
            for key in roles.with_implied({role.id for role in credential.roles})
            if (role := roles.rows.get(key)) is not None
        ],
        "system": None,
        "expires_at": None if expires is None else isoformat_micro(expires),
        "links": link(request, f"users/{credential.user_id}/application_credentials/{credential.id}"),
    }
    shown.pop("access_rules")
    if rules is not None:
        known = identity.delegations.application_credentials.access_rules
        shown |= {"access_rules": [_rule_fields(known.require(key)) for key in rules]}
    return shown


def access_rule_view(request: Request, rule: AccessRule) -> View:
    """An access rule."""
    return {**_rule_fields(rule), "links": link(request, f"users/{rule.user_id}/access_rules/{rule.id}")}


def _rule_fields(rule: AccessRule) -> View:
    return {"id": rule.id, "service": rule.service, "path": rule.path, "method": rule.method}


def ec2_view(request: Request, credential: Credential) -> View:
    """An EC2 credential with its keys."""
    key = ec2_key(credential)
    return {
        "access": key.access,
        "secret": key.secret,
        "user_id": credential.user_id,
        "tenant_id": credential.project_id,
        "trust_id": key.trust_id,
        "links": link(request, f"users/{credential.user_id}/credentials/OS-EC2/{key.access}"),
    }


def assignment_view(identity: Identity, request: Request, held: EffectiveRole, named: bool) -> View:
    """A role that somebody has. named: whether objects are shown with their names."""
    actor, target = held.actor, held.target
    place: View = {"all": True} if target.kind == "system" else _mention(identity, target.kind, target.id, named)
    inherited = {"OS-INHERIT:inherited_to": "projects"} if held.inherited else {}
    return {
        "role": _mention(identity, "role", held.role_id, named),
        actor.kind: _mention(identity, actor.kind, actor.id, named),
        "scope": {target.kind: place, **inherited},
        "links": _links(request, held),
    }


def _mention(identity: Identity, kind: str, key: str, named: bool) -> View:
    """An object by its ID, or with its name, and its domain when it is in one."""
    if not named:
        return {"id": key}
    record = _found(identity, kind, key)
    shown: View = {"id": key, "name": record.name}
    if not isinstance(record, Domain) and record.domain_id is not None:
        shown |= {"domain": domain_mention(identity, record.domain_id)}
    return shown


def _found(identity: Identity, kind: str, key: str) -> Role | User | Group | Project | Domain:
    rows: Mapping[str, Any] = {
        "role": identity.roles.rows,
        "user": identity.users.rows,
        "group": identity.groups.rows,
        "project": identity.projects.rows,
        "domain": identity.domains.rows,
    }
    found: Role | User | Group | Project | Domain = rows[kind].require(key)
    return found


def _links(request: Request, held: EffectiveRole) -> View:
    """Where the assignment was made, the membership and the role it follows from."""
    assignment = held.assignment
    place = "system" if assignment.target == "system" else f"{assignment.target}s/{assignment.target_id}"
    path = f"{place}/{assignment.actor}s/{assignment.actor_id}/roles/{assignment.role_id}"
    if assignment.inherited:
        path = f"OS-INHERIT/{path}/inherited_to_projects"
    links = {"assignment": f"{request.base}/v3/{path}"}
    if held.group_id is not None:
        links |= {"membership": f"{request.base}/v3/groups/{held.group_id}/users/{held.actor.id}"}
    if held.prior_id is not None:
        links |= {"prior_role": f"{request.base}/v3/prior_role/{held.prior_id}/implies/{held.role_id}"}
    return links


def domain_mention(identity: Identity, key: str) -> dict[str, str]:
    """A domain by its ID and name."""
    domain = identity.domains.rows.require(key)
    return {"id": domain.id, "name": domain.name}


def catalog_view(identity: Identity, user_id: str, project_id: str | None) -> list[View]:
    """The catalog for a token; endpoints that need a project are left out of tokens without one."""
    chosen = identity.catalog.choices.endpoints_for(project_id)
    return [
        {
            "id": service.id,
            "type": service.type,
            "name": service.name,
            "endpoints": [
                {
                    "id": endpoint.id,
                    "interface": endpoint.interface,
                    "region_id": endpoint.region_id,
                    "region": endpoint.region,
                    "url": url,
                }
                for endpoint, pattern in endpoints
                if (chosen is None or endpoint.id in chosen)
                and (url := filled_in(pattern, user_id, project_id)) is not None
            ],
        }
        for service, endpoints in identity.catalog.enabled()
    ]


def token_view(identity: Identity, granted: Grant, with_catalog: bool = True) -> View:
    """The body `{"token": …}`."""
    token, user = granted.token, granted.user
    body: View = {
        "methods": token.methods,
        "user": {
            "id": user.id,
            "name": user.name,
            "domain": domain_mention(identity, user.domain_id),
            "password_expires_at": user.password_expires_at,
        },
        "audit_ids": token.audit_ids,
        "issued_at": _moment(token.issued_at),
        "expires_at": _moment(token.expires_at),
    }
    if granted.target is not None:
        body |= {"is_domain": False, "roles": [{"id": role.id, "name": role.name} for role in granted.roles]}
        body |= _scope(identity, granted)
    if granted.target is not None and with_catalog:
        project = granted.project
        body |= {"catalog": catalog_view(identity, user.id, None if project is None else project.id)}
    return {"token": {**body, **_delegation(identity, granted)}}


def _scope(identity: Identity, granted: Grant) -> View:
    scope = granted.scope
    if scope is None:
        return {"system": {"all": True}}
    if isinstance(scope, Domain):
        return {"domain": {"id": scope.id, "name": scope.name}}
    return {"project": {"id": scope.id, "name": scope.name, "domain": domain_mention(identity, scope.domain_id)}}


def _delegation(identity: Identity, granted: Grant) -> View:
    """What a token says about the trust or application credential behind it."""
    through = identity.authentication.tokens.delegation(granted.token)
    shown: View = {}
    if through is not None and (trust := through.trust) is not None:
        shown |= {
            "OS-TRUST:trust": {
                "id": trust.id,
                "impersonation": trust.impersonation,
                "trustor_user": {"id": trust.trustor_user_id},
                "trustee_user": {"id": trust.trustee_user_id},
            }
        }
    if through is not None and (credential := through.credential) is not None:
        about = {"id": credential.id, "name": credential.name, "restricted": not credential.unrestricted}
        shown |= {"application_credential": {**about, **_access_rules(identity, credential)}}
    return shown


def _access_rules(identity: Identity, credential: ApplicationCredential) -> View:
    if credential.access_rules is None:
        return {}
    known = identity.delegations.application_credentials.access_rules
    return {"access_rules": [to_public(rule) for key in credential.access_rules if (rule := known.get(key))]}


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else isoformat_micro(seconds) + "Z"
