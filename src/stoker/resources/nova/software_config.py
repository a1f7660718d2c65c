"""Delivery of software configuration to a server: its own user, and the configuration of os-collect-config.

There are four transports: the CloudFormation API with an EC2 key pair, the Orchestration API with a password, a Swift
object behind a signed URL, and a Zaqar queue.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.errors import BadValue, NotSupported
from stoker.base.ids import new_id
from stoker.cloud import messaging
from stoker.plugins.agents import (
    AGENT,
    DEPLOYMENTS,
    METADATA_PATH,
    METADATA_QUEUE,
    as_stack_user,
    send_metadata,
)
from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import Call
from stoker.resources.heat.companion_user import dismiss_user, ensure_user
from stoker.resources.heat.stack_user import user_project
from stoker.resources.nova.server.user_data import SOFTWARE_CONFIG, metadata_url
from stoker.resources.swift.temp_url import delete_object, object_path, put_object, temp_url

_SECTIONS = ("cfn", "heat", "request", "zaqar")
_BY_QUEUE = "ZAQAR_MESSAGE"
_OBJECT_NAME = "metadata_object_name"
_CONCERNED = {"software_config_transport", "deployment_swift_data"}


def is_configured(call: Call) -> bool:
    """Return whether the server uses software configuration."""
    return bool(call.properties["user_data_format"] == SOFTWARE_CONFIG)


async def equip(call: Call) -> Outcome:
    """Prepare the transport and write the server's metadata, as a step. Raises NotSupported and BadValue."""
    transport = _transport(call)
    if AGENT not in call.metadata and DEPLOYMENTS in call.metadata:
        raise BadValue("the metadata of a server with software configuration must not have the key deployments")
    outcome = await transport.prepare(call)
    if not isinstance(outcome, Done):
        return outcome
    call.metadata = await _metadata(call, transport)
    if METADATA_PATH in call.data and call.physical_id is None:
        await put_object(call.cloud, call.data[METADATA_PATH], call.metadata)
    if METADATA_QUEUE in call.data and call.physical_id is None:
        await send_metadata(call.cloud, call.data, user_project(call), call.metadata)
    return Done()


async def reconfigure(call: Call) -> Outcome:
    """Apply a changed transport, place in Swift, or metadata of the template, as a step."""
    if AGENT in call.metadata and not _CONCERNED & call.changed.keys() and "sent" not in call.progress:
        return Done()
    if "sent" in call.progress:  # metadata must be recorded before they are pushed
        await call.deployments.push(str(call.physical_id))
        return Done()
    place = call.data.get(METADATA_PATH)
    if place is not None and place != _wanted_place(call):
        await delete_object(call.cloud, place)
        del call.data[METADATA_PATH]
    if METADATA_QUEUE in call.data and call.properties["software_config_transport"] != _BY_QUEUE:
        await _drop_queue(call)
    outcome = await equip(call)
    if not isinstance(outcome, Done) or not {METADATA_PATH, METADATA_QUEUE} & call.data.keys():
        return outcome
    if METADATA_PATH in call.data:
        await put_object(call.cloud, call.data[METADATA_PATH], None)
    call.progress["sent"] = True
    return Again(after=0.0)


async def dismiss(call: Call) -> Outcome:
    """Delete the user, the object and the queue, as a step, including those whose creation was interrupted."""
    if METADATA_PATH in call.data:
        await delete_object(call.cloud, call.data[METADATA_PATH])
        del call.data[METADATA_PATH]
    if METADATA_QUEUE in call.data:
        await _drop_queue(call)
    return await dismiss_user(call)


async def _drop_queue(call: Call) -> None:
    user = await as_stack_user(call.cloud, call.data, user_project(call))
    await messaging.delete_queue(user, call.data[METADATA_QUEUE])
    del call.data[METADATA_QUEUE]


async def _metadata(call: Call, transport: _Transport) -> dict[str, Any]:
    """Return the metadata with os-collect-config's configuration; sections of other transports get null values."""
    before = call.metadata.get(AGENT) or {}
    emptied = {name: dict.fromkeys(before[name]) for name in _SECTIONS if isinstance(before.get(name), Mapping)}
    config = {**before, **emptied, "collectors": ["ec2", transport.collector, "local"]}
    config[transport.collector] = await transport.configuration(call)
    return {**call.metadata, DEPLOYMENTS: [], AGENT: config}


# -- transports ---------------------------------------------------------------------------------------------------


async def _with_key_pair(call: Call) -> Outcome:
    return await ensure_user(call, with_key_pair=True)


async def _with_password(call: Call) -> Outcome:
    return await ensure_user(call, with_key_pair=False)


async def _with_object(call: Call) -> Outcome:
    """Choose the object's name, once."""
    if METADATA_PATH in call.data:
        return Done()
    call.data.setdefault(_OBJECT_NAME, new_id())
    call.data[METADATA_PATH] = _wanted_place(call)
    return Again(after=0.0)


async def _with_queue(call: Call) -> Outcome:
    """Name the queue. It belongs to the user: Zaqar creates it in the project of the stack's users at its first use."""
    if METADATA_QUEUE in call.data:
        return Done()
    outcome = await ensure_user(call, with_key_pair=False)
    if not isinstance(outcome, Done):
        return outcome
    call.data[METADATA_QUEUE] = call.physical_name
    return Again(after=0.0)


def _wanted_place(call: Call) -> str | None:
    """Return the path in Swift where the metadata belong, None if not in Swift."""
    if call.properties["software_config_transport"] != "POLL_TEMP_URL":
        return None
    given = call.properties.get("deployment_swift_data") or {}
    container = given.get("container") or call.physical_name
    return object_path(container, given.get("object") or call.data[_OBJECT_NAME])


async def _cfn_section(call: Call) -> dict[str, Any]:
    url = metadata_url(call)
    if url is None:
        raise NotSupported("POLL_SERVER_CFN needs a CloudFormation API in the catalog, or heat_metadata_server_url set")
    return {
        "metadata_url": url,
        "access_key_id": call.data["access_key"],
        "secret_access_key": call.data["secret_key"],
        "stack_name": call.stack.name,
        "path": f"{call.name}.Metadata",
    }


async def _heat_section(call: Call) -> dict[str, Any]:
    return {
        "user_id": call.data["user_id"],
        "password": call.data["password"],
        "auth_url": call.cloud.server_auth_url,
        "project_id": user_project(call),
        "stack_id": f"{call.stack.name}/{call.stack.id}",
        "resource_name": call.name,
        "region_name": call.stack.region,
    }


async def _request_section(call: Call) -> dict[str, Any]:
    return {"metadata_url": await temp_url(call.cloud, "GET", call.data[METADATA_PATH])}


async def _zaqar_section(call: Call) -> dict[str, Any]:
    return {
        "user_id": call.data["user_id"],
        "password": call.data["password"],
        "auth_url": call.cloud.server_auth_url,
        "project_id": user_project(call),
        "queue_id": call.data[METADATA_QUEUE],
        "region_name": call.stack.region,
    }


@dataclass(frozen=True, slots=True)
class _Transport:
    """A way to deliver metadata.

    `collector` is os-collect-config's name for it, `prepare` the step that must come first, `configuration` makes the
    collector's section.
    """

    collector: str
    prepare: Callable[[Call], Awaitable[Outcome]]
    configuration: Callable[[Call], Awaitable[dict[str, Any]]]


_TRANSPORTS: Mapping[str, _Transport] = {
    "POLL_SERVER_CFN": _Transport("cfn", _with_key_pair, _cfn_section),
    "POLL_SERVER_HEAT": _Transport("heat", _with_password, _heat_section),
    "POLL_TEMP_URL": _Transport("request", _with_object, _request_section),
    _BY_QUEUE: _Transport("zaqar", _with_queue, _zaqar_section),
}


def _transport(call: Call) -> _Transport:
    return _TRANSPORTS[call.properties["software_config_transport"]]
