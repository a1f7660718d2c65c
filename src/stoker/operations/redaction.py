"""Software configurations, deployments and metadata as people read them: without what is hidden.

The agent in a server gets the values of hidden parameters, since it is to use them, and what it logs in with. Nobody
else does: whoever may read a project could otherwise read what its stacks hide, or act as the servers' own users.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stoker.base.errors import BadValue
from stoker.base.redaction import redact_values, strings_of
from stoker.engine.calls.deployments import configs_for, takes_deployments, with_configs
from stoker.engine.core import Engine
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import generated_secrets, secrets_ever
from stoker.plugins.agents import AGENT
from stoker.store import deployments, queries
from stoker.store.records import Stack

_CREDENTIALS = {
    "cfn": {"access_key_id", "secret_access_key"},
    "heat": {"password"},
    "request": {"metadata_url"},
    "zaqar": {"password"},
}
"""What an agent identifies itself with, by the name of the collector in its configuration. The URL is a signed one."""

Entry = Mapping[str, Any]


async def hidden_in(engine: Engine, stack: Stack) -> set[str]:
    """What nobody but an agent may read of a stack: values of hidden parameters, and what resource types generate."""
    return await secrets_ever(engine, stack) | set(generated_secrets(await engine.reader.view(stack)))


async def redacted(engine: Engine, entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Software configurations or deployments with everything redacted that the stacks hide which made them.

    What somebody stored over the API belongs to no stack and is shown as it is.
    """
    listed = list(entries)
    makers = await engine.database.read(deployments.makers, [entry["id"] for entry in listed])
    for entry in listed:
        makers.setdefault(entry["id"], set()).update(entry.get("stacks") or ())
    stacks = await engine.database.read(queries.stacks_by_id, {each for found in makers.values() for each in found})
    hidden = {identifier: await hidden_in(engine, stack) for identifier, stack in stacks.items()}
    return [
        _without(entry, {text for stack in makers[entry["id"]] for text in hidden.get(stack, ())}) for entry in listed
    ]


_VALUES = {"config", "inputs", "outputs", "options", "input_values", "output_values", "status_reason"}


def _without(entry: Entry, secrets: set[str]) -> dict[str, Any]:
    """The entry with its values masked; its ids and times are no values."""
    return {key: redact_values(value, secrets) if key in _VALUES else value for key, value in entry.items()}


async def refuse_redacted(engine: Engine, values: Mapping[str, Any], known: Sequence[Entry]) -> None:
    """Raise BadValue for an input value that is what `known` configurations or deployments show for a hidden one.

    A client that writes back what it has read would otherwise replace a hidden value by asterisks.
    """
    if not values:
        return
    for stored, shown in zip(known, await redacted(engine, known), strict=True):
        before, after = _inputs_of(stored), _inputs_of(shown)
        for name in values.keys() & before.keys():
            if values[name] == after[name] != before[name]:
                raise BadValue(
                    f"input_values: the value of {name!r} is redacted; give the value itself, or leave the input out."
                )


def _inputs_of(entry: Entry) -> dict[str, Any]:
    """The values of the inputs of a configuration or deployment, by name."""
    declared = {one.get("name"): one.get("value", one.get("default")) for one in entry.get("inputs") or ()}
    return declared | (entry.get("input_values") or {})


async def redacted_metadata(engine: Engine, stack: Stack, state: ResourceState) -> dict[str, Any]:
    """A resource's metadata as people read them."""
    recorded, server_id = state.stored.metadata, state.row.physical_id
    shown: dict[str, Any] = redact_values(recorded, {*await hidden_in(engine, stack), *credentials_in(recorded)})
    if server_id is None or not takes_deployments(recorded, server_id):
        return shown
    return with_configs(shown, await redacted(engine, await configs_for(engine, server_id, stack.project_id)))


def credentials_in(metadata: Mapping[str, Any]) -> Iterator[str]:
    """What the agent of a server with these metadata identifies itself with."""
    agent = metadata.get(AGENT)
    for collector, names in _CREDENTIALS.items():
        section = agent.get(collector) if isinstance(agent, Mapping) else None
        if isinstance(section, Mapping):
            yield from strings_of([section.get(name) for name in names])
