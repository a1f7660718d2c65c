"""Points of metrics and their aggregation: the arithmetic, without records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from statistics import fmean, median, stdev
from typing import Any

Point = tuple[float, float]
"""A moment in seconds since the epoch, and a value."""
Series = dict[float, float]
"""Values by the beginning of their period."""


def _percentile(percent: int) -> Callable[[Sequence[float]], float]:
    """The value below which so many percent of the values are, by linear interpolation."""

    def reduce(values: Sequence[float]) -> float:
        found = sorted(values)
        place = (len(found) - 1) * percent / 100
        below = math.floor(place)
        above = min(below + 1, len(found) - 1)
        return found[below] + (found[above] - found[below]) * (place - below)

    return reduce


METHODS: Mapping[str, Callable[[Sequence[float]], float | None]] = {
    "mean": fmean,
    "min": min,
    "max": max,
    "sum": math.fsum,
    "count": len,
    "median": median,
    "std": lambda values: stdev(values) if len(values) > 1 else None,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    **{f"{percent}pct": _percentile(percent) for percent in range(1, 100)},
}
RATE = "rate:"
AGGREGATIONS = (*METHODS, *(f"{RATE}{name}" for name in METHODS))


def aggregated(points: Iterable[Point], granularity: float, method: str) -> Series:
    """Aggregate points, in the order of time, to one value for each period of `granularity` seconds.

    `rate:` methods aggregate the differences between one point and the next.
    """
    ordered = sorted(points)
    if method.startswith(RATE):
        ordered = [(then, value - before) for (_, before), (then, value) in pairwise(ordered)]
    periods: dict[float, list[float]] = {}
    for moment, measured in ordered:
        periods.setdefault(moment // granularity * granularity, []).append(measured)
    reduce = METHODS[method.removeprefix(RATE)]
    return {start: value for start, values in periods.items() if (value := _number(reduce(values))) is not None}


def combined(series: Sequence[Series], method: str, overlap: float = 0.0) -> Series:
    """Aggregate several metrics, period by period, where at least `overlap` percent of them have a value."""
    reduce = METHODS[method.removeprefix(RATE)]
    least = max(1.0, len(series) * overlap / 100)
    moments = sorted({moment for measures in series for moment in measures})
    found: Series = {}
    for moment in moments:
        values = [measures[moment] for measures in series if moment in measures]
        value = _number(reduce(values)) if len(values) >= least else None
        if value is not None:
            found[moment] = value
    return found


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def moment_of(value: Any, now: float) -> float | None:
    """Return a timestamp as seconds since the epoch: ISO 8601 (UTC without an offset), a number, or `now`.

    The result is None for other values.
    """
    if value == "now":
        return now
    try:
        found = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        try:
            parsed = datetime.fromisoformat(str(value))
        except ValueError:
            return None
        found = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    return found if math.isfinite(found) and abs(found) <= 1e11 else None


def shown(series: Series, granularity: float) -> list[list[Any]]:
    """Return a series as the API shows it: timestamp, granularity, value."""
    return [
        [datetime.fromtimestamp(moment, UTC).isoformat(), float(granularity), series[moment]]
        for moment in sorted(series)
    ]
