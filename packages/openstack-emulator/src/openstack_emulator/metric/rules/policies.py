"""Archive policies: in which granularities measures are kept, and for how long."""

from __future__ import annotations

import math
from collections.abc import Iterable

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.metric.records import Definition, Metric, Policy
from openstack_emulator.metric.rules.inputs import NewDefinition, NewPolicy

_PLAIN = ("mean", "min", "max", "sum", "std", "count")
_DAY = 86400
SEEDED: dict[str, tuple[tuple[tuple[int, int], ...], tuple[str, ...]]] = {
    "low": (((300, 30 * 288),), _PLAIN),
    "medium": (((60, 7 * 1440), (3600, 365 * 24)), _PLAIN),
    "high": (((1, 3600), (60, 7 * 1440), (3600, 365 * 24)), _PLAIN),
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
        for name, (definition, methods) in SEEDED.items():
            self._add(name, [Definition(granularity=step, points=points) for step, points in definition], methods, 0)

    def create(self, new_policy: NewPolicy) -> Policy:
        """Add a policy. Raises ApiError 409 for a name that is taken, and 400."""
        if new_policy.name in self.rows:
            raise conflict(f"Archive policy {new_policy.name} already exists")
        definition = [_definition(entry) for entry in new_policy.definition]
        return self._add(new_policy.name, definition, new_policy.aggregation_methods or _PLAIN, new_policy.back_window)

    def of(self, metric: Metric) -> Policy:
        """The policy of a metric."""
        return self.rows.require(metric.policy)

    def _add(self, name: str, definition: Iterable[Definition], methods: Iterable[str], back_window: int) -> Policy:
        definitions = sorted(definition, key=lambda item: item.granularity)
        return self.rows.add(
            Policy(id=name, definition=definitions, aggregation_methods=list(methods), back_window=back_window)
        )


def _definition(new_definition: NewDefinition) -> Definition:
    """Definition in seconds; without points, measures are kept indefinitely. Raises ApiError 400."""
    step, points, span = new_definition.granularity, new_definition.points, new_definition.timespan
    if step is None and points and span:
        step = span // points
    if not step:
        raise bad_request("A definition needs a granularity, or points and a timespan.")
    if points and span and points * step != span:
        raise bad_request("timespan \u2260 granularity \u00d7 points")
    return Definition(granularity=step, points=points or (span // step if span else None))


def _missing(key: str) -> ApiError:
    return not_found(f"Archive policy {key} does not exist")


def longest(policy: Policy) -> float:
    """The seconds for which a policy keeps measures."""
    return float(max(item.granularity * (item.points or math.inf) for item in policy.definition))
