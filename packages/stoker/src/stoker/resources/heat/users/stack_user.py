"""Users that belong to a resource, in the stack's own project in the domain for such users.

Their credentials are given to servers, so that a leaked credential allows no more than such a user may do.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import uuid4

from stoker.base.errors import CloudError, Conflict
from stoker.plugins.agents import USER_PROJECT
from stoker.plugins.capabilities import Resumable, Suspendable
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, ResourceType
from stoker.resources.heat.random_string import random_string

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

DOMAIN = "stack_user_domain_id"
_PROJECT_NAME_LENGTH = 64
_PASSWORD_LENGTH = 32
_PASSWORD_ALPHABETS = [(string.ascii_lowercase, 1), (string.ascii_uppercase, 1), (string.digits, 1), ("!@#%^&*", 1)]


class StackUserResource(ResourceType, Resumable, Suspendable):
    """A resource with a user, whose ID is the resource's physical ID.

    Secrets are generated and recorded first, then the user is created with them, then `equip` does the rest. They are
    recorded only if the administrator of the stack domain can log in: without them, there is nothing to find or delete.
    """

    signalable = True
    object_ids = ObjectIds(kind="keystone /users")
    redacted_data = frozenset({"password", "access_key", "secret_key", "credential_id", "token"})
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The user has the physical name, in the stack domain; its secrets are recorded before it is created.",
    )

    async def find(self, call: Call) -> str | None:
        if "password" not in call.data:
            return None
        admin = await call.cloud.as_stack_domain_admin()
        return await _find_user(call, admin, await _domain(call, admin))

    async def create(self, call: Call) -> Outcome:
        admin = await call.cloud.as_stack_domain_admin()
        if "password" not in call.data:
            call.data["password"] = random_string(_PASSWORD_ALPHABETS, _PASSWORD_LENGTH)
            return InProgress(after=0.0)
        if call.physical_id is None:
            return InProgress(after=0.0, physical_id=await _make_user(call, admin))
        call.data["user_id"] = call.physical_id
        await _make_project(call, admin, await _domain(call, admin))
        await _grant_role(call, admin)
        return await self.equip(call)

    async def adopt(self, call: Call) -> Outcome:
        """Adopt a user that a stack of the same project had; its signal URLs are created again."""
        return await verify_adopted_user(call) or await self.equip(call)

    async def equip(self, call: Call) -> Outcome:
        """Create what else the resource needs once the user exists; must be idempotent."""
        return Done()

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is None and "password" not in call.data:
            return Done()
        admin = await call.cloud.as_stack_domain_admin()
        # An interrupted creation may have created the project; once recorded, it is deleted with the stack.
        if (project := await _known_project(call, admin)) is not None:
            call.data[USER_PROJECT] = project
        if call.physical_id is None:
            return Done()
        if await _own_user(call, admin):  # with the user, Keystone deletes its key pair
            await admin.delete("keystone", _path(call), ok=(404,))
        call.data.pop("user_id", None)
        return Done()

    async def suspend(self, call: Call) -> Outcome:
        return await _enable(call, False)

    async def resume(self, call: Call) -> Outcome:
        return await _enable(call, True)


async def verify_adopted_user(call: Call) -> Outcome | None:
    """Verify that a user and its key pair may be adopted: return None, or the failure.

    Users are deleted with the rights of the domain's administrator. So it must be one that was created for a stack of
    the same project: in the domain for such users, and with a project whose name begins with the stack's project ID.
    """
    for key in (DOMAIN, USER_PROJECT):
        call.data.pop(key, None)
    admin = await call.cloud.as_stack_domain_admin()
    answer = await admin.request("GET", "keystone", _path(call), ok=(404,))
    if answer.status == 404:
        return Failed(f"user {call.physical_id} does not exist", "NotFound")
    user = answer.body["user"]
    if user["domain_id"] != await _domain(call, admin) or not user.get("default_project_id"):
        return Failed(f"user {call.physical_id} was not created for a stack", "Forbidden")
    project = (await admin.get("keystone", f"/projects/{user['default_project_id']}"))["project"]
    if not str(project["name"]).startswith(f"{call.stack.project_id}-"):
        return Failed(f"user {call.physical_id} was not created for a stack of this project", "Forbidden")
    if "password" not in call.data:
        return Failed("the adoption data does not contain the user's password", "Error")
    call.data["user_id"], call.data[USER_PROJECT] = call.physical_id, project["id"]
    await _verify_key_pair(call, admin)
    return None


async def _verify_key_pair(call: Call, admin: Cloud) -> None:
    """Discard a key pair that is not the user's."""
    access = call.data.get("access_key")
    identifier = sha256(str(access).encode()).hexdigest()
    if access is not None:
        answer = await admin.request("GET", "keystone", f"/credentials/{identifier}", ok=(404,))
        if answer.status != 404 and answer.body["credential"]["user_id"] == call.physical_id:
            call.data["credential_id"] = identifier
            return
    for key in ("access_key", "secret_key", "credential_id"):
        call.data.pop(key, None)


async def make_key_pair(call: Call) -> Outcome | None:
    """Create the user's EC2 access key and secret; return None once they exist, else the outcome to return first."""
    data = call.data
    if "access_key" not in data:
        data["access_key"], data["secret_key"] = uuid4().hex, uuid4().hex
        return InProgress(after=0.0)
    if "credential_id" not in data:
        admin = await call.cloud.as_stack_domain_admin()
        blob = json.dumps({"access": data["access_key"], "secret": data["secret_key"]})
        body = {"type": "ec2", "blob": blob, "user_id": call.physical_id, "project_id": user_project(call)}
        await admin.request("POST", "keystone", "/credentials", json={"credential": body}, ok=(409,))
        # Keystone derives the ID of an EC2 credential from its access key, so it is known even without the response.
        data["credential_id"] = sha256(data["access_key"].encode()).hexdigest()
    return None


def user_project(call: Call) -> str:
    """Return the project of the stack's users, once a user has been created."""
    return str(call.data.get(USER_PROJECT) or call.stack.user_project_id)


async def record_domain(call: Call) -> None:
    """Record the domain of the resource's user, unless it is: a user that Heat created has none."""
    if DOMAIN not in call.data:
        await _domain(call, await call.cloud.as_stack_domain_admin())


async def _domain(call: Call, admin: Cloud) -> str:
    """Return the domain for stacks' users: the one that its administrator's token is scoped to."""
    if DOMAIN not in call.data:
        shown = await admin.get("keystone", "/auth/tokens", headers={"X-Subject-Token": await admin.token()})
        call.data[DOMAIN] = shown["token"]["domain"]["id"]
    return str(call.data[DOMAIN])


async def _make_project(call: Call, admin: Cloud, domain: str) -> str:
    """Return the project for the users of the whole stack tree; create it unless it exists."""
    known = await _known_project(call, admin)
    if known is None:
        name = _project_name(call)
        body = {"name": name, "domain_id": domain, "description": "Users of a stack's own resources"}
        known = await _post(admin, "project", body) or await _named(admin, "projects", name, domain)
        if known is None:
            raise Conflict(f"The project {name!r} for the stack's users can be neither created nor found.")
    call.data[USER_PROJECT] = known
    return known


async def _known_project(call: Call, admin: Cloud) -> str | None:
    """Return the recorded project of the resource or of the stack if it exists, else the one with the name.

    A failed deletion of the stack may have deleted its project.
    """
    if USER_PROJECT in call.data:
        return str(call.data[USER_PROJECT])
    known = call.stack.user_project_id
    if known is not None and (await admin.request("GET", "keystone", f"/projects/{known}", ok=(404,))).status != 404:
        return known
    return await _named(admin, "projects", _project_name(call), await _domain(call, admin))


def _project_name(call: Call) -> str:
    return f"{call.stack.project_id}-{call.stack.root_id}"[:_PROJECT_NAME_LENGTH]


async def _make_user(call: Call, admin: Cloud) -> str:
    domain = await _domain(call, admin)
    project = await _make_project(call, admin, domain)
    body = {
        "name": call.physical_name,
        "password": call.data["password"],
        "domain_id": domain,
        "default_project_id": project,
        "enabled": True,
    }
    made = await _post(admin, "user", body) or await _find_user(call, admin, domain)
    if made is None:
        raise Conflict(f"The user {call.physical_name!r} can be neither created nor found.")
    return made


async def _post(admin: Cloud, member: str, body: Mapping[str, object]) -> str | None:
    """Create a project or user; return None when the name exists, since it was created concurrently."""
    answer = await admin.request("POST", "keystone", f"/{member}s", json={member: body}, ok=(409,))
    return None if answer.status == 409 else str(answer.body[member]["id"])


async def _find_user(call: Call, admin: Cloud, domain: str) -> str | None:
    return await _named(admin, "users", call.physical_name, domain)


async def _named(admin: Cloud, members: str, name: str, domain: str) -> str | None:
    listed = await admin.list("keystone", f"/{members}", members, {"name": name, "domain_id": domain})
    return next((str(item["id"]) for item in listed if item["name"] == name), None)


async def _grant_role(call: Call, admin: Cloud) -> None:
    role = await admin.find("keystone.role", call.stack.options.get("heat_stack_user_role") or "heat_stack_user")
    path = f"/projects/{user_project(call)}/users/{quote(str(call.physical_id), safe='')}/roles/{role}"
    await admin.put("keystone", path)


async def _own_user(call: Call, admin: Cloud) -> bool:
    """Return whether the user exists. Raises CloudError for one of another domain, which must not be changed."""
    answer = await admin.request("GET", "keystone", _path(call), ok=(404,))
    if answer.status == 404:
        return False
    domain = await _domain(call, admin)
    if answer.body["user"]["domain_id"] != domain:
        raise CloudError("keystone", 403, f"user {call.physical_id} is not in the domain for stacks' users")
    return True


async def _enable(call: Call, enabled: bool) -> Outcome:
    if call.physical_id is not None:
        admin = await call.cloud.as_stack_domain_admin()
        if await _own_user(call, admin):
            await admin.patch("keystone", _path(call), {"user": {"enabled": enabled}})
    return Done()


def _path(call: Call) -> str:
    """Return the path of the resource's user."""
    return f"/users/{quote(str(call.physical_id), safe='')}"
