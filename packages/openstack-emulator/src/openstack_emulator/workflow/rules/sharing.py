"""Who sees a definition: its project, all projects if it is public, and members who have accepted it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.workflow.records import Member, TimestampedRecord, Workflow
from openstack_emulator.workflow.rules.fields import choice

SECONDS_FORM = "%Y-%m-%d %H:%M:%S"
"""The form of Mistral's times, in UTC."""
SCOPES = ("private", "public")
STATUSES = ("pending", "accepted", "rejected")
D = TypeVar("D", bound=TimestampedRecord)


def scope_of(value: object, context: Context) -> str:
    """Return a scope from a request. Raises ApiError 400, and 403 for one that only administrators may give."""
    if value not in SCOPES:
        raise bad_request(f"Scope must be one of the following: {', '.join(SCOPES)}; actual: {value}")
    require_publisher(str(value), context)
    return str(value)


def require_publisher(scope: str, context: Context) -> None:
    """Refuse users who are no administrators to show an object to all projects, as Mistral's default policies do."""
    if scope == "public":
        context.require("admin")


class WorkflowSharing(Rules):
    """Members: projects that a private workflow of another project is shared with."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.members = records.table("members", Member, "resource_id", "member_id")

    def is_visible(self, context: Context, row: TimestampedRecord) -> bool:
        """Return whether the caller may see a record."""
        if context.may_see(row) or row.get("scope") == "public":
            return True
        shared = self.members.first(resource_id=row.id, member_id=context.project_id)
        return shared is not None and shared.status == "accepted"

    def listed(self, rows: Sequence[D], context: Context, everywhere: bool) -> list[D]:
        """Return the records that a list shows: those of all projects for an administrator who asks for them."""
        if everywhere:
            context.require("admin")
            return list(rows)
        own = replace(context, roles=context.roles - {"admin"})
        return [row for row in rows if self.is_visible(own, row)]

    def add(self, workflow: Workflow, context: Context, project: Any) -> Member:
        """Share a private workflow of the caller's project with another project. Raises ApiError."""
        if workflow.project_id != context.project_id or workflow.scope != "private":
            raise bad_request("Only private resource could be shared.")
        if not isinstance(project, str) or project not in self.cloud.of(Identity).projects.rows:
            raise bad_request(f"The member {project} is not a project.")
        if self.members.first(resource_id=workflow.id, member_id=project) is not None:
            keys = "['resource_id', 'resource_type', 'member_id']"
            raise conflict(f"Duplicate entry for ResourceMember {keys}: {workflow.id}, workflow, {project}")
        moment = self.records.timestamp(SECONDS_FORM)
        return self.members.add(
            Member(
                id=new_id(),
                resource_id=workflow.id,
                resource_type="workflow",
                project_id=context.project,
                member_id=project,
                status="pending",
                created_at=moment,
                updated_at=None,
            )
        )

    def of(self, workflow_id: str, context: Context) -> list[Member]:
        """Return the members of a workflow that the caller may see: all for its owner, and the caller's own."""
        found = self.members.select(resource_id=workflow_id)
        return [share for share in found if context.may_see(share) or share.member_id == context.project_id]

    def member(self, workflow_id: str, project: str, context: Context) -> Member:
        """Return a member. Raises ApiError 404."""
        found = next((share for share in self.of(workflow_id, context) if share.member_id == project), None)
        if found is None:
            raise missing(workflow_id, project)
        return found

    def decide(self, member: Member, context: Context, status: object) -> None:
        """Let the member accept or reject. Raises ApiError."""
        if member.member_id != context.project_id:
            raise missing(member.resource_id, member.member_id)
        member.status = choice(status, "status", STATUSES)
        member.updated_at = self.records.timestamp(SECONDS_FORM)
        self.members.save(member)

    def remove(self, member: Member, context: Context) -> None:
        """Stop sharing with a member. Raises ApiError 404 for other callers than the owner."""
        if not context.may_see(member):
            raise missing(member.resource_id, member.member_id)
        self.members.remove(member)

    def forget(self, workflow_id: str) -> None:
        """Remove the members of a deleted workflow."""
        for member in self.members.select(resource_id=workflow_id):
            self.members.remove(member)


def missing(workflow_id: str, project: str) -> ApiError:
    """Return the 404 for a member."""
    return not_found(f"Resource member not found [resource_id={workflow_id}, member_id={project}]")
