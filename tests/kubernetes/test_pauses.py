"""When a step of an object is due: at once after a change, else after a pause that grows with the failures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from stoker_kubernetes.operator import ObservedStack
from stoker_kubernetes.status import Reason

RETRY = 30.0
LOOKED = datetime(2026, 1, 1, tzinfo=UTC)


def observed(reason: Reason, generation: int = 1, **status: Any) -> ObservedStack:
    """An object of generation 1, of which a generation was last looked at."""
    shown = [{"type": "Ready", "reason": reason.value}]
    looked = {"observedGeneration": generation, "lastCheckedTime": LOOKED.isoformat(), "conditions": shown}
    return ObservedStack({"generation": 1}, {}, looked | status)


@pytest.mark.parametrize(
    ("reason", "failures", "pause"),
    [
        (Reason.PLAN_FAILED, 0, RETRY),
        (Reason.DEPLOYMENT_FAILED, 1, RETRY),
        (Reason.DEPLOYMENT_FAILED, 2, 2 * RETRY),
        (Reason.DEPLOYMENT_FAILED, 4, 8 * RETRY),
        (Reason.DEPLOYMENT_FAILED, 100, 3600.0),
        (Reason.DEPLOYED, 0, 600.0),
    ],
)
def test_a_step_is_due_after_its_pause(reason: Reason, failures: int, pause: float) -> None:
    seen = observed(reason, failures=failures)
    assert not seen.is_due(LOOKED + timedelta(seconds=pause - 1), RETRY)
    assert seen.is_due(LOOKED + timedelta(seconds=pause), RETRY)


def test_a_step_is_due_at_once_after_a_change_and_during_an_operation() -> None:
    assert observed(Reason.DEPLOYMENT_FAILED, generation=0, failures=3).is_due(LOOKED, RETRY)
    assert observed(Reason.PROGRESSING).is_due(LOOKED, RETRY)
