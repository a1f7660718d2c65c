"""Stacks that are restored from a snapshot: the result is what the plan and the template say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tools.realcloud.scenarios.trials import Failed, Place, Trial

DOCUMENT = Path(__file__).with_name("restores.yaml")
SECONDS = 300.0
"""Seconds after which a backup, or a restore, counts as stuck."""


def restores(place: Place) -> Iterator[Trial]:
    """The stacks of `restores.yaml`, each restored to what it was before an update."""
    for name, case in yaml.safe_load(DOCUMENT.read_text(encoding="utf-8")).items():
        yield Trial(name, partial(_restore, place, name.replace(" ", "-"), case))


def _restore(place: Place, name: str, case: Mapping[str, Any]) -> str:
    first, later = ({"heat_template_version": "2021-04-16", "resources": case[key]} for key in ("first", "later"))
    stack = place.create(name, first)
    place.expect(stack, "CREATE_COMPLETE", SECONDS)
    snapshot = _saved(place, stack)
    place.engine.update(stack, later, {})
    place.expect(stack, "UPDATE_COMPLETE", SECONDS)
    before = _objects(place, stack)
    announced = _announced(place, f"{snapshot}/restore/preview")
    place.engine.send("POST", f"{snapshot}/restore")
    place.expect(stack, "RESTORE_COMPLETE", SECONDS)
    restored = _objects(place, stack)
    replaced = {key for key, identifier in restored.items() if identifier != before.get(key)}
    if not replaced == announced == set(case["replaced"]):
        raise Failed(f"the plan replaces {announced}, and the restore has replaced {replaced}")
    place.engine.update(stack, first, {}, converge=True)
    place.expect(stack, "UPDATE_COMPLETE", SECONDS)
    if _objects(place, stack) != restored:
        raise Failed("the update to the same template has replaced something that was restored")
    place.delete(stack)
    return f"replaced: {', '.join(sorted(replaced)) or 'nothing'}"


def _saved(place: Place, stack: str) -> str:
    """Take a snapshot, and return its path. Raises Failed."""
    made = place.engine.send("POST", f"{stack}/snapshots", json={"name": "before"})
    path = f"{stack}/snapshots/{made['id']}"
    place.expect(stack, "SNAPSHOT_COMPLETE", SECONDS)
    shown = place.engine.send("GET", path)["snapshot"]
    if shown["status"] != "COMPLETE":
        raise Failed(f"the snapshot is {shown['status']}: {shown['status_reason']}")
    return path


def _announced(place: Place, path: str) -> set[str]:
    """Return the names of the resources that the plan of a restore replaces."""
    steps = place.engine.send("POST", path)["plan"]["steps"]
    return {step["path"] for step in steps if step["kind"] == "replace"}


def _objects(place: Place, stack: str) -> dict[str, str]:
    """Return the physical ID of each resource."""
    rows = place.engine.send("GET", f"{stack}/resources")["resources"]
    return {row["resource_name"]: row["physical_resource_id"] for row in rows}
