"""Role assignments of users and groups on projects and domains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.keystone.base import KeystoneResource
from stoker.resources.wire import NOT_SENT
from stoker.schema.property import Change, Property, Type
from stoker.schema.unknown import is_unknown

_ASSIGNMENT = {
    "role": Property(
        description="The role, by name or ID.",
        required=True,
        reference="keystone.role",
    ),
    "project": Property(
        description="The project of the assignment, by name or ID.",
        reference="keystone.project",
    ),
    "domain": Property(
        description="The domain of the assignment, by name or ID.",
        reference="keystone.domain",
    ),
}

ROLES = Property(
    Type.LIST,
    "Roles on projects and domains.",
    items=Property(Type.MAP, "A role on a project or on a domain.", schema=_ASSIGNMENT),
    change=Change.UPDATE,
    wire=NOT_SENT,
)


class RoleBearer(KeystoneResource):
    """A type with `roles`, whose objects have role assignments."""

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        roles = properties.get("roles")
        for role in [] if is_unknown(roles) else roles or []:
            if not is_unknown(role) and (role.get("project") is None) == (role.get("domain") is None):
                yield "each entry of roles must have either project or domain"

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties["roles"])

    async def add_extras(self, call: Call) -> None:
        for path in self._grants(call, call.properties):
            await call.cloud.put("keystone", path)

    async def change_extras(self, call: Call) -> None:
        if "roles" not in call.changed:
            return
        before, after = self._grants(call, call.previous or {}), self._grants(call, call.properties)
        for path in after:
            if path not in before:
                await call.cloud.put("keystone", path)
        for path in before:
            if path not in after:
                await call.cloud.delete("keystone", path, ok=(404,))

    def _grants(self, call: Call, properties: Mapping[str, Any]) -> list[str]:
        """Return the path of each assignment; a PUT of an existing one changes nothing."""
        paths = []
        for role in properties.get("roles") or []:
            place = f"domains/{role['domain']}" if role["project"] is None else f"projects/{role['project']}"
            paths.append(f"/{place}{self.collection.path}/{call.physical_id}/roles/{role['role']}")
        return paths
