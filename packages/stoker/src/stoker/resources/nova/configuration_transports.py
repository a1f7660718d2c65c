"""The ways in which the agent of a server gets the server's metadata.

There are four: the CloudFormation API with an EC2 key pair, the Orchestration API with a password, a Swift object
behind a signed URL, and a Zaqar queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stoker.base.errors import NotSupported
from stoker.base.ids import new_id
from stoker.cloud import messaging
from stoker.plugins.agents import METADATA_PATH, METADATA_QUEUE, as_stack_user, send_metadata
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import Call
from stoker.plugins.transports import ConfigurationTransport
from stoker.resources.heat.users.companion_user import ensure_user
from stoker.resources.heat.users.stack_user import user_project
from stoker.resources.nova.user_data import metadata_url
from stoker.resources.swift.temp_url import delete_object, object_path, put_object, temp_url

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

_OBJECT_NAME = "metadata_object_name"


class CloudFormationApi(ConfigurationTransport):
    """The CloudFormation API, with the key pair of the server's user."""

    collector = "cfn"

    async def prepare(self, call: Call) -> Outcome:
        return await ensure_user(call, with_key_pair=True)

    async def configuration(self, call: Call) -> Mapping[str, Any]:
        url = metadata_url(call)
        if url is None:
            raise NotSupported(
                "POLL_SERVER_CFN needs a CloudFormation API in the catalog, or heat_metadata_server_url set"
            )
        return {
            "metadata_url": url,
            "access_key_id": call.data["access_key"],
            "secret_access_key": call.data["secret_key"],
            "stack_name": call.url_stack.name,
            "path": f"{call.url_name}.Metadata",
        }


class OrchestrationApi(ConfigurationTransport):
    """The Orchestration API, with the password of the server's user."""

    collector = "heat"

    async def prepare(self, call: Call) -> Outcome:
        return await ensure_user(call, with_key_pair=False)

    async def configuration(self, call: Call) -> Mapping[str, Any]:
        own = {"stack_id": f"{call.url_stack.name}/{call.url_stack.id}", "resource_name": call.url_name}
        return _credentials(call) | own


class SignedObject(ConfigurationTransport):
    """An object in Swift, behind a signed URL."""

    collector = "request"
    place = METADATA_PATH

    async def prepare(self, call: Call) -> Outcome:
        """Choose the object's name, once, and create it without content."""
        if METADATA_PATH in call.data:
            await put_object(call.cloud, call.data[METADATA_PATH], None)
            return Done()
        call.data.setdefault(_OBJECT_NAME, new_id())
        call.data[METADATA_PATH] = _wanted_path(call)
        return InProgress(after=0.0)

    async def configuration(self, call: Call) -> Mapping[str, Any]:
        return {"metadata_url": await temp_url(call.cloud, "GET", call.data[METADATA_PATH])}

    async def send(
        self, cloud: Cloud, data: Mapping[str, Any], project_id: str, metadata: Mapping[str, object]
    ) -> None:
        await cloud.put("swift", data[METADATA_PATH], metadata)

    def moved(self, call: Call) -> bool:
        return bool(call.data[METADATA_PATH] != _wanted_path(call))

    async def remove(self, call: Call) -> None:
        await delete_object(call.cloud, call.data[METADATA_PATH])
        del call.data[METADATA_PATH]


def _wanted_path(call: Call) -> str:
    """Return the path in Swift where the metadata belong."""
    given = call.properties.get("deployment_swift_data") or {}
    container = given.get("container") or call.physical_name
    return object_path(container, given.get("object") or call.data[_OBJECT_NAME])


class Queue(ConfigurationTransport):
    """A queue in Zaqar."""

    collector = "zaqar"
    place = METADATA_QUEUE

    async def prepare(self, call: Call) -> Outcome:
        """Name the queue. It belongs to the user: Zaqar creates it in the project of the stack's users when it is used
        first.
        """
        if METADATA_QUEUE in call.data:
            return Done()
        outcome = await ensure_user(call, with_key_pair=False)
        if not isinstance(outcome, Done):
            return outcome
        call.data[METADATA_QUEUE] = messaging.queue_name(call.physical_name)
        return InProgress(after=0.0)

    async def configuration(self, call: Call) -> Mapping[str, Any]:
        return _credentials(call) | {"queue_id": call.data[METADATA_QUEUE]}

    async def send(
        self, cloud: Cloud, data: Mapping[str, Any], project_id: str, metadata: Mapping[str, object]
    ) -> None:
        await send_metadata(cloud, data, project_id, metadata)

    async def remove(self, call: Call) -> None:
        user = await as_stack_user(call.cloud, call.data, user_project(call))
        await messaging.delete_queue(user, call.data[METADATA_QUEUE])
        del call.data[METADATA_QUEUE]


def _credentials(call: Call) -> dict[str, object]:
    """Return what the agent needs to act as the server's user."""
    return {
        "user_id": call.data["user_id"],
        "password": call.data["password"],
        "auth_url": call.cloud.server_auth_url,
        "project_id": user_project(call),
        "region_name": call.stack.region,
    }


TRANSPORTS: Mapping[str, ConfigurationTransport] = {
    "POLL_SERVER_CFN": CloudFormationApi(),
    "POLL_SERVER_HEAT": OrchestrationApi(),
    "POLL_TEMP_URL": SignedObject(),
    "ZAQAR_MESSAGE": Queue(),
}
