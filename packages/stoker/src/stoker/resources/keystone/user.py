"""OS::Keystone::User"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.plugins.resource import Call
from stoker.resources.keystone.assignments import ROLES, RoleBearer
from stoker.resources.keystone.base import DOMAIN, collection
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import Live, LiveSource, never
from stoker.schema.property import Attribute, Change, Property, Support, Type

_SINCE = Support(version="9.0.0")


async def _groups(kind: User, call: Call, shown: Mapping[str, object]) -> list[object]:
    listed = await call.cloud.list("keystone", f"{kind.member_path(call)}/groups", "groups")
    return [group["id"] for group in listed]


class User(RoleBearer):
    """A user of the cloud."""

    type_name = "OS::Keystone::User"
    description = "A user, with group memberships and role assignments."
    for_administrators = True
    collection = collection("user")
    readers = {**RoleBearer.readers, "groups": _groups}
    support = Support(version="2015.1")

    properties = {
        "name": Property(description="Name of the user.", change=Change.UPDATE),
        "domain": DOMAIN,
        "description": Property(description="Description of the user.", default="", change=Change.UPDATE),
        "enabled": Property(Type.BOOLEAN, "Whether the user is enabled.", default=True, change=Change.UPDATE),
        "email": Property(description="The user's e-mail address.", change=Change.UPDATE),
        "password": Property(
            description="The user's password.",
            change=Change.UPDATE,
            secret=True,
            live=never("the service does not show passwords"),
        ),
        "default_project": Property(
            description="The default project of the user's tokens, by name or ID.",
            change=Change.UPDATE,
            wire="default_project_id",
            reference="keystone.project",
        ),
        "roles": ROLES,
        "groups": Property(
            Type.LIST,
            "Groups that the user belongs to.",
            items=Property(Type.STRING, "A group, by name or ID.", reference="keystone.group"),
            change=Change.UPDATE,
            wire=NOT_SENT,
            resolve="keystone.group",
            live=Live(LiveSource.FETCHED, shared=True),
        ),
    }

    attributes = {
        "name": Attribute("Name of the user.", Type.STRING, support=_SINCE),
        "default_project_id": Attribute("ID of the user's default project.", Type.STRING, support=_SINCE),
        "domain_id": Attribute("ID of the domain.", Type.STRING, support=_SINCE),
        "enabled": Attribute("Whether the user is enabled.", Type.BOOLEAN, support=_SINCE),
        "password_expires_at": Attribute("Expiration time of the password.", Type.STRING, support=_SINCE),
    }

    async def update_body(self, call: Call) -> dict[str, object]:
        """Return the changed fields; a password that is removed from the template stays the user's."""
        body = await super().update_body(call)
        if body.get("password", "") is None:
            del body["password"]
        return body

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties["groups"]) or super().needs_extras(call)

    async def add_extras(self, call: Call) -> None:
        await self._join(call, call.properties["groups"] or ())
        await super().add_extras(call)

    async def change_extras(self, call: Call) -> None:
        if "groups" in call.changed:
            before = set((call.previous or {}).get("groups") or ())
            after = set(call.properties["groups"] or ())
            await self._join(call, after - before)
            for group in sorted(before - after):
                await call.cloud.delete("keystone", _membership(group, call), ok=(404,))
        await super().change_extras(call)

    async def _join(self, call: Call, groups: Iterable[str]) -> None:
        for group in sorted(groups):
            await call.cloud.put("keystone", _membership(group, call))


def _membership(group: str, call: Call) -> str:
    return f"/groups/{group}/users/{call.physical_id}"
