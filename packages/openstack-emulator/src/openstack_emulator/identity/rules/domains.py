"""Domains."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import conflict, forbidden
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import Domain, Target
from openstack_emulator.identity.rules.errors import domain_taken
from openstack_emulator.identity.rules.grants import Grants
from openstack_emulator.identity.rules.kept import RecordCollection
from openstack_emulator.identity.rules.owned import OwnedTables
from openstack_emulator.identity.rules.projects import Projects
from openstack_emulator.identity.rules.roles import Roles
from openstack_emulator.identity.rules.users import Groups, Users


class Domains(RecordCollection[Domain]):
    """Domains, with the users, groups, projects and roles in them."""

    def __init__(
        self,
        records: Records,
        rows: Table[Domain],
        users: Users,
        groups: Groups,
        projects: Projects,
        roles: Roles,
        grants: Grants,
        owned: OwnedTables,
    ) -> None:
        super().__init__(records, rows)
        self._users = users
        self._groups = groups
        self._projects = projects
        self._roles = roles
        self._grants = grants
        self._owned = owned

    def create(self, new: Domain) -> Domain:
        if new.id in self.rows:
            raise conflict(f"Conflict occurred attempting to store domain - the id {new.id} is taken.")
        if self.rows.first(name=new.name) is not None:
            raise domain_taken(new.name)
        return super().create(new)

    def change(self, record: Domain, after: Domain) -> None:
        if after.name != record.name and self.rows.first(name=after.name) is not None:
            raise domain_taken(after.name)
        super().change(record, after)
        if not after.enabled:
            for user in self._users.rows.select(domain_id=record.id):
                self._owned.end_tokens(user.id)

    def remove(self, record: Domain) -> None:
        """A disabled domain with everything in it; 403 while it is enabled."""
        key = record.id
        if record.enabled:
            raise forbidden("Cannot delete a domain that is enabled, please disable it first.")
        for user in self._users.rows.select(domain_id=key):
            self._users.remove(user)
        for group in self._groups.rows.select(domain_id=key):
            self._groups.remove(group)
        for project in reversed(self._projects.rows.select(domain_id=key)):
            self._projects.remove(project)
        for role in self._roles.rows.select(domain_id=key):
            self._roles.remove(role)
        self._grants.remove_on(Target("domain", key))
        self._owned.remove_of_domain(key)
        super().remove(record)
