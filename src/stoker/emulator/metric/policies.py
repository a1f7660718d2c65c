"""Archive policies: in which granularities measures are kept, and for how long."""

from __future__ import annotations

import re
from typing import Any

from stoker.emulator.core.cloud import Records
from stoker.emulator.core.component import Component
from stoker.emulator.core.errors import ApiError, bad_request, conflict, not_found
from stoker.emulator.core.fields import integer, items, nullable, one_of, text
from stoker.emulator.core.http import Request
from stoker.emulator.core.store import Record
from stoker.emulator.metric.bodies import check_fields
from stoker.emulator.metric.series import AGGREGATIONS

_PLAIN = ["mean", "min", "max", "sum", "std", "count"]
_RATES = [*_PLAIN, *(f"rate:{name}" for name in _PLAIN)]
_DAY = 86400
SEEDED: dict[str, tuple[tuple[tuple[int, int], ...], list[str]]] = {
    "low": (((300, 30 * 288),), _PLAIN),
    "medium": (((60, 7 * 1440), (3600, 365 * 24)), _PLAIN),
    "high": (((1, 3600), (60, 7 * 1440), (3600, 365 * 24)), _PLAIN),
    "bool": (((1, 365 * _DAY),), ["last"]),
    "ceilometer-low": (((300, 30 * 288),), ["mean"]),
    "ceilometer-low-rate": (((300, 30 * 288),), ["mean", "rate:mean"]),
    "ceilometer-high": (((1, 3600), (60, 1440), (3600, 365 * 24)), ["mean"]),
    "ceilometer-high-rate": (((1, 3600), (60, 1440), (3600, 365 * 24)), ["mean", "rate:mean"]),
}
"""Granularity in seconds and number of points of each definition, and the aggregation methods."""
_SPAN = re.compile(r"(\d+):(\d{1,2}):(\d{1,2})")


class Policies(Component):
    """Archive policies: `{id, name, definition, aggregation_methods, back_window}`; seconds, not spans, are kept."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection("archive_policies", missing=_missing)

    def seed(self) -> None:
        for name, (definition, methods) in SEEDED.items():
            self._add(name, [{"granularity": step, "points": points} for step, points in definition], methods, 0)

    def create(self, request: Request) -> Record:
        """Create the policy that a request describes; for administrators. Raises ApiError."""
        request.context.require("admin")
        body = request.json
        checks = {
            "name": text(1),
            "definition": items(lambda item: None if isinstance(item, dict) else "a definition must be an object"),
            "aggregation_methods": nullable(items(one_of(*AGGREGATIONS))),
            "back_window": nullable(integer(0)),
        }
        check_fields(body, checks, ("name", "definition"))
        if not body["definition"]:
            raise bad_request("Invalid input: length of value must be at least 1 @ data['definition']")
        if body["name"] in self.rows:
            raise conflict(f"Archive policy {body['name']} already exists")
        definition = [_definition(item) for item in body["definition"]]
        return self._add(
            body["name"], definition, body.get("aggregation_methods") or _PLAIN, body.get("back_window") or 0
        )

    def _add(self, name: str, definition: list[dict[str, int]], methods: list[str], back: int) -> Record:
        kept = sorted(definition, key=lambda item: item["granularity"])
        return self.rows.add(
            {"id": name, "definition": kept, "aggregation_methods": list(methods), "back_window": back}
        )


def _definition(given: dict[str, Any]) -> dict[str, int]:
    """Return one definition in seconds: two of granularity, points and timespan determine it. Raises ApiError 400."""
    values = {key: _seconds(key, given[key]) for key in ("granularity", "points", "timespan") if given.get(key)}
    if "granularity" not in values and {"points", "timespan"} <= values.keys():
        values["granularity"] = values["timespan"] // values["points"]
    if "points" not in values and {"granularity", "timespan"} <= values.keys():
        values["points"] = values["timespan"] // values["granularity"]
    if not values.get("granularity") or not values.get("points"):
        raise bad_request("A definition needs two of granularity, points and timespan.")
    return {"granularity": values["granularity"], "points": values["points"]}


def _seconds(name: str, value: Any) -> int:
    found = _SPAN.fullmatch(str(value))
    if found is not None:
        return int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3])
    try:
        number = int(float(value))
    except (TypeError, ValueError, OverflowError):
        number = 0
    if number < 1 or isinstance(value, bool):
        raise bad_request(f"{value!r} is not a valid {name}.")
    return number


def _missing(key: str) -> ApiError:
    return not_found(f"Archive policy {key} does not exist")


def _span(seconds: int) -> str:
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def longest(policy: Record) -> int:
    """Return the seconds for which a policy keeps measures."""
    return int(max(item["granularity"] * item["points"] for item in policy["definition"]))


def policy_view(policy: Record) -> dict[str, Any]:
    """Return a policy as clients see it."""
    return {
        "name": policy["id"],
        "back_window": policy["back_window"],
        "aggregation_methods": policy["aggregation_methods"],
        "definition": [
            {
                "granularity": _span(item["granularity"]),
                "points": item["points"],
                "timespan": _span(item["granularity"] * item["points"]),
            }
            for item in policy["definition"]
        ],
    }
