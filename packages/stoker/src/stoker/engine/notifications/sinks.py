"""Send the events of stacks to the event sinks of their environments."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import orjson

from stoker.base.errors import CloudError, StokerError
from stoker.engine.records.services import EngineServices
from stoker.engine.redaction.object_ids import ObjectIds
from stoker.engine.redaction.stacks import properties_shown
from stoker.plugins.registry import Registry
from stoker.store import queries
from stoker.store.records import Announcement, Stack
from stoker_foundation.clock import isoformat

LOG = logging.getLogger(__name__)

KEEP_SECONDS = 3600.0
"""Seconds for which events are kept for a service that cannot be reached."""

_VERSION = "0.1"


def sink_problems(registry: Registry, sinks: Sequence[object]) -> Iterable[str]:
    """Yield the problems of the entries of `event_sinks`, one sentence each."""
    for number, entry in enumerate(sinks, 1):
        if not isinstance(entry, Mapping):
            yield f"Entry {number} of event_sinks must be a map."
            continue
        kind = entry.get("type")
        sink = registry.event_sinks.get(kind) if isinstance(kind, str) else None
        if sink is None:
            known = ", ".join(sorted(registry.event_sinks))
            yield f"Entry {number} of event_sinks has the type {kind!r}; the types of sinks are: {known}."
        else:
            yield from (f"Entry {number} of event_sinks: {problem}" for problem in sink.problems(entry))


async def send_events(services: EngineServices, rows: Sequence[Announcement]) -> set[str]:
    """Send events, in order and together for each stack; return the ids of the finished rows.

    Events that a service refuses are logged and dropped. Events that it cannot accept now are kept for
    KEEP_SECONDS.
    """
    by_stack: dict[str, list[Announcement]] = {}
    for row in rows:
        by_stack.setdefault(row.stack_id, []).append(row)
    done = await asyncio.gather(*(_send_of_stack(services, *item) for item in by_stack.items()))
    return {identifier for identifiers in done for identifier in identifiers}


async def _send_of_stack(services: EngineServices, stack_id: str, rows: Sequence[Announcement]) -> Collection[str]:
    stack = await services.database.read(queries.stack_by_id, stack_id)
    identifiers = [row.id for row in rows]
    if stack is None:
        return identifiers
    bodies = [orjson.loads(row.body) for row in rows]
    try:
        await _send(services, stack, [body for body in bodies if "event" in body])
    except StokerError as error:
        transient = isinstance(error, CloudError) and error.transient
        if transient and services.clock.now() < rows[0].created_at + KEEP_SECONDS:
            LOG.info("events of stack %s wait for their event sink: %s", stack.name, error.message)
            return ()
        LOG.warning("dropped %d events of stack %s for their event sink: %s", len(rows), stack.name, error.message)
    if any("release" in body for body in bodies):
        await _release(services, stack)
    return identifiers


async def _release(services: EngineServices, stack: Stack) -> None:
    try:
        await services.credentials.release(stack)
    except StokerError as error:
        LOG.warning("cannot give up the credential of the deleted stack %s: %s", stack.name, error.message)


async def _send(services: EngineServices, stack: Stack, bodies: Sequence[Mapping[str, Any]]) -> None:
    messages = await _messages(services, stack, [body["event"] for body in bodies])
    by_sink: dict[bytes, tuple[Mapping[str, Any], list[Mapping[str, Any]]]] = {}
    for body, message in zip(bodies, messages, strict=True):
        for entry in body["sinks"]:
            key = orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)
            by_sink.setdefault(key, (entry, []))[1].append(message)
    if by_sink:
        cloud = await services.credentials.cloud_of(stack)
        for entry, of_sink in by_sink.values():
            sink = services.types.registry.event_sinks.get(entry["type"])
            if sink is not None:
                await sink.send(cloud, entry, of_sink)


async def _messages(
    services: EngineServices, stack: Stack, events: Sequence[Mapping[str, Any]]
) -> list[dict[str, object]]:
    """Return the messages for events, with the resources' properties at that time; hidden values are redacted."""
    owners = ((event["properties"], event["resource_type"], event["resource_name"]) for event in events)
    properties = await properties_shown(services, stack, owners)
    identifiers = ObjectIds(services)
    return [
        {
            "timestamp": isoformat(event["time"]),
            "version": _VERSION,
            "type": "os.heat.event",
            "id": event["id"],
            "payload": {
                "resource_name": event["resource_name"],
                "physical_resource_id": await identifiers.shown(stack, event["resource_type"], event["physical_id"]),
                "stack_id": event["stack_id"],
                "resource_action": event["action"],
                "resource_status": event["status"],
                "resource_status_reason": event["reason"],
                "resource_type": event["resource_type"],
                "resource_properties": properties.get(event["properties"], {}),
                "version": _VERSION,
            },
        }
        for event in events
    ]
