"""Names that agents on servers, their resource types and the engine share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stoker.cloud import messaging
from stoker.cloud.credentials import StackUserCredential

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

AGENT, DEPLOYMENTS = "os-collect-config", "deployments"
"""Keys of a server's metadata: the agent's own configuration, and the deployments that it has to apply.

The latter is recorded as empty: readers get the current software deployments to the server.
"""

METADATA_PATH = "metadata_path"
"""The key of a server's data for the path of its metadata in the object store: `/container/object`."""

USER_PROJECT = "stack_user_project_id"
"""The key of `Call.data` that passes a newly created project to the engine, for the whole tree of stacks."""

METADATA_QUEUE = "metadata_queue_id"
"""The key of a server's data for the queue to which its metadata is sent, in the project of the stack users."""


async def as_stack_user(cloud: Cloud, data: Mapping[str, Any], project_id: str) -> Cloud:
    """Return a cloud for the user of a resource, whose ID and password are in the resource's data."""
    return await cloud.acting_as(StackUserCredential(data["user_id"], data["password"], project_id))


async def send_metadata(cloud: Cloud, data: Mapping[str, Any], project_id: str, metadata: Mapping[str, object]) -> None:
    """Send a server's metadata to its queue; the agent applies the latest message."""
    user = await as_stack_user(cloud, data, project_id)
    message = {"body": dict(metadata), "ttl": messaging.LONGEST_TTL}
    await messaging.post(user, data[METADATA_QUEUE], [message])
