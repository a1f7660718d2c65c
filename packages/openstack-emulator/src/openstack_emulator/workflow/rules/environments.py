"""Environments: named variables for executions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.workflow.records import Environment
from openstack_emulator.workflow.rules.fields import choice, json_object
from openstack_emulator.workflow.rules.sharing import SCOPES, SECONDS_FORM, WorkflowSharing, require_publisher


class Environments(Rules):
    """Environments, which those see that `sharing` says."""

    def __init__(self, records: Records, sharing: WorkflowSharing) -> None:
        super().__init__(records)
        self._sharing = sharing
        self.rows = records.table("environments", Environment, "name", missing=missing_environment)

    def require(self, context: Context, name: str) -> Environment:
        """Return an environment that the caller may see. Raises ApiError 404."""
        found = [row for row in self.rows.select(name=name) if self._sharing.is_visible(context, row)]
        if not found:
            raise missing_environment(name)
        return min(found, key=lambda row: row.project_id != context.project_id)

    def variables(self, value: object, project: str) -> dict[str, object]:
        """Return the variables that the parameter `env` of an execution means. Raises ApiError."""
        if value is None or isinstance(value, dict):
            return dict(value or {})
        named = self.rows.select(name=value) if isinstance(value, str) else []
        found = [row for row in named if row.project_id == project or row.scope == "public"]
        if not found:
            raise missing_environment(str(value))
        return dict(min(found, key=lambda row: row.project_id != project).variables or {})

    def create(self, context: Context, body: Mapping[str, Any]) -> Environment:
        """Create an environment. Raises ApiError 400, 409."""
        name = body.get("name")
        if not isinstance(name, str) or not 1 <= len(name) <= 255:
            raise bad_request("An environment requires a name of at most 255 characters.")
        fields = _fields(body, context)
        if self.rows.first(name=name, project_id=context.project) is not None:
            raise conflict(f"Duplicate entry for Environment ['name', 'project_id']: {name}, None")
        row = Environment(
            id=new_id(),
            name=name,
            description=None,
            scope="private",
            project_id=context.project,
            variables=None,
            created_at=self.records.timestamp(SECONDS_FORM),
            updated_at=None,
        )
        return self.rows.add(replace(row, **fields))

    def change(self, context: Context, body: Mapping[str, object]) -> Environment:
        """Change an environment; variables are replaced as a whole. Raises ApiError."""
        row = self.require(context, str(body.get("name")))
        if not context.may_see(row):
            raise ApiError(403, f"The environment {row.name} belongs to another project.")
        return self.rows.update(row, **_fields(body, context), updated_at=self.records.timestamp(SECONDS_FORM))

    def remove(self, context: Context, name: str) -> None:
        """Delete an environment. Raises ApiError."""
        row = self.require(context, name)
        if not context.may_see(row):
            raise ApiError(403, f"The environment {row.name} belongs to another project.")
        self.rows.remove(row)


def _fields(body: Mapping[str, object], context: Context) -> dict[str, Any]:
    """Return the fields of an environment that a request sets. Raises ApiError 400, 403."""
    request_body = {name: body[name] for name in ("description", "scope") if name in body}
    if "scope" in body:
        require_publisher(choice(body.get("scope"), "scope", SCOPES), context)
    if "variables" in body:
        request_body.update(variables=json_object(body, "variables", "env"))
    return request_body


def missing_environment(name: str) -> ApiError:
    """Return the 404 for an environment."""
    return not_found(f"Environment not found [name={name}]")
