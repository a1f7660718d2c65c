"""Names that servers' agents, their resource types and the engine share (facts: lifecycle.json, server_metadata)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.cloud import messaging
from stoker.cloud.credentials import StackUserCredential
from stoker.cloud.session import Cloud

AGENT, DEPLOYMENTS = "os-collect-config", "deployments"
"""Keys of a server's metadata: what its agent must know to ask again, and what it is to apply.

The second is empty in what is recorded: readers get what the software deployments to the server say at that moment.
"""

METADATA_PATH = "metadata_path"
"""The key of a server's data that says where in the object store its metadata is put: `/container/object`."""

USER_PROJECT = "stack_user_project_id"
"""The key of `Call.data` under which a newly made project is handed to the engine, for the whole tree of stacks."""

METADATA_QUEUE = "metadata_queue_id"
"""The key of a server's data that names the queue to which its metadata is sent: one of the project of stack users."""


async def as_stack_user(cloud: Cloud, data: Mapping[str, Any], project_id: str) -> Cloud:
    """Calls as the user of a resource, whose id and password are in the resource's data."""
    return await cloud.acting_as(StackUserCredential(data["user_id"], data["password"], project_id))


async def send_metadata(cloud: Cloud, data: Mapping[str, Any], project_id: str, metadata: Mapping[str, Any]) -> None:
    """Send a server's metadata to its queue; the agent applies what it gets last."""
    user = await as_stack_user(cloud, data, project_id)
    message = {"body": dict(metadata), "ttl": messaging.LONGEST_TTL}
    await messaging.post(user, data[METADATA_QUEUE], [message])
