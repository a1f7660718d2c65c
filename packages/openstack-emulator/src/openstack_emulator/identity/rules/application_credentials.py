"""Application credentials and access rules: logging in with less than all of one's rights."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import TypeVar

from openstack_emulator.core.cloud import Records, Service, new_hex_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import AccessRule, ApplicationCredential, Role, RoleOfCredential, Target
from openstack_emulator.identity.rules.grants import Grants
from openstack_emulator.identity.rules.inputs import NewAccessRule, NewApplicationCredential
from openstack_emulator.identity.rules.owned import OwnedTables
from openstack_emulator.identity.rules.passwords import hash_password
from openstack_emulator.identity.rules.times import future
from openstack_emulator.identity.rules.tokens import Tokens
from stoker_foundation.patterns.linear import covers_path

WHAT = "managing additional application credentials"
OfUser = TypeVar("OfUser", AccessRule, ApplicationCredential)


class ApplicationCredentials(Rules):
    """Application credentials, and the access rules that they may have."""

    def __init__(self, records: Records, owned: OwnedTables, grants: Grants, tokens: Tokens) -> None:
        super().__init__(records)
        self.rows = owned.application_credentials
        self.access_rules = owned.access_rules
        self.grants = grants
        self._tokens = tokens

    def forbid_restricted(self, caller: Context) -> None:
        """Raise ApiError 403 for a token of a restricted application credential."""
        self._tokens.forbid_restricted(caller, WHAT)

    def create(
        self, new_application_credential: NewApplicationCredential, caller: Context
    ) -> tuple[ApplicationCredential, str]:
        """A credential for the caller, on the project of the token, and its secret. Raises ApiError."""
        user_id = caller.user_id
        if self.rows.first(user_id=user_id, name=new_application_credential.name) is not None:
            raise conflict("Conflict occurred attempting to store application_credential - Duplicate entry found.")
        secret = new_application_credential.secret or secrets.token_urlsafe(48)
        roles = self._roles(caller, new_application_credential.roles)
        expires = (
            None
            if new_application_credential.expires_at is None
            else future(new_application_credential.expires_at, self.cloud.clock.now())
        )
        credential = ApplicationCredential(
            id=new_hex_id(),
            name=new_application_credential.name,
            description=new_application_credential.description,
            user_id=user_id,
            project_id=caller.project,
            roles=roles,
            expires_at=expires,
            unrestricted=new_application_credential.unrestricted,
            access_rules=self._rules(user_id, new_application_credential.access_rules),
            secret=hash_password(secret),
        )
        return self.rows.add(credential), secret

    def _roles(self, caller: Context, requested: Sequence[Mapping[str, object]]) -> list[RoleOfCredential]:
        """The roles asked for, which must be the token's; all of the token's when none is named."""
        target = Target("project", caller.project)
        held = [role for role in self.grants.roles_of(caller.user_id, target) if role.name in caller.roles]
        found = [_role(held, each) for each in requested] if requested else held
        return [RoleOfCredential(id=role.id, name=role.name, domain_id=role.domain_id) for role in found]

    def _rules(self, user_id: str, new_access_rules: Sequence[NewAccessRule] | None) -> list[str] | None:
        """The ids of the access rules, created where the user has no equal one; all are checked before any is
        created."""
        if new_access_rules is None:
            return None
        for each in new_access_rules:
            if each.id is not None:
                required(self.access_rules, each.id, user_id)
            elif None in (each.service, each.path, each.method):
                raise bad_request("An access rule is an id, or a service, a path and a method.")
        return [each.id or self._rule(user_id, each) for each in new_access_rules]

    def _rule(self, user_id: str, new_access_rule: NewAccessRule) -> str:
        service, path, method = new_access_rule.service or "", new_access_rule.path or "", new_access_rule.method or ""
        same = self.access_rules.first(user_id=user_id, service=service, path=path, method=method)
        if same is None:
            same = self.access_rules.add(
                AccessRule(id=new_hex_id(), user_id=user_id, service=service, path=path, method=method)
            )
        return same.id

    def remove_rule(self, rule: AccessRule) -> None:
        """Remove an access rule that no credential has. Raises ApiError 403."""
        if any(rule.id in (row.access_rules or ()) for row in self.rows):
            raise forbidden(f"Access rule {rule.id} is in use by an application credential.")
        self.access_rules.remove(rule)

    def admit(self, caller: Context, service: Service, request: Request) -> None:
        """403 when the caller's application credential has access rules and none of them covers the request."""
        credential = self._tokens.credential_of(caller)
        if credential is None or credential.access_rules is None:
            return
        for key in credential.access_rules:
            rule = self.access_rules.get(key)
            if rule is not None and _covers(rule, service, request):
                return
        raise forbidden(f"The access rules of the application credential do not allow {request.method} {request.path}.")


def _role(held: list[Role], body: Mapping[str, object]) -> Role:
    name = "id" if "id" in body else "name"
    for role in held:
        if role.get(name) == body.get(name):
            return role
    raise bad_request("Invalid application credential: Cannot create an application credential with unassigned role")


def _covers(rule: AccessRule, service: Service, request: Request) -> bool:
    if rule.service not in service.endpoints or rule.method != request.method:
        return False
    return covers_path(rule.path, request.raw_path)


def required(rows: Table[OfUser], key: str, user_id: str) -> OfUser:
    """A record of the user; one of somebody else is not there. Raises ApiError 404."""
    record = rows.require(key)
    if record.user_id != user_id:
        raise not_found(f"Could not find {rows.name}: {key}.")
    return record
