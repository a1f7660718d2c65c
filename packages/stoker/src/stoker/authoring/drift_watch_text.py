"""Sentences about what the service does about drift by itself, for the terminal and the console."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_MOST_NAMED = 5
_MODES = {
    "off": "The service does not look for drift of this stack by itself",
    "detect": "The service looks for drift every {interval} seconds",
    "repair": "The service looks for drift every {interval} seconds, and brings the stack back",
}
_STATUSES = {
    "IN_SYNC": "everything was as declared",
    "DRIFTED": "{drifted} differed",
    "UNKNOWN": "{uncompared} could not be compared completely",
    "NOT_CHECKED": "there was nothing to compare",
}
_REPAIRS = {
    "begun": "A repair began.",
    "not-now": "It was not repaired: the state of the stack did not allow it, or the last attempt was too recent.",
    "maintenance": "It is not repaired, since the operator has switched repairs off for maintenance of the cloud.",
    "ineffective": "It is not repaired any more, since repairs did not help. Update or check the stack.",
    "too-many-replacements": "It was not repaired: more objects would be made again than the operator allows.",
    "nothing-to-do": "It was not repaired: an update cannot change what differs.",
}
_AGES = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def watch_lines(watch: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the service does, the result and age of its last comparison, and the outcome of the repair."""
    chosen = "" if watch["chosen"] else " (the operator's default)"
    yield _MODES.get(watch["mode"], watch["mode"]).format(interval=watch["interval"]) + f"{chosen}."
    if watch["mode"] != "off" and not watch["interval"]:
        yield "The operator has switched this off (drift_interval)."
    if watch["status"] is None:
        yield "The objects have not been checked yet."
        return
    named = {name: _shortened(watch[name]) for name in ("drifted", "uncompared")}
    status = _STATUSES.get(watch["status"], watch["status"]).format(**named)
    yield f"Last checked {_age(watch['age'])} ago ({watch['time']}): {status}."
    if watch["status"] == "DRIFTED" and watch["uncompared"]:
        yield f"Not compared completely: {named['uncompared']}."
    if watch["repair"]:
        yield _REPAIRS.get(watch["repair"], watch["repair"])


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _age(seconds: int) -> str:
    for length, unit in _AGES:
        if seconds >= length:
            number = seconds // length
            return f"{number} {unit}{'s' * (number != 1)}"
    return "less than a second"
