"""Trusts: a user lets another act with some of their roles on a project."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records, new_hex_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import Project, Role, Target, Trust, User
from openstack_emulator.identity.rules.grants import Grants
from openstack_emulator.identity.rules.inputs import NewTrust
from openstack_emulator.identity.rules.policy import denied_because
from openstack_emulator.identity.rules.times import future
from openstack_emulator.identity.rules.tokens import Tokens

MOST_REDELEGATIONS = 3
"""How often a trust can be handed on, Keystone's default."""


class Trusts(Rules):
    """Trusts, and those made from them."""

    def __init__(
        self,
        records: Records,
        rows: Table[Trust],
        users: Table[User],
        projects: Table[Project],
        grants: Grants,
        tokens: Tokens,
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self._users = users
        self._projects = projects
        self._grants = grants
        self._tokens = tokens

    def create(self, new_trust: NewTrust, caller: Context) -> Trust:
        """A new trust, made from the one that the caller acts through, if there is one. Raises ApiError."""
        self._users.require(new_trust.trustee_user_id)
        parent = self.rows.require(caller.trust_id) if caller.trust_id is not None else None
        count = _redelegation_count(new_trust, parent)
        roles = self._roles(new_trust, parent)
        return self.rows.add(
            Trust(
                id=new_hex_id(),
                trustor_user_id=new_trust.trustor_user_id,
                trustee_user_id=new_trust.trustee_user_id,
                impersonation=new_trust.impersonation,
                project_id=new_trust.project_id,
                roles=roles,
                expires_at=self._expiry(new_trust.expires_at, parent),
                remaining_uses=new_trust.remaining_uses,
                redelegation_count=count,
                redelegated_trust_id=None if parent is None else parent.id,
                extra=new_trust.extra,
            )
        )

    def forbid_application_credentials(self, caller: Context) -> None:
        """Raise ApiError 403 for a token of an application credential, also of an unrestricted one."""
        if self._tokens.credential_of(caller) is not None:
            raise forbidden(
                "You are not authorized to perform the requested action: Delegated tokens cannot manage trusts."
            )

    def is_over(self, trust: Trust) -> bool:
        """Whether no more tokens can be issued through a trust."""
        return self._tokens.trust_is_over(trust)

    def require(self, key: str) -> Trust:
        """A trust that is not over. Raises ApiError 404."""
        trust = self.rows.get(key)
        if trust is None or self.is_over(trust):
            raise not_found(f"Could not find trust: {key}.")
        return trust

    def remove(self, trust: Trust) -> None:
        """End a trust and those made from it; their tokens end with them."""
        removed = [trust]
        for each in removed:
            removed.extend(self.rows.select(redelegated_trust_id=each.id))
            self.rows.remove(each)

    def roles_of(self, trust: Trust) -> list[Role]:
        """The roles of a trust that still exist."""
        roles = (self._grants.roles.rows.get(key) for key in trust.roles)
        return [role for role in roles if role is not None]

    def _expiry(self, requested: str | None, parent: Trust | None) -> float | None:
        """Seconds since the epoch; not before now, nor after the end of the trust it is made from."""
        limit = None if parent is None else parent.expires_at
        if requested is None:
            return limit
        expires = future(requested, self.cloud.clock.now())
        if limit is not None and expires > limit:
            raise forbidden("Requested expiration time is more than the redelegated trust can provide.")
        return expires

    def _roles(self, new_trust: NewTrust, parent: Trust | None) -> list[str]:
        """The ids of the roles handed on: they must be the trustor's, and the parent's when there is one."""
        if new_trust.project_id is None:
            if new_trust.roles:
                raise bad_request("A trust with roles needs a project.")
            return []
        self._projects.require(new_trust.project_id)
        if not new_trust.roles:
            raise denied_because("At least one role should be specified.")
        held = self._grants.roles_of(new_trust.trustor_user_id, Target("project", new_trust.project_id))
        ids = [self._held_role(each, held).id for each in new_trust.roles]
        if parent is not None and (
            parent.project_id != new_trust.project_id
            or not set(ids) <= set(self._grants.roles.with_implied(set(parent.roles)))
        ):
            raise forbidden("Some of the requested roles are not in the redelegated trust.")
        return ids

    def _held_role(self, body: Mapping[str, object], held: list[Role]) -> Role:
        """The role that `{id}` or `{name}` names. Raises ApiError."""
        if isinstance(key := body.get("id"), str):
            found = next((role for role in held if role.id == key), None)
        elif isinstance(key := body.get("name"), str):
            known = self._grants.roles.rows.select(name=key, domain_id=None)
            if not known:
                raise not_found(f"Role {key} is not defined")
            found, key = _only([role for role in known if role in held], key), known[0].id
        else:
            raise bad_request("A role of a trust is named by its id or its name.")
        if found is None:
            raise not_found(f"Could not find role: {key}.")
        return found


def _redelegation_count(new_trust: NewTrust, parent: Trust | None) -> int:
    """How often the new trust can be redelegated; 403 for more than the trust it is made from allows."""
    if new_trust.allow_redelegation and new_trust.remaining_uses is not None:
        raise bad_request("remaining_uses must not be set if redelegation is allowed")
    most = MOST_REDELEGATIONS
    if parent is not None:
        if parent.redelegation_count <= 0:
            raise forbidden(f"Redelegation is not allowed by trust {parent.id}.")
        if new_trust.impersonation and not parent.impersonation:
            raise forbidden("Impersonation is not allowed because the redelegated trust does not specify it.")
        most = parent.redelegation_count - 1
    count = new_trust.redelegation_count
    if count is not None and count > most:
        raise forbidden(f"Requested redelegation depth of {count} is greater than the allowed {most}.")
    if parent is None and not new_trust.allow_redelegation:
        return 0
    return most if count is None else count


def _only(found: list[Role], name: str) -> Role | None:
    if len(found) > 1:
        raise conflict(f"More than one role is named {name}: give its id.")
    return found[0] if found else None
