"""How long the resources of a real stack took, from its events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from stoker.base.errors import Invalid

Timings = Mapping[str, Mapping[str, float]]
"""Seconds by the paths of resources and the names of actions, such as CREATE."""


def read_timings(name: str) -> Timings:
    """Read what `stoker logs STACK --json` has printed: an event in each line.

    The last time of an action counts. Raises Invalid for anything else, with the line; OSError or UnicodeDecodeError
    for a file that cannot be read.
    """
    began: dict[tuple[str, str], datetime] = {}
    durations: dict[str, dict[str, float]] = {}
    for number, line in enumerate(Path(name).read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            path, time = str(event["path"]), datetime.fromisoformat(event["event_time"])
            action, _, status = str(event["resource_status"]).rpartition("_")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Invalid(f"{name}:{number}: this is no event, as `stoker logs STACK --json` prints them.") from error
        if status == "PROGRESS":
            began.setdefault((path, action.removesuffix("_IN")), time)
        elif status == "COMPLETE" and (path, action) in began:
            durations.setdefault(path, {})[action] = (time - began.pop((path, action))).total_seconds()
    if not durations:
        raise Invalid(f"{name} has no resource whose creation or other action is finished.")
    return {
        path: actions for path, actions in durations.items() if not any(_contains(path, other) for other in durations)
    }


def seconds_of(timings: Timings, path: str, action: str) -> float | None:
    """Return how long an action on a resource took; None if this is not known.

    Members of groups have other names in each stack: a resource at the same place of another member counts, and of
    several ones that which took longest.
    """
    if path in timings:
        return timings[path].get(action)
    alike = [actions[action] for other, actions in timings.items() if action in actions and _is_same_shape(path, other)]
    return max(alike, default=None)


def _contains(path: str, other: str) -> bool:
    return other.startswith(f"{path}.")


def _is_same_shape(path: str, other: str) -> bool:
    """Return whether two paths differ only in the names of members: every other part, from the second on."""
    names, other_names = path.split("."), other.split(".")
    return len(names) == len(other_names) > 1 and names[::2] == other_names[::2]
