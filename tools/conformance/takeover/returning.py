"""The way back: the lab's own Heat adopts the stacks from the documents that `stoker takeover --export` has written."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tools.conformance.takeover.making import Heat

_PREFIX = "takeover-back-"


def adopt_all(heat: Heat, entries: Sequence[Mapping[str, Any]], directory: Path, warnings: str) -> dict[str, str]:
    """Adopt the stacks that the export has no warning about; return by name what went wrong, and abandon them.

    An entry with `back` states why a Heat with another database cannot adopt its stack.
    """
    found = [json.loads(path.read_text()) for path in directory.glob("*.json") if "environment" not in path.stem]
    expected = {entry["name"] for entry in entries if "back" not in entry}
    selected = [each for each in found if each["name"] in expected and each["id"] not in warnings]

    def tried(document: Mapping[str, Any]) -> tuple[str, str]:
        try:
            return document["name"], _adopted(heat, document)
        except Exception as error:  # the others are adopted nevertheless
            return document["name"], " ".join(str(error).split())[:120]

    with ThreadPoolExecutor(3) as threads:
        return dict(threads.map(tried, selected))


def _adopted(heat: Heat, document: Mapping[str, Any]) -> str:
    """Return an empty string, or why the stack was not adopted."""
    name, environment = f"{_PREFIX}{document['name']}", document["environment"]
    registry = {key: environment[key] for key in ("resource_registry", "parameter_defaults") if environment.get(key)}
    body = {"stack_name": name, "timeout_mins": 5, "files": document["files"], "environment": registry}
    heat.call("POST", "/stacks", {**body, "adopt_stack_data": json.dumps(document)})
    try:
        state = heat.settled(name)
        if state != "ADOPT_COMPLETE":
            return f"{state} {heat.show(name)['stack_status_reason'][:100]}"
        rows = heat.call("GET", f"{heat.path(name)}/resources")["resources"]
        ids = {row["resource_name"]: row["physical_resource_id"] for row in rows}
        different = [key for key, entry in document["resources"].items() if not _same(entry, ids.get(key))]
        return f"other objects: {', '.join(different)}" if different else ""
    finally:
        heat.call("DELETE", f"{heat.path(name)}/abandon")
        time.sleep(0.2)


def _same(entry: Mapping[str, Any], physical_id: str | None) -> bool:
    """Return whether a resource has the object of its document; nested stacks are new."""
    return "resources" in entry or entry["resource_id"] == physical_id
