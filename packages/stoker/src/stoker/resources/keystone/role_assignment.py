"""OS::Keystone::UserRoleAssignment and OS::Keystone::GroupRoleAssignment"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Snapshot
from stoker.resources.declare import custom
from stoker.resources.keystone.assignments import ROLES, RoleBearer, held
from stoker.resources.keystone.base import collection
from stoker.schema.property import Change, Property, Support


class RoleAssignment(RoleBearer):
    """Roles of an existing user or group. `bearer` is the property that names it."""

    bearer: ClassVar[str]
    named_in = None
    id_is_new = False
    support = Support(version="5.0.0")
    recovery = Recovery(
        RecoveryMethod.NOTHING,
        "Assigning a role that is already assigned changes nothing.",
    )

    def reference_id(self, resource: Snapshot) -> object:
        return resource.name

    def bearer_of(self, call: Call, properties: Mapping[str, object]) -> str:
        return str(properties[self.bearer])

    async def find(self, call: Call) -> str | None:
        return None

    async def create(self, call: Call) -> Outcome:
        await self.add_extras(call)
        return Done(physical_id=call.resource.uuid)

    async def update(self, call: Call) -> Outcome:
        await self.move_grants(call, call.previous or {}, call.properties)
        return Done()

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        return Done()

    async def revert_replacement(self, call: Call) -> Outcome:
        """Assign the roles again, which the deletion of a replacement has revoked."""
        await self.add_extras(call)
        return Done()

    async def delete(self, call: Call) -> Outcome:
        await self.move_grants(call, call.properties, {})
        return Done()

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        present = await held(self, call)
        if all(present):
            return {}
        return {"roles": [role for role, there in zip(call.properties["roles"], present, strict=True) if there]}

    async def adopt(self, call: Call) -> Outcome:
        if await self.observe(call):
            return Failed("some of the roles are not assigned", "NotFound")
        return Done()

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return False


class UserRoleAssignment(RoleAssignment):
    """Roles of a user."""

    type_name = "OS::Keystone::UserRoleAssignment"
    description = "Roles of a user on projects and domains."
    for_administrators = True
    collection = collection("user")
    bearer = "user"

    properties = {
        "user": Property(
            description="The user, by name or ID.",
            required=True,
            constraints=custom("keystone.user"),
            change=Change.UPDATE,
            resolve="keystone.user",
        ),
        "roles": ROLES,
    }


class GroupRoleAssignment(RoleAssignment):
    """Roles of a group."""

    type_name = "OS::Keystone::GroupRoleAssignment"
    description = "Roles of a group on projects and domains."
    for_administrators = True
    collection = collection("group")
    bearer = "group"

    properties = {
        "group": Property(
            description="The group, by name or ID.",
            required=True,
            constraints=custom("keystone.group"),
            change=Change.UPDATE,
            resolve="keystone.group",
        ),
        "roles": ROLES,
    }
