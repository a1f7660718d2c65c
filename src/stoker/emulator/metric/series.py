"""Points of metrics and their aggregation: the arithmetic, without records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from statistics import fmean, median, stdev
from typing import Any

from stoker.emulator.core.errors import bad_request

Point = tuple[float, float]
"""A moment in seconds since the epoch, and a value."""
Series = dict[float, float]
"""Values by the beginning of their period."""

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
}
RATE = "rate:"
AGGREGATIONS = (*METHODS, *(f"{RATE}{name}" for name in METHODS))


def check_aggregation(name: str) -> str:
    """Return the name of an aggregation method. Raises ApiError 400 for an unknown one."""
    if name not in AGGREGATIONS:
        raise bad_request(f"Invalid aggregation method {name!r}: it must be one of {', '.join(AGGREGATIONS)}.")
    return name


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
    moments = sorted({moment for one in series for moment in one})
    found: Series = {}
    for moment in moments:
        values = [one[moment] for one in series if moment in one]
        value = _number(reduce(values)) if len(values) >= least else None
        if value is not None:
            found[moment] = value
    return found


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def moment_of(value: Any, now: float) -> float:
    """Return a timestamp as seconds since the epoch: ISO 8601 (UTC without an offset), a number, or `now`.

    Raises ApiError 400.
    """
    if value == "now":
        return now
    try:
        found = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        try:
            parsed = datetime.fromisoformat(str(value))
        except ValueError:
            found = math.nan
        else:
            found = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(found) or abs(found) > 1e11:
        raise bad_request(f"{value!r} is not a timestamp: use ISO 8601 or seconds since the epoch.")
    return found


def shown(series: Series, granularity: float) -> list[list[Any]]:
    """Return a series as the API shows it: timestamp, granularity, value."""
    return [
        [datetime.fromtimestamp(moment, UTC).isoformat(), float(granularity), series[moment]]
        for moment in sorted(series)
    ]
