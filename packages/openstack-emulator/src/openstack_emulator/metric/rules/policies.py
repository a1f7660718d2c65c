"""Archive policies: in which granularities measures are kept, and for how long."""

from __future__ import annotations

import math
from collections.abc import Iterable

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.metric.records import Definition, Metric, Policy
from openstack_emulator.metric.rules.inputs import NewDefinition, NewPolicy

_STANDARD_METHODS = ("mean", "min", "max", "sum", "std", "count")
_DAY = 86400
SEEDED: dict[str, tuple[tuple[tuple[int, int], ...], tuple[str, ...]]] = {
    "low": (((300, 30 * 288),), _STANDARD_METHODS),
    "medium": (((60, 7 * 1440), (3600, 365 * 24)), _STANDARD_METHODS),
    "high": (((1, 3600), (60, 7 * 1440), (3600, 365 * 24)), _STANDARD_METHODS),
    "bool": (((1, 365 * _DAY),), ("last",)),
    "ceilometer-low": (((300, 30 * 288),), ("mean",)),
    "ceilometer-low-rate": (((300, 30 * 288),), ("mean", "rate:mean")),
    "ceilometer-high": (((1, 3600), (60, 1440), (3600, 365 * 24)), ("mean",)),
    "ceilometer-high-rate": (((1, 3600), (60, 1440), (3600, 365 * 24)), ("mean", "rate:mean")),
}
"""Granularity in seconds and number of points of each definition, and the aggregation methods."""


class Policies(Rules):
    """The archive policies of the cloud."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("archive_policies", Policy, missing=_missing)

    def seed(self) -> None:
        for name, (levels, methods) in SEEDED.items():
            definitions = [Definition(granularity=granularity, points=points) for granularity, points in levels]
            self._add(name, definitions, methods, back_window=0)

    def create(self, new_policy: NewPolicy) -> Policy:
        """Add a policy. Raises ApiError 409 for a name that is taken, and 400."""
        if new_policy.name in self.rows:
            raise conflict(f"Archive policy {new_policy.name} already exists")
        definitions = [_definition(entry) for entry in new_policy.definition]
        methods = new_policy.aggregation_methods or _STANDARD_METHODS
        return self._add(new_policy.name, definitions, methods, new_policy.back_window)

    def of(self, metric: Metric) -> Policy:
        """The policy of a metric."""
        return self.rows.require(metric.policy)

    def _add(self, name: str, definitions: Iterable[Definition], methods: Iterable[str], back_window: int) -> Policy:
        by_granularity = sorted(definitions, key=lambda definition: definition.granularity)
        return self.rows.add(
            Policy(id=name, definition=by_granularity, aggregation_methods=list(methods), back_window=back_window)
        )


def _definition(new_definition: NewDefinition) -> Definition:
    """Definition in seconds; without points, measures are kept indefinitely. Raises ApiError 400."""
    granularity, points, timespan = new_definition.granularity, new_definition.points, new_definition.timespan
    if granularity is None and points and timespan:
        granularity = timespan // points
    if not granularity:
        raise bad_request("A definition needs a granularity, or points and a timespan.")
    if points and timespan and points * granularity != timespan:
        raise bad_request("timespan \u2260 granularity \u00d7 points")
    return Definition(granularity=granularity, points=points or (timespan // granularity if timespan else None))


def _missing(key: str) -> ApiError:
    return not_found(f"Archive policy {key} does not exist")


def retention(policy: Policy) -> float:
    """The seconds for which a policy keeps measures."""
    return float(max(level.granularity * (level.points or math.inf) for level in policy.definition))
