"""Roles, of the cloud or of a domain, and which ones imply which."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import Assignment, ImpliedRole, Role
from openstack_emulator.identity.rules.errors import refuse_duplicate
from openstack_emulator.identity.rules.kept import RecordCollection, remove_all

NEVER_IMPLIED = "admin"


class Roles(RecordCollection[Role]):
    """Roles. Their domain need not exist, as in Keystone: such a role can be given nowhere."""

    def __init__(
        self, records: Records, rows: Table[Role], implied: Table[ImpliedRole], assignments: Table[Assignment]
    ) -> None:
        super().__init__(records, rows)
        self.implied = implied
        self._assignments = assignments

    def create(self, new: Role) -> Role:
        refuse_duplicate(self.rows, "role", new.name, new.domain_id)
        return super().create(new)

    def change(self, record: Role, after: Role) -> None:
        if after.name != record.name:
            refuse_duplicate(self.rows, "role", after.name, record.domain_id)
        super().change(record, after)

    def remove(self, record: Role) -> None:
        """A role, wherever it was given and whatever it implied."""
        key = record.id
        remove_all(self._assignments, self._assignments.select(role_id=key))
        remove_all(self.implied, self.implied.select(prior_id=key))
        remove_all(self.implied, self.implied.select(implied_id=key))
        super().remove(record)

    def imply(self, prior: Role, implied: Role) -> None:
        """Let a user with the first role have the second one too. Raises ApiError 403."""
        if implied.name == NEVER_IMPLIED and implied.domain_id is None:
            raise forbidden(f"{implied.id} cannot be an implied role.")
        if implied.domain_id is not None and prior.domain_id is None:
            raise forbidden(f"{implied.id} cannot be an implied roles.")
        key = f"{prior.id}:{implied.id}"
        if key not in self.implied:
            self.implied.add(ImpliedRole(id=key, prior_id=prior.id, implied_id=implied.id))

    def inference(self, prior: Role, implied: Role) -> ImpliedRole:
        """The record that one role implies another. Raises ApiError 404."""
        found = self.implied.get(f"{prior.id}:{implied.id}")
        if found is None:
            raise not_found(f"Role {prior.id} does not imply {implied.id}.")
        return found

    def implied_by(self, prior: Role) -> list[Role]:
        """The roles that a role implies directly."""
        return [self.rows.require(row.implied_id) for row in self.implied.select(prior_id=prior.id)]

    def with_implied(self, role_ids: set[str]) -> list[str]:
        """Role ids with all that they imply, in a stable order."""
        todo, seen = sorted(role_ids), []
        while todo:
            role_id = todo.pop()
            if role_id not in seen:
                seen.append(role_id)
                todo.extend(row.implied_id for row in self.implied.select(prior_id=role_id))
        return seen
