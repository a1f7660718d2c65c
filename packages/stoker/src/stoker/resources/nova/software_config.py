"""Delivery of software configuration to a server: the configuration of os-collect-config in the server's metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoker.base.errors import BadValue
from stoker.plugins.agents import AGENT, DEPLOYMENTS
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import Call
from stoker.plugins.transports import ConfigurationTransport, configuration_transport, configuration_transports, used
from stoker.resources.heat.users.companion_user import dismiss_user
from stoker.resources.heat.users.stack_user import user_project
from stoker.resources.nova.user_data import SOFTWARE_CONFIG

_CONCERNED = {"software_config_transport", "deployment_swift_data"}


LOCAL: tuple[str, ...] = ("local",)
COMPUTE = ("ec2", *LOCAL)
"""Collectors of the agent besides the transport's: the metadata service, which only servers of Nova have, and files."""


def is_configured(call: Call) -> bool:
    """Return whether the server uses software configuration."""
    return bool(call.properties["user_data_format"] == SOFTWARE_CONFIG)


async def equip(call: Call, others: Sequence[str] = COMPUTE) -> Outcome:
    """Prepare the transport and write the server's metadata, as a step. Raises NotSupported and BadValue.

    `others` are the collectors of the agent besides the transport's, which comes before the last of them.
    """
    transport = _transport(call)
    if AGENT not in call.metadata and DEPLOYMENTS in call.metadata:
        raise BadValue("the metadata of a server with software configuration must not have the key deployments")
    outcome = await transport.prepare(call)
    if not isinstance(outcome, Done):
        return outcome
    call.metadata = await _metadata(call, transport, others)
    if transport.place in call.data and call.physical_id is None:
        await transport.send(call.cloud, call.data, user_project(call), call.metadata)
    return Done()


async def reconfigure(call: Call, others: Sequence[str] = COMPUTE) -> Outcome:
    """Apply a changed transport, place in Swift, or metadata of the template, as a step."""
    if AGENT in call.metadata and not _CONCERNED & call.changed.keys() and "sent" not in call.progress:
        return Done()
    if "sent" in call.progress:  # metadata must be recorded before they are pushed
        await call.engine.deployments.push(str(call.physical_id))
        return Done()
    chosen = _transport(call)
    for transport in used(configuration_transports(), call.data):
        if transport is not chosen or transport.moved(call):
            await transport.remove(call)
    outcome = await equip(call, others)
    if not isinstance(outcome, Done) or chosen.place not in call.data:
        return outcome
    call.progress["sent"] = True
    return InProgress(after=0.0)


async def dismiss(call: Call) -> Outcome:
    """Delete the user and what the transport stored, as a step, including those whose creation was interrupted."""
    for transport in used(configuration_transports(), call.data):
        await transport.remove(call)
    return await dismiss_user(call)


async def _metadata(call: Call, transport: ConfigurationTransport, others: Sequence[str]) -> dict[str, object]:
    """Return the metadata with os-collect-config's configuration; sections of other transports get null values."""
    before = call.metadata.get(AGENT) or {}
    sections = [known.collector for known in configuration_transports().values()]
    emptied = {name: dict.fromkeys(before[name]) for name in sections if isinstance(before.get(name), Mapping)}
    collectors = [*others[:-1], transport.collector, *others[-1:]]
    config = {**before, **emptied, "collectors": collectors}
    config[transport.collector] = await transport.configuration(call)
    return {**call.metadata, DEPLOYMENTS: [], AGENT: config}


def _transport(call: Call) -> ConfigurationTransport:
    return configuration_transport(call.properties["software_config_transport"])
