"""Role assignments of users and groups on projects and domains."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from stoker.plugins.resource import Call
from stoker.resources.keystone.base import KeystoneResource
from stoker.resources.live_values import Reader
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import Live, LiveSource
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
    live=Live(LiveSource.FETCHED, shared=True),
)


async def held(kind: RoleBearer, call: Call) -> list[bool]:
    """Return for each of the roles whether it is assigned."""
    paths = kind.grants(call, call.properties)
    answers = await asyncio.gather(*(call.cloud.request("HEAD", "keystone", path, ok=(404,)) for path in paths))
    return [answer.status != 404 for answer in answers]


async def _roles(kind: RoleBearer, call: Call, shown: Mapping[str, object]) -> list[object]:
    """Return those of the roles that the object has."""
    return [role for role, held in zip(call.properties["roles"], await held(kind, call), strict=True) if held]


class RoleBearer(KeystoneResource):
    """A type with `roles`, whose objects have role assignments."""

    readers: ClassVar[Mapping[str, Reader]] = {"roles": _roles}

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        roles = properties.get("roles")
        for role in [] if is_unknown(roles) else roles or []:
            if not is_unknown(role) and (role.get("project") is None) == (role.get("domain") is None):
                yield "each entry of roles must have either project or domain"

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties["roles"])

    def bearer_of(self, call: Call, properties: Mapping[str, object]) -> str:
        """Return the ID of the user or group that has the roles of the properties."""
        return str(call.physical_id)

    async def add_extras(self, call: Call) -> None:
        await self.move_grants(call, {}, call.properties)

    async def change_extras(self, call: Call) -> None:
        if "roles" in call.changed:
            await self.move_grants(call, call.previous or {}, call.properties)

    async def move_grants(self, call: Call, before: Mapping[str, object], after: Mapping[str, object]) -> None:
        """Assign the roles of the properties `after`, then revoke those that only the properties `before` have."""
        former, declared = self.grants(call, before), self.grants(call, after)
        for path in declared:
            if path not in former:
                await call.cloud.put("keystone", path)
        for path in former:
            if path not in declared:
                await call.cloud.delete("keystone", path, ok=(404,))

    def grants(self, call: Call, properties: Mapping[str, Any]) -> list[str]:
        """Return the path of each assignment; a PUT of an existing one changes nothing."""
        paths = []
        for role in properties.get("roles") or []:
            place = f"domains/{role['domain']}" if role["project"] is None else f"projects/{role['project']}"
            bearer = self.bearer_of(call, properties)
            paths.append(f"/{place}{self.collection.path}/{bearer}/roles/{role['role']}")
        return paths
