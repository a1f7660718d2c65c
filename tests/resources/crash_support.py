"""An engine that dies after every call before it records anything, and resumes the work."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from stoker.plugins.outcome import Done, Failed
from stoker.plugins.resource import Call
from tests.resources.resource_harness import MOST_ENTRIES, ActionFailed, Bench, Resource


async def run_crashing(bench: Bench, method: str, resource: Resource, body: Mapping[str, Any] | None = None) -> None:
    """Call `method` until it is done, each call twice: of the first one only the effects on the cloud are kept."""
    properties = resource.properties if body is None else await bench.finalized(body)
    before = resource.properties if body is not None else None
    changed = {key: value for key, value in properties.items() if before is not None and before[key] != value}
    progress: dict[str, Any] = {}
    started = bench.clock.now()
    enter = getattr(bench.kind, method)

    def call() -> Call:
        entry = bench.call(resource, method.upper(), properties, started)
        entry.previous, entry.changed = before, changed
        entry.data, entry.progress = copy.deepcopy(resource.data), copy.deepcopy(progress)
        return entry

    for _ in range(MOST_ENTRIES):
        await enter(call())
        entry = call()
        if method == "create" and resource.physical_id is None:
            entry.physical_id = resource.physical_id = await bench.kind.find(entry)
        outcome = await enter(entry)
        if isinstance(outcome, Failed):
            raise ActionFailed(outcome)
        resource.data, resource.metadata, progress = entry.data, entry.metadata, entry.progress
        resource.physical_id = getattr(outcome, "physical_id", None) or resource.physical_id
        if isinstance(outcome, Done):
            resource.properties = dict(properties)
            return
        bench.advance(getattr(outcome, "after", None) or 0.0)
    raise AssertionError(f"{method} is not done after {MOST_ENTRIES} entries")
