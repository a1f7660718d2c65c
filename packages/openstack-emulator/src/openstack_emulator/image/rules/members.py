"""Projects with which images are shared."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.image.records import Image, Member
from openstack_emulator.image.rules.errors import unauthorized


class Members(Rules):
    """Members of images: pending until they say whether they accept.

    rows: the table of members.
    """

    def __init__(self, records: Records, rows: Table[Member]) -> None:
        super().__init__(records)
        self.rows = rows

    def add(self, image: Image, project_id: str) -> Member:
        """A new, pending member; 403 unless the image is shared, 409 when the project is a member."""
        _require_shared(image)
        key = f"{image.id}:{project_id}"
        if key in self.rows:
            raise conflict(f"Member {project_id} is duplicated for image {image.id}")
        now = self.records.timestamp()
        return self.rows.add(
            Member(id=key, image_id=image.id, project_id=project_id, status="pending", created_at=now, updated_at=now)
        )

    def of(self, context: Context, image: Image) -> list[Member]:
        """All members for the owner, the own membership for a member; 403 unless the image is shared."""
        _require_shared(image)
        rows = self.rows.select(image_id=image.id)
        return rows if context.may_see(image) else [row for row in rows if row.project_id == context.project_id]

    def visible(self, context: Context, image: Image, project_id: str) -> Member:
        """A member, for the owner of the image and for itself; others get a 404."""
        member = self.rows.get(f"{image.id}:{project_id}")
        if member is None or not (context.may_see(image) or project_id == context.project_id):
            raise not_found(f"{project_id} not found in the member list of the image {image.id}.")
        return member

    def answer(self, context: Context, member: Member, status: str) -> None:
        """Say whether a member accepts; 403 for others than itself."""
        if member.project_id != context.project_id and not context.is_admin:
            raise unauthorized("modify_member")
        member.status, member.updated_at = status, self.records.timestamp()
        self.rows.save(member)


def _require_shared(image: Image) -> None:
    if image.visibility != "shared":
        raise forbidden("Only shared images have members.")
