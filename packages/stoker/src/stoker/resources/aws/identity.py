"""AWS::IAM::User and AWS::IAM::AccessKey: users that belong to a stack, and their keys."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any
from uuid import uuid4

from stoker.plugins.capabilities import UserOwner
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType, Snapshot
from stoker.resources.base import value_at
from stoker.resources.declare import one_of
from stoker.resources.heat.users.stack_user import StackUserResource, user_project
from stoker.schema.property import Attribute, Property, Type

POLICY = "OS::Heat::AccessPolicy"
USER = "AWS::IAM::User"
_NO_SECRET = "000-000-000"  # noqa: S105  Heat's value for an unknown secret
_ACCESS, _SECRET, _CREDENTIAL = "access_key", "secret_key", "credential_id"


class User(StackUserResource, UserOwner):
    """A user of the stack, who may read the resources that its policies allow."""

    type_name = USER
    description = "A user that belongs to the stack."
    signalable = False

    properties = {
        "Path": Property(description="Has no effect."),
        "Groups": Property(Type.LIST, "Has no effect."),
        "LoginProfile": Property(
            Type.MAP,
            "Login settings of the user.",
            schema={"Password": Property(description="The password; random if not given.", secret=True)},
        ),
        "Policies": Property(Type.LIST, "Names of access policies of this stack."),
    }

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_name if resource.physical_id is not None else resource.name

    def user_may_use(self, resource: Snapshot, name: str, others: Mapping[str, Snapshot]) -> bool:
        """Return whether every policy of the user allows it."""
        policies = [others.get(policy) for policy in named_policies(resource.properties)]
        return all(policy is not None and name in policy.properties["AllowedResources"] for policy in policies)

    async def create(self, call: Call) -> Outcome:
        for name in named_policies(call.properties):
            found = await call.engine.neighbours.by_reference(name)
            if found is None or found.type != POLICY:
                return Failed(f"{name!r} is not an access policy of this stack", "InvalidTemplateAttribute")
        password = (call.properties["LoginProfile"] or {}).get("Password")
        if password is not None:
            call.data["password"] = password
        return await super().create(call)


def named_policies(properties: Mapping[str, Any]) -> list[str]:
    """Return the names of a user's policies; other entries are ignored."""
    return [name for name in properties.get("Policies") or [] if isinstance(name, str)]


class AccessKey(ResourceType):
    """A key pair for a user of the same stack."""

    type_name = "AWS::IAM::AccessKey"
    description = "An access key and secret of a user of the stack."
    object_ids = ObjectIds()
    recovery = Recovery(
        RecoveryMethod.IDENTIFIER,
        "The access key is generated and recorded before the request is sent.",
    )
    redacted_data = frozenset({_SECRET, _CREDENTIAL})

    properties = {
        "Serial": Property(Type.INTEGER, "Not supported.", implemented=False),
        "UserName": Property(description="The user, by reference ID.", required=True),
        "Status": Property(description="Not supported.", implemented=False, constraints=one_of("Active", "Inactive")),
    }
    attributes = {
        "UserName": Attribute("Reference ID of the user.", Type.STRING, live=True),
        "SecretAccessKey": Attribute("The secret access key.", Type.STRING, live=True),
    }

    async def create(self, call: Call) -> Outcome:
        user = await call.engine.neighbours.by_reference(call.properties["UserName"])
        if user is None or user.type != USER or "user_id" not in user.data:
            return Failed(f"{call.properties['UserName']!r} is not the reference of a user in this stack", "NotFound")
        if _ACCESS not in call.data:
            call.data[_ACCESS], call.data[_SECRET] = uuid4().hex, uuid4().hex
            return InProgress(after=0.0)
        access = call.data[_ACCESS]
        blob = json.dumps({"access": access, "secret": call.data[_SECRET]})
        body = {"type": "ec2", "blob": blob, "user_id": user.data["user_id"], "project_id": user_project(call)}
        admin = await call.cloud.as_stack_domain_admin()
        await admin.request("POST", "keystone", "/credentials", json={"credential": body}, ok=(409,))
        # Keystone derives the ID of an EC2 credential from its access key.
        call.data[_CREDENTIAL] = sha256(access.encode()).hexdigest()
        return Done(physical_id=access)

    async def adopt(self, call: Call) -> Outcome:
        """Adopt a key pair that belongs to the user in the same stack."""
        user = await call.engine.neighbours.by_reference(call.properties["UserName"])
        admin = await call.cloud.as_stack_domain_admin()
        identifier = sha256(str(call.physical_id).encode()).hexdigest()
        answer = await admin.request("GET", "keystone", f"/credentials/{identifier}", ok=(404,))
        owner = None if answer.status == 404 else answer.body["credential"]["user_id"]
        if user is None or user.type != USER or owner is None or owner != user.data.get("user_id"):
            call.data.clear()
            return Failed(f"{call.physical_id} is not an access key of {call.properties['UserName']}", "NotFound")
        call.data[_ACCESS], call.data[_CREDENTIAL] = call.physical_id, identifier
        return Done()

    async def delete(self, call: Call) -> Outcome:
        if _ACCESS in call.data:
            admin = await call.cloud.as_stack_domain_admin()
            identifier = sha256(call.data[_ACCESS].encode()).hexdigest()
            await admin.delete("keystone", f"/credentials/{identifier}", ok=(404,))
        return Done()

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        values = {
            "UserName": call.properties["UserName"],
            "SecretAccessKey": call.data.get(_SECRET, _NO_SECRET),
        }
        return {key: value_at(values.get(str(key[0])), key[1:]) for key in keys}
