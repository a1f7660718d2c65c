"""Calls in progress when an engine stops: each is answered, and the answer says the outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from stoker.base.context import RequestContext
from stoker.contract.request import Request
from stoker.rpc import dispatch
from stoker.rpc.contract import EngineUnavailable
from stoker.rpc.dispatch import Dispatcher
from stoker.store.database import EXPIRY, Expiry

CALLER = RequestContext("req-1", user_id="u", user_name="u", project_id="p")


@dataclass(frozen=True, kw_only=True)
class Work(Request[str]):
    method = "work"


class Call:
    """A call of `work`, which begins at once, to a service that does nothing else."""

    def __init__(self, work: Callable[[], Awaitable[str]], *, commits: bool) -> None:
        self.expiry = Expiry()

        async def operation(engine: Any, context: RequestContext, request: Work) -> str:
            found = EXPIRY.get()
            assert found is not None
            self.expiry = found
            if commits:
                assert found.may_commit()
            return await work()

        self.service = Dispatcher(None, {"work": Work.served_by(operation)})
        self.answer = asyncio.ensure_future(self.service.dispatch(CALLER, "work", {}, seconds=60.0))


@pytest.mark.parametrize("turns", range(4))
async def test_stopped_engine_rejects_uncommitted_requests(turns: int) -> None:
    """However many turns of the loop it takes to end."""
    never = asyncio.get_running_loop().create_future()

    async def work() -> str:
        try:
            await asyncio.shield(never)
        finally:
            for _ in range(turns):
                await asyncio.sleep(0)
        return "not reached"

    call = Call(work, commits=False)
    await asyncio.sleep(0.01)
    await call.service.stop(0.0)
    with pytest.raises(EngineUnavailable, match="being stopped; nothing was changed"):
        await call.answer
    assert not call.expiry.may_commit()
    never.cancel()


async def test_begun_commit_is_waited_for() -> None:
    done = asyncio.Event()

    async def work() -> str:
        await done.wait()
        return "made"

    call = Call(work, commits=True)
    await asyncio.sleep(0.01)
    stopping = asyncio.ensure_future(call.service.stop(0.0))
    await asyncio.sleep(0.01)
    assert not stopping.done()
    done.set()
    await stopping
    assert await call.answer == "made"


async def test_endless_commit_is_not_reported_as_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_COMMIT_SECONDS", 0.05)
    never = asyncio.get_running_loop().create_future()

    async def work() -> str:
        await never
        return "not reached"

    call = Call(work, commits=True)
    await asyncio.sleep(0.01)
    await call.service.stop(0.0)
    with pytest.raises(EngineUnavailable, match="is being carried out"):
        await call.answer
