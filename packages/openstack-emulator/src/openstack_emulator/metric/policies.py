"""Archive policies: in which granularities measures are kept, and for how long."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request
from openstack_emulator.core.store import Record
from openstack_emulator.metric.bodies import (
    check_fields,
    dictionary,
    integer,
    listed,
    nullable,
    one_of,
    seconds,
    text,
    timespan,
)
from openstack_emulator.metric.series import AGGREGATIONS

_PLAIN = ["mean", "min", "max", "sum", "std", "count"]
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
_DEFINITION = dictionary({"granularity": timespan, "timespan": timespan, "points": integer(1)})


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
            "definition": listed(_DEFINITION, 1),
            "aggregation_methods": nullable(listed(one_of(*AGGREGATIONS))),
            "back_window": nullable(integer(0)),
        }
        check_fields(body, checks, ("name", "definition"))
        if body["name"] in self.rows:
            raise conflict(f"Archive policy {body['name']} already exists")
        definition = [_definition(item) for item in body["definition"]]
        return self._add(
            body["name"], definition, body.get("aggregation_methods") or _PLAIN, body.get("back_window") or 0
        )

    def _add(self, name: str, definition: list[dict[str, Any]], methods: list[str], back: int) -> Record:
        kept = sorted(definition, key=lambda item: item["granularity"])
        return self.rows.add(
            {"id": name, "definition": kept, "aggregation_methods": list(methods), "back_window": back}
        )


def _definition(given: dict[str, Any]) -> dict[str, int | None]:
    """Return one definition in seconds; without points, measures are kept indefinitely. Raises ApiError 400."""
    points = int(given["points"]) if given.get("points") else None
    step, span = (round(seconds(given[key]) or 0) if given.get(key) else None for key in ("granularity", "timespan"))
    if step is None and points and span:
        step = span // points
    if not step:
        raise bad_request("A definition needs a granularity, or points and a timespan.")
    if points and span and points * step != span:
        raise bad_request("timespan \u2260 granularity \u00d7 points")
    return {"granularity": step, "points": points or (span // step if span else None)}


def _missing(key: str) -> ApiError:
    return not_found(f"Archive policy {key} does not exist")


def _span(seconds: int | None) -> str | None:
    return None if seconds is None else str(timedelta(seconds=seconds))


def longest(policy: Record) -> float:
    """Return the seconds for which a policy keeps measures."""
    return float(max(item["granularity"] * (item["points"] or math.inf) for item in policy["definition"]))


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
                "timespan": _span(item["granularity"] * item["points"] if item["points"] else None),
            }
            for item in policy["definition"]
        ],
    }
