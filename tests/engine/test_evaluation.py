"""Work that templates cause, on the event loop or on a thread."""

from __future__ import annotations

import threading
import weakref
from collections.abc import AsyncIterator

import pytest

from stoker.base.budget import Budget, BudgetLimits, charge, opened
from stoker.base.errors import BadValue, BudgetExceeded, TemplateInvalid
from stoker.engine.memory import FreedMemory
from stoker.engine.scheduling import Evaluator
from stoker.template import document
from stoker.template.template import Template

_ALLOWED = BudgetLimits(steps=1_000_000, made=1_000_000, seconds=60)


@pytest.fixture
def freed_memory() -> FreedMemory:
    return FreedMemory()


@pytest.fixture
async def evaluator(freed_memory: FreedMemory) -> AsyncIterator[Evaluator]:
    made = Evaluator(0.01, freed_memory)
    yield made
    made.stop()


async def test_short_work_runs_on_the_event_loop(evaluator: Evaluator) -> None:
    assert await evaluator.evaluate("project", threading.get_ident, 100) == threading.get_ident()


async def test_evaluation_of_many_resources_runs_on_a_thread(evaluator: Evaluator) -> None:
    begun: list[int] = []
    await evaluator.evaluate("project", lambda: begun.append(threading.get_ident()), 1000)
    assert len(begun) == 1
    assert begun != [threading.get_ident()]


async def test_long_evaluation_restarts_on_a_thread(evaluator: Evaluator) -> None:
    begun: list[int] = []

    def work() -> None:
        begun.append(threading.get_ident())
        if threading.get_ident() == loop:
            while True:
                charge(1000)

    loop = threading.get_ident()
    with opened(Budget(BudgetLimits(steps=10**12, made=1, seconds=60))):
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


class _Large:
    """An object that has weak references."""


async def test_refused_evaluation_frees_memory_before_response(evaluator: Evaluator, freed_memory: FreedMemory) -> None:
    kept: list[weakref.ref[_Large]] = []

    def load() -> None:
        large = _Large()
        kept.append(weakref.ref(large))
        try:
            Template.load("heat_template_version: 2021-04-16\nx: [" + "{a: {}}," * 1_000 + "]\n")
        except TemplateInvalid as error:
            raise BadValue("refused") from error

    def work() -> None:
        large = _Large()
        kept.append(weakref.ref(large))
        load()

    with pytest.raises(BadValue) as refused:
        await evaluator.evaluate("project", work, 1000)
    assert [one() for one in kept] == [None, None]
    assert isinstance(refused.value.__cause__, TemplateInvalid)
    assert refused.value.__cause__.diagnostics[0].position is not None
    assert document._compose.cache_info().currsize == 0
    assert not freed_memory.is_due(idle=True)
    assert freed_memory.is_due(idle=True)
