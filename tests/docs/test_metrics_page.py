"""The reference of metrics lists what an engine measures, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from stoker.cloud.call_slots import Usage
from stoker.engine.memory import ValueMemory
from stoker.engine.ownership.drift_schedule import Repair
from stoker.processes.status import EngineMetrics
from stoker_foundation.clock import ManualClock

ROW = re.compile(r"^\| `(?P<name>\w+)(?:\{(?P<labels>[\w,]+)\})?` \| (?P<kind>\w+) \|", re.M)
SUFFIX = {"counter": "_total"}


class NoRuns(dict[str, Any]):
    lease = SimpleNamespace(renewed_at=100.0)

    def all(self) -> list[Any]:
        """Nothing."""
        return []


def idle_engine() -> Any:
    """As much of an engine as is measured, with nothing going on in it."""
    return SimpleNamespace(
        services=SimpleNamespace(
            clock=ManualClock(100.0),
            journal=SimpleNamespace(observe=None, waiting=0),
            credentials=SimpleNamespace(
                pool=SimpleNamespace(transport=SimpleNamespace(observe=None, usage=lambda: {"nova": Usage()}))
            ),
            memory=SimpleNamespace(values=ValueMemory(1024)),
        ),
        membership=SimpleNamespace(
            takeovers=SimpleNamespace(waiting=0),
            drift_watch=SimpleNamespace(statuses={"a-stack": "IN_SYNC"}, calls=0, repairs={Repair.BEGUN: 1}),
        ),
        runs=NoRuns(),
    )


def test_every_metric_is_in_the_reference_with_its_kind_and_its_labels() -> None:
    engine = idle_engine()
    metrics = EngineMetrics(engine)
    metrics._counts = {"running": 0, "waiting": 0}
    engine.services.credentials.pool.transport.observe("nova", 200)
    measured = {
        family.name + SUFFIX.get(family.type, ""): (
            family.type,
            {label for sample in family.samples for label in sample.labels} - {"le"},
        )
        for family in metrics.registry.collect()
    }
    page = (Path(__file__).parents[2] / "docs/reference/metrics.md").read_text()
    reported = {
        found["name"]: (found["kind"], set((found["labels"] or "").split(",")) - {""}) for found in ROW.finditer(page)
    }
    assert reported == measured
