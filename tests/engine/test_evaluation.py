"""Work that templates cause, on the event loop or on a thread."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator

import pytest

from stoker.base.budget import Allowed, Budget, charge, opened
from stoker.base.errors import BudgetExceeded
from stoker.engine.evaluation import Evaluator

_ALLOWED = Allowed(steps=1_000_000, made=1_000_000, seconds=60)


@pytest.fixture
async def evaluator() -> AsyncIterator[Evaluator]:
    made = Evaluator(seconds_at_once=0.01)
    yield made
    made.stop()


async def test_short_work_runs_on_the_event_loop(evaluator: Evaluator) -> None:
    assert await evaluator.evaluate("project", threading.get_ident, 100) == threading.get_ident()


async def test_work_for_many_resources_begins_on_a_thread(evaluator: Evaluator) -> None:
    begun: list[int] = []
    await evaluator.evaluate("project", lambda: begun.append(threading.get_ident()), 1000)
    assert len(begun) == 1
    assert begun != [threading.get_ident()]


async def test_work_that_becomes_long_starts_again_on_a_thread(evaluator: Evaluator) -> None:
    begun: list[int] = []

    def work() -> None:
        begun.append(threading.get_ident())
        if threading.get_ident() == loop:
            while True:
                charge(1000)

    loop = threading.get_ident()
    with opened(Budget(Allowed(steps=10**12, made=1, seconds=60))):
        await evaluator.evaluate("project", work)
    assert begun[0] == loop
    assert len(begun) == 2
    assert begun[1] != loop


async def test_work_on_a_thread_is_charged_to_the_budget_of_its_caller(evaluator: Evaluator) -> None:
    budget = Budget(_ALLOWED)
    with opened(budget):
        await evaluator.evaluate("project", lambda: charge(_ALLOWED.steps - 1), 1000)
        with pytest.raises(BudgetExceeded, match="steps to evaluate"):
            charge(2)
