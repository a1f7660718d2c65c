"""How a server learns its software configuration: a user of its own, and what os-collect-config is told.

Two transports need nothing but this service's own APIs: the CloudFormation API with a key pair, the Orchestration API
with a password. Facts: nova.yaml, software_config.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from stoker.base.errors import BadValue, NotSupported
from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import Call
from stoker.resources.heat.stack_user import StackUserResource, make_key_pair, user_project
from stoker.resources.nova.server_user_data import SOFTWARE_CONFIG, metadata_url

_CONFIG, _DEPLOYMENTS = "os-collect-config", "deployments"
_SECTIONS = ("cfn", "heat", "request", "zaqar")
_CFN, _HEAT = "POLL_SERVER_CFN", "POLL_SERVER_HEAT"


class _ServerUser(StackUserResource):
    """The user as which a server asks for its configuration; no resource by itself."""

    async def equip(self, call: Call) -> Outcome:
        if call.properties["software_config_transport"] == _CFN:
            return await make_key_pair(call) or Done()
        return Done()


_USER = _ServerUser()


def is_configured(call: Call) -> bool:
    """Whether the server takes software configuration."""
    return bool(call.properties["user_data_format"] == SOFTWARE_CONFIG)


async def equip(call: Call) -> Outcome:
    """The step that makes the user and writes the server's metadata. Raises NotSupported and BadValue."""
    transport = call.properties["software_config_transport"]
    if transport not in _TELLERS:
        raise NotSupported(
            f"software_config_transport {transport} is not supported; use one of {', '.join(sorted(_TELLERS))}"
        )
    if _CONFIG not in call.metadata and _DEPLOYMENTS in call.metadata:
        raise BadValue("the metadata of a server with software configuration must not have the key deployments")
    outcome = await _USER.create(_as_user(call))
    if isinstance(outcome, Again) and outcome.physical_id is not None:
        call.data["user_id"] = outcome.physical_id
    if not isinstance(outcome, Done):
        return Again(after=0.0)
    call.metadata = _metadata(call, transport)
    return Done()


async def reconfigure(call: Call) -> Outcome:
    """The step that follows another transport, or other metadata of the template's: what was told is told again."""
    if "software_config_transport" in call.changed:
        return await equip(call)
    if _CONFIG not in call.metadata:
        call.metadata = _metadata(call, call.properties["software_config_transport"])
    return Done()


async def dismiss(call: Call) -> Outcome:
    """The step that removes the user, also one whose making was interrupted."""
    if "password" not in call.data:
        return Done()
    user = _as_user(call)
    if user.physical_id is None:
        user.physical_id = await _USER.find(user)
    outcome = await _USER.delete(user)
    if isinstance(outcome, Done):
        for key in ("user_id", "password", "access_key", "secret_key", "credential_id"):
            call.data.pop(key, None)
    return outcome


def _as_user(call: Call) -> Call:
    """The call as the user's type sees it: the same books, another id."""
    return replace(call, physical_id=call.data.get("user_id"))


def _metadata(call: Call, transport: str) -> dict[str, Any]:
    """The metadata with what os-collect-config is told; sections of other transports are emptied, not dropped."""
    before = call.metadata.get(_CONFIG) or {}
    emptied = {name: dict.fromkeys(before[name]) for name in _SECTIONS if isinstance(before.get(name), Mapping)}
    collector, tell = _TELLERS[transport]
    told = {**before, **emptied, "collectors": ["ec2", collector, "local"], collector: tell(call)}
    return {**call.metadata, _DEPLOYMENTS: call.metadata.get(_DEPLOYMENTS) or [], _CONFIG: told}


def _tell_cfn(call: Call) -> dict[str, Any]:
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


def _tell_heat(call: Call) -> dict[str, Any]:
    return {
        "user_id": call.data["user_id"],
        "password": call.data["password"],
        "auth_url": call.cloud.server_auth_url,
        "project_id": user_project(call),
        "stack_id": f"{call.stack.name}/{call.stack.id}",
        "resource_name": call.name,
        "region_name": call.stack.region,
    }


_TELLERS: Mapping[str, tuple[str, Callable[[Call], dict[str, Any]]]] = {
    _CFN: ("cfn", _tell_cfn),
    _HEAT: ("heat", _tell_heat),
}
"""Per transport, the collector's name and what it is told."""
