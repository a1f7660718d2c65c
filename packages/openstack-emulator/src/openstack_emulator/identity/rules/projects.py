"""Projects and their hierarchy."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import Domain, EndpointChoice, Project, Target, User
from openstack_emulator.identity.rules.errors import refuse_duplicate
from openstack_emulator.identity.rules.grants import Grants
from openstack_emulator.identity.rules.hierarchy import Hierarchy
from openstack_emulator.identity.rules.kept import RecordCollection, remove_all
from openstack_emulator.identity.rules.owned import OwnedTables

DEEPEST = 5
"""Levels of projects below a domain, Keystone's default."""


class Projects(RecordCollection[Project]):
    """Projects, below domains and each other, as `hierarchy` tells."""

    def __init__(
        self,
        records: Records,
        hierarchy: Hierarchy,
        domains: Table[Domain],
        users: Table[User],
        grants: Grants,
        owned: OwnedTables,
        choices: Table[EndpointChoice],
    ) -> None:
        super().__init__(records, hierarchy.projects)
        self.hierarchy = hierarchy
        self._domains = domains
        self._users = users
        self._grants = grants
        self._owned = owned
        self._choices = choices

    def create(self, new: Project) -> Project:
        if new.domain_id not in self._domains:
            raise bad_request(f"Could not find domain: {new.domain_id}.")
        if new.parent_id != new.domain_id:
            self._check_parent(new)
        refuse_duplicate(self.rows, "project", new.name, new.domain_id)
        return super().create(new)

    def _check_parent(self, new: Project) -> None:
        parent = self.rows.get(new.parent_id)
        if parent is None:
            raise bad_request(f"Could not find project: {new.parent_id}.")
        if parent.domain_id != new.domain_id:
            raise bad_request("A project must be in the domain of its parent.")
        if not parent.enabled:
            raise forbidden(f"Cannot create a project in the disabled branch of {parent.id}.")
        if len(self.hierarchy.ancestors(parent.id)) + 1 >= DEEPEST:
            raise forbidden(f"Max hierarchy depth reached for {parent.id} branch.")

    def change(self, record: Project, after: Project) -> None:
        if after.parent_id != record.parent_id:
            raise forbidden("Update of `parent_id` is not allowed.")
        if after.name != record.name:
            refuse_duplicate(self.rows, "project", after.name, record.domain_id)
        if after.enabled and any(not above.enabled for above in self.hierarchy.ancestors(record.id)):
            raise forbidden(f"Cannot enable project {record.id} since it has disabled parents.")
        if not after.enabled and any(below.enabled for below in self.hierarchy.descendants(record.id)):
            raise forbidden(f"Cannot disable project {record.id} since its subtree contains enabled projects.")
        super().change(record, after)

    def remove(self, record: Project) -> None:
        """A project without children, with all that was given on it; 403 when it has children."""
        key = record.id
        if self.rows.first(parent_id=key) is not None:
            raise forbidden(
                f"Cannot delete the project {key} since it is not a leaf in the hierarchy. Use the cascade option if "
                "you want to delete a whole subtree."
            )
        self._grants.remove_on(Target("project", key))
        self._owned.remove_of_project(key)
        remove_all(self._choices, self._choices.select(project_id=key))
        for user in self._users.select(default_project_id=key):
            self._users.update(user, default_project_id=None)
        super().remove(record)

    def set_tags(self, project: Project, tags: list[str]) -> None:
        """Give a project these tags, and no others."""
        project.tags = tags
        self.rows.save(project)

    def remove_tag(self, project: Project, tag: str) -> None:
        """Remove a tag. Raises ApiError 404."""
        self.require_tag(project, tag)
        self.set_tags(project, [have for have in project.tags if have != tag])

    def require_tag(self, project: Project, tag: str) -> None:
        """Raise ApiError 404 for a project without the tag."""
        if tag not in project.tags:
            raise not_found(f"Could not find project tag: {tag}.")
