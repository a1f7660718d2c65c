"""Users, their passwords, and groups."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import Domain, Group, Membership, User
from openstack_emulator.identity.rules.errors import refuse_duplicate, unauthorized
from openstack_emulator.identity.rules.grants import Grants
from openstack_emulator.identity.rules.kept import RecordCollection, remove_all
from openstack_emulator.identity.rules.owned import OwnedTables
from openstack_emulator.identity.rules.passwords import hash_password, verify_password


class Users(RecordCollection[User]):
    """Users."""

    def __init__(
        self,
        records: Records,
        rows: Table[User],
        domains: Table[Domain],
        memberships: Table[Membership],
        grants: Grants,
        owned: OwnedTables,
    ) -> None:
        super().__init__(records, rows)
        self._domains = domains
        self._memberships = memberships
        self._grants = grants
        self._owned = owned

    def create(self, new: User, password: str | None = None) -> User:
        self._domains.require(new.domain_id)
        self._check_default_project(new)
        refuse_duplicate(self.rows, "user", new.name, new.domain_id)
        new.password = None if password is None else hash_password(password)
        return super().create(new)

    def change(self, record: User, after: User) -> None:
        if after.name != record.name:
            refuse_duplicate(self.rows, "user", after.name, record.domain_id)
        if after.default_project_id != record.default_project_id:
            self._check_default_project(after)
        super().change(record, after)
        if not after.enabled:
            self._owned.end_tokens(record.id)

    def set_password(self, user: User, password: str | None) -> None:
        """Give a user another password, or none; the tokens end."""
        user.password = None if password is None else hash_password(password)
        self.rows.save(user)
        self._owned.end_tokens(user.id)

    def change_own_password(self, user_id: str, original: str, password: str) -> None:
        """Change the password of a user who knows the old one. Raises ApiError 401, 403."""
        user = self.rows.get(user_id)
        right = verify_password(original, None if user is None else user.password)
        if user is None or not right or not user.enabled:
            raise unauthorized()
        if user.options.get("lock_password"):
            raise forbidden(f"The password of user {user.id} is locked and cannot be changed by the user.")
        self.set_password(user, password)

    def _check_default_project(self, user: User) -> None:
        if user.default_project_id in self._domains:
            raise bad_request(f"User's default project ID cannot be a domain ID: {user.default_project_id}")

    def remove(self, record: User) -> None:
        """A user, with roles, memberships, credentials, trusts given and received, and tokens."""
        self._grants.remove_of(record.id)
        remove_all(self._memberships, self._memberships.select(user_id=record.id))
        self._owned.remove_of_user(record.id)
        super().remove(record)


class Groups(RecordCollection[Group]):
    """Groups of users."""

    def __init__(
        self,
        records: Records,
        rows: Table[Group],
        domains: Table[Domain],
        users: Table[User],
        memberships: Table[Membership],
        grants: Grants,
    ) -> None:
        super().__init__(records, rows)
        self._domains = domains
        self._users = users
        self._memberships = memberships
        self._grants = grants

    def create(self, new: Group) -> Group:
        self._domains.require(new.domain_id)
        refuse_duplicate(self.rows, "group", new.name, new.domain_id)
        return super().create(new)

    def change(self, record: Group, after: Group) -> None:
        if after.name != record.name:
            refuse_duplicate(self.rows, "group", after.name, record.domain_id)
        super().change(record, after)

    def remove(self, record: Group) -> None:
        """A group, with its roles and memberships."""
        self._grants.remove_of(record.id)
        remove_all(self._memberships, self._memberships.select(group_id=record.id))
        super().remove(record)

    def groups_of(self, user: User) -> list[Group]:
        """The groups that a user is in."""
        return [self.rows.require(row.group_id) for row in self._memberships.select(user_id=user.id)]

    def members(self, group: Group) -> list[User]:
        """The users in a group."""
        return [self._users.require(row.user_id) for row in self._memberships.select(group_id=group.id)]

    def add_member(self, group: Group, user: User) -> None:
        """Put a user into a group; does nothing when they are in it."""
        key = f"{group.id}:{user.id}"
        if key not in self._memberships:
            self._memberships.add(Membership(id=key, group_id=group.id, user_id=user.id))

    def membership(self, group: Group, user: User) -> Membership:
        """The record that a user is in a group. Raises ApiError 404."""
        found = self._memberships.get(f"{group.id}:{user.id}")
        if found is None:
            raise not_found(f"User '{user.id}' not found in group '{group.id}'")
        return found

    def remove_member(self, group: Group, user: User) -> None:
        """Take a user out of a group. Raises ApiError 404."""
        self._memberships.remove(self.membership(group, user))
