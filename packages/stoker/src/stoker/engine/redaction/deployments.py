"""Software configurations, deployments and metadata as users see them: redacted.

Only the agent of a server reads them in full, since it applies the values of hidden parameters and logs in with the
credentials. Otherwise every user who can read the project could read what its stacks hide, or act as a server's user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stoker.base.errors import BadValue
from stoker.base.redaction import redact_values, strings_of
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import view_of
from stoker.engine.redaction.stacks import all_secrets
from stoker.plugins.agents import AGENT
from stoker.store import deployments, queries
from stoker.store.records import Stack

_CREDENTIALS = {
    "cfn": {"access_key_id", "secret_access_key"},
    "heat": {"password"},
    "request": {"metadata_url"},
    "zaqar": {"password"},
}
"""What an agent authenticates with, by the name of the collector in its configuration. The URL is signed."""

Entry = Mapping[str, Any]


async def redacted(services: EngineServices, entries: Iterable[Entry]) -> list[dict[str, object]]:
    """Return software configurations or deployments, each redacted by what the stacks that use it hide.

    A configuration that a user stored through the API belongs to no stack and is not redacted.
    """
    listed = list(entries)
    creating_stacks = await services.database.read(deployments.creating_stacks, [entry["id"] for entry in listed])
    for entry in listed:
        creating_stacks.setdefault(entry["id"], set()).update(entry.get("stacks") or ())
    stacks = await services.database.read(
        queries.stacks_by_id, {each for found in creating_stacks.values() for each in found}
    )
    hidden = {identifier: await all_secrets(await view_of(services, stack)) for identifier, stack in stacks.items()}
    return [
        _without(entry, {secret for stack in creating_stacks[entry["id"]] for secret in hidden.get(stack, ())})
        for entry in listed
    ]


_VALUES = {"config", "inputs", "outputs", "options", "input_values", "output_values", "status_reason"}


def _without(entry: Entry, secrets: set[str]) -> dict[str, object]:
    """Return the entry with its values redacted; its IDs and times are kept."""
    return {key: redact_values(value, secrets) if key in _VALUES else value for key, value in entry.items()}


async def refuse_redacted(services: EngineServices, values: Mapping[str, object], known: Sequence[Entry]) -> None:
    """Raise BadValue for an input value that is the redacted form of one in `known` configurations or deployments.

    A client that writes back what it has read would otherwise replace a hidden value by asterisks.
    """
    if not values:
        return
    for stored, shown in zip(known, await redacted(services, known), strict=True):
        before, after = _inputs_of(stored), _inputs_of(shown)
        for name in values.keys() & before.keys():
            if values[name] == after[name] != before[name]:
                raise BadValue(
                    f"input_values: the value of {name!r} is redacted; give the value itself, or leave the input out."
                )


def _inputs_of(entry: Entry) -> dict[str, object]:
    """Return the input values of a configuration or deployment, by name."""
    declared = {
        declaration.get("name"): declaration.get("value", declaration.get("default"))
        for declaration in entry.get("inputs") or ()
    }
    return declared | (entry.get("input_values") or {})


async def redacted_metadata(
    services: EngineServices, stack: Stack, metadata: Mapping[str, object]
) -> dict[str, object]:
    """Return a resource's metadata as users see them; only where they contain strings are the secrets looked up."""
    if next(strings_of(metadata), None) is None:
        return dict(metadata)
    shown: dict[str, object] = redact_values(
        metadata, {*await all_secrets(await view_of(services, stack)), *credentials_in(metadata)}
    )
    return shown


def credentials_in(metadata: Mapping[str, object]) -> Iterator[str]:
    """Yield what the agent of a server with these metadata authenticates with."""
    agent = metadata.get(AGENT)
    for collector, names in _CREDENTIALS.items():
        section = agent.get(collector) if isinstance(agent, Mapping) else None
        if isinstance(section, Mapping):
            yield from strings_of([section.get(name) for name in names])
