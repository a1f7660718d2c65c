"""Lists that several clients wait for at the same time are made once for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from falcon import testing
from oslo_config import cfg

from stoker.api.app import make_app
from stoker.api.shared_answers import SharedAnswers
from stoker.base.context import RequestContext
from stoker.contract.request import Request
from tests.api.api_support import OTHER_PROJECT, OTHER_PROJECT_TOKEN, PROJECT, STACK_ID, check_tokens, scripted_engine

PATH = f"/stacks/web/{STACK_ID}/resources"


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


@dataclass
class Maker:
    """Makes answers, numbered in order; each waits until it is released."""

    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    released: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    fails: set[int] = field(default_factory=set)
    made: int = 0

    def __call__(self) -> bytes:
        self.made += 1
        number = self.made
        self.begun.release()
        assert self.released.acquire(timeout=20)
        if number in self.fails:
            raise LookupError(number)
        return b"%d" % number


class Counted(SharedAnswers):
    """Counts those who wait for the next answer without making it."""

    def __init__(self) -> None:
        super().__init__()
        self.joined = threading.Semaphore(0)

    def _shared(self, answer: Future[bytes | None], make: Callable[[], bytes]) -> bytes:
        self.joined.release()
        return super()._shared(answer, make)

    def wait_for_next(self) -> None:
        """Return when somebody has the next answer made."""
        while not any(len(rounds) > 1 for rounds in list(self._rounds.values())):
            threading.Event().wait(0.001)


@dataclass
class Asking:
    """One client that gets its answer first, one that waits to have the next one made, and four that wait for it."""

    shared: Counted
    maker: Maker
    first: Future[bytes]
    second: Future[bytes]
    others: list[Future[bytes]]


def ask_six_times(threads: ThreadPoolExecutor, maker: Maker) -> Asking:
    shared = Counted()
    first = threads.submit(shared.answer, "list", maker)
    assert maker.begun.acquire(timeout=20)
    second = threads.submit(shared.answer, "list", maker)
    shared.wait_for_next()
    others = [threads.submit(shared.answer, "list", maker) for _ in range(4)]
    for _ in others:
        assert shared.joined.acquire(timeout=20)
    return Asking(shared, maker, first, second, others)


def test_those_who_wait_get_one_answer_that_is_made_after_they_asked(threads: ThreadPoolExecutor) -> None:
    asking = ask_six_times(threads, Maker())
    assert asking.maker.made == 1, "the second begins when the first has ended"
    asking.maker.released.release(2)
    assert asking.first.result(20) == b"1"
    assert {each.result(20) for each in (asking.second, *asking.others)} == {b"2"}
    assert not asking.shared._rounds


def test_each_makes_its_own_answer_after_a_failure(threads: ThreadPoolExecutor) -> None:
    asking = ask_six_times(threads, Maker(fails={1, 2}))
    asking.maker.released.release(6)
    for failed in (asking.first, asking.second):
        with pytest.raises(LookupError):
            failed.result(20)
    assert {each.result(20) for each in asking.others} == {b"3", b"4", b"5", b"6"}
    assert not asking.shared._rounds


def test_different_answers_do_not_wait_for_each_other(threads: ThreadPoolExecutor) -> None:
    shared, slow, fast = SharedAnswers(), Maker(), Maker()
    fast.released.release()
    waiting = threads.submit(shared.answer, "slow", slow)
    assert slow.begun.acquire(timeout=20)
    assert shared.answer("fast", fast) == b"1"
    assert not waiting.done()
    slow.released.release()
    assert waiting.result(20) == b"1"


class Listing:
    """An engine that lists no resources, when it is released."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.released = threading.Event()
        self.contexts: list[RequestContext] = []

    def call(self, context: RequestContext, request: Request[Any], timeout: float = 60.0) -> Any:
        self.contexts.append(context)
        self.begun.release()
        assert self.released.wait(20)
        return {"stacks": {}, "resources": []}


def test_only_the_same_list_for_the_same_caller_is_shared(config: cfg.ConfigOpts, threads: ThreadPoolExecutor) -> None:
    engine = Listing()
    client = testing.TestClient(make_app(config, engine, check_tokens))

    def ask(token: str, project: str = PROJECT, path: str = PATH) -> testing.Result:
        return client.simulate_get(f"/v1/{project}{path}", headers={"X-Auth-Token": token})

    asked = [
        threads.submit(ask, "member-token"),
        threads.submit(ask, "reader-token"),
        threads.submit(ask, "admin-token"),
        threads.submit(ask, OTHER_PROJECT_TOKEN, OTHER_PROJECT),
        threads.submit(ask, "member-token", PROJECT, PATH + "?nested_depth=1"),
    ]
    for _ in asked:
        assert engine.begun.acquire(timeout=20), "none waits for another one"
    engine.released.set()
    assert [each.result(20).json for each in asked] == [{"resources": []}] * len(asked)
    assert {(each.project_id, each.roles) for each in engine.contexts} == {
        (PROJECT, ("member", "reader")),
        (PROJECT, ("reader",)),
        (PROJECT, ("admin", "member", "reader")),
        (OTHER_PROJECT, ("member", "reader")),
    }


def test_error_of_a_shared_list_is_reported_to_its_client(config: cfg.ConfigOpts) -> None:
    engine = scripted_engine()
    engine.answers["resource_list"] = LookupError("unexpected")
    client = testing.TestClient(make_app(config, engine, check_tokens))
    answer = client.simulate_get(f"/v1/{PROJECT}{PATH}", headers={"X-Auth-Token": "member-token"})
    assert answer.status_code == 500
