"""Environment templates: sets of applications from which environments are made."""

from __future__ import annotations

from openstack_emulator.catalog.records import Applications, Template
from openstack_emulator.catalog.rules.environments import STAMP
from openstack_emulator.core.cloud import Records, new_hex_id
from openstack_emulator.core.errors import conflict, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules


class Templates(Rules):
    """Environment templates of projects; public ones are visible to all projects."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("templates", Template, "project_id")

    def find(self, context: Context, key: str) -> Template:
        """Return a template that the caller may see. Raises ApiError: 404, or 403."""
        row = self.rows.require(key)
        if not row.is_public and not context.may_see(row):
            raise forbidden("User is not authorized to access these tenant resources")
        return row

    def own(self, context: Context, key: str) -> Template:
        """Return a template that the caller may change. Raises ApiError: 404, or 403."""
        row = self.rows.require(key)
        if not context.may_see(row):
            raise forbidden("User is not authorized to access these tenant resources")
        return row

    def require_free_name(self, project_id: str, name: str) -> None:
        """Raise ApiError 409 for a name that a template of the project has."""
        if self.rows.select(project_id=project_id, name=name):
            raise conflict("Environment template with specified name already exists")

    def add(self, context: Context, name: str, description: str, is_public: bool, services: Applications) -> Template:
        """Create a template."""
        now = self.records.timestamp(STAMP)
        return self.rows.add(
            Template(
                id=new_hex_id(),
                name=name,
                description_text=description,
                is_public=is_public,
                project_id=context.project,
                created=now,
                updated=now,
                version=0,
                services=services,
            )
        )

    def save(self, row: Template) -> None:
        """Note that a template was changed."""
        row.updated = self.records.timestamp(STAMP)
        self.rows.save(row)
