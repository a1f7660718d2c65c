"""What users own, and what is for a project or a domain: it goes when they go."""

from __future__ import annotations

from dataclasses import dataclass

from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import AccessRule, ApplicationCredential, Credential, Limit, Token, Trust
from openstack_emulator.identity.rules.kept import remove_all


@dataclass(frozen=True)
class OwnedTables:
    """The tables of it."""

    trusts: Table[Trust]
    credentials: Table[Credential]
    application_credentials: Table[ApplicationCredential]
    access_rules: Table[AccessRule]
    limits: Table[Limit]
    tokens: Table[Token]

    def remove_of_user(self, user_id: str) -> None:
        """Remove what a user owns, with the trusts given and received, and the tokens."""
        remove_all(self.trusts, self.trusts.select(trustor_user_id=user_id))
        remove_all(self.trusts, self.trusts.select(trustee_user_id=user_id))
        remove_all(self.credentials, self.credentials.select(user_id=user_id))
        remove_all(self.application_credentials, self.application_credentials.select(user_id=user_id))
        remove_all(self.access_rules, self.access_rules.select(user_id=user_id))
        self.end_tokens(user_id)

    def remove_of_project(self, project_id: str) -> None:
        """Remove what is for a project."""
        remove_all(self.trusts, self.trusts.select(project_id=project_id))
        remove_all(self.credentials, self.credentials.select(project_id=project_id))
        remove_all(self.application_credentials, self.application_credentials.select(project_id=project_id))
        remove_all(self.limits, self.limits.select(project_id=project_id))

    def remove_of_domain(self, domain_id: str) -> None:
        """Remove what is for a domain."""
        remove_all(self.limits, self.limits.select(domain_id=domain_id))

    def end_tokens(self, user_id: str) -> None:
        """End every token of a user."""
        remove_all(self.tokens, self.tokens.select(user_id=user_id))
