"""The contract between API and engine, over the direct transport."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoker.base.diagnostics import Diagnostic, Position
from stoker.base.errors import Bug, CloudError, EntityNotFound, ReleaseMismatch, StokerError, TemplateInvalid
from stoker.contract.request import Request
from stoker.rpc.contract import (
    EngineUnavailable,
    RequestContext,
    error_from_dict,
    error_to_dict,
    json_copy,
    json_text,
)
from stoker.rpc.dispatch import DirectClient, Dispatcher

CONTEXT = RequestContext(
    request_id="req-1",
    user_id="u",
    user_name="alice",
    project_id="p",
    roles=("member", "reader"),
    token="t0ps3cret",
    denied_types=("OS::Keystone::*", "OS::Nova::Flavor"),
)


class Engine:
    """The engine that operations receive: it records calls."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.released = asyncio.Event()


@dataclass(frozen=True, kw_only=True)
class Echo(Request[Any]):
    method = "echo"
    value: Any = None
    limit: int | None = None


@dataclass(frozen=True, kw_only=True)
class Fail(Request[None]):
    method = "fail"


@dataclass(frozen=True, kw_only=True)
class BreakDown(Request[None]):
    method = "break_down"


@dataclass(frozen=True, kw_only=True)
class Hang(Request[None]):
    method = "hang"


@dataclass(frozen=True, kw_only=True)
class GetAnObject(Request[Any]):
    method = "get_an_object"


@dataclass(frozen=True, kw_only=True)
class GetASet(Request[Any]):
    method = "get_a_set"


@dataclass(frozen=True, kw_only=True)
class AddedLater(Request[None]):
    """A request that the engine's release does not have."""

    method = "added_later"


async def echo(engine: Engine, context: RequestContext, request: Echo) -> Any:
    engine.seen.append((context, request.value))
    return request.value


async def fail(engine: Engine, context: RequestContext, request: Fail) -> None:
    raise EntityNotFound("There is no stack web.")


async def break_down(engine: Engine, context: RequestContext, request: BreakDown) -> None:
    raise KeyError("internal detail")


async def hang(engine: Engine, context: RequestContext, request: Hang) -> None:
    await engine.released.wait()
    engine.seen.append("released")


async def get_an_object(engine: Engine, context: RequestContext, request: GetAnObject) -> Any:
    return {"engine": engine}


async def get_a_set(engine: Engine, context: RequestContext, request: GetASet) -> Any:
    return {1, 2}


OPERATIONS = {
    operation.method: operation
    for operation in (
        Echo.served_by(echo),
        Fail.served_by(fail),
        BreakDown.served_by(break_down),
        Hang.served_by(hang),
        GetAnObject.served_by(get_an_object),
        GetASet.served_by(get_a_set),
    )
}


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    running = asyncio.new_event_loop()
    thread = threading.Thread(target=running.run_forever)
    thread.start()
    yield running
    running.call_soon_threadsafe(running.stop)
    thread.join()
    running.close()


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def client(loop: asyncio.AbstractEventLoop, engine: Engine) -> DirectClient:
    return DirectClient(loop, Dispatcher(engine, OPERATIONS))


def test_call_arguments_are_copied(client: DirectClient, engine: Engine) -> None:
    value = {"list": [1, 2.5, None, True, "ü"], "big": 2**70}
    answer = client.call(CONTEXT, Echo(value=value))
    assert answer == value and answer is not value
    context, seen = engine.seen[0]
    assert context == CONTEXT
    assert seen == value and seen is not value


def test_errors_arrive_with_their_class(client: DirectClient) -> None:
    with pytest.raises(EntityNotFound, match=r"There is no stack web\."):
        client.call(CONTEXT, Fail())


def test_an_unexpected_exception_becomes_a_reference(client: DirectClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(Bug) as failure:
        client.call(CONTEXT, BreakDown())
    assert "internal detail" not in str(failure.value)
    assert failure.value.reference in caplog.text
    assert "internal detail" in caplog.text
    assert "t0ps3cret" not in caplog.text


def test_a_request_that_the_same_release_does_not_take_is_a_bug(client: DirectClient) -> None:
    with pytest.raises(Bug, match="added_later") as failure:
        client.call(CONTEXT, AddedLater())
    assert failure.value.reference


@pytest.mark.parametrize(
    "value", [{1: "a"}, {"a": {1, 2}}, object(), {"a": b"x"}], ids=["key", "set", "object", "bytes"]
)
def test_arguments_that_are_not_json_are_a_bug(client: DirectClient, engine: Engine, value: Any) -> None:
    with pytest.raises(Bug, match="cannot be sent as JSON"):
        client.call(CONTEXT, Echo(value=value))
    assert engine.seen == []


@pytest.mark.parametrize("request_", [GetAnObject(), GetASet()], ids=lambda request: request.method)
def test_answers_that_are_not_json_are_a_bug(client: DirectClient, request_: Request[Any]) -> None:
    with pytest.raises(Bug, match=f"The answer of {request_.method} cannot be sent as JSON"):
        client.call(CONTEXT, request_)


def test_a_call_that_times_out_continues_to_run(
    client: DirectClient, engine: Engine, loop: asyncio.AbstractEventLoop
) -> None:
    with pytest.raises(EngineUnavailable, match="hang took longer than"):
        client.call(CONTEXT, Hang(), timeout=0.3)
    loop.call_soon_threadsafe(engine.released.set)
    assert client.call(CONTEXT, Echo(value=1)) == 1
    assert "released" in engine.seen


@pytest.mark.parametrize(
    "error",
    [
        EntityNotFound("no"),
        CloudError("nova", 503, "later", request_id="req-9", transient=True),
        TemplateInvalid([Diagnostic("r", "m", ("a", 0), "t.yaml", Position(1, 2), "h")]),
        ReleaseMismatch("unknown argument", "stack_update", "converge", "0.1.0", "0.2.0"),
        Bug("broken", "ref-1"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_are_sent_as_json(error: StokerError) -> None:
    crossed = error_from_dict(json.loads(json_text(error_to_dict(error))))
    assert type(crossed) is type(error)
    assert str(crossed) == str(error)
    assert error_to_dict(crossed) == error_to_dict(error)


def test_the_context_is_sent_as_json_and_its_repr_omits_the_token() -> None:
    assert RequestContext.from_dict(json_copy(CONTEXT.to_dict())) == CONTEXT
    assert RequestContext.from_dict({**CONTEXT.to_dict(), "added_later": 1}) == CONTEXT
    assert "t0ps3cret" not in repr(CONTEXT)


def test_types_are_denied_by_name_and_by_wildcard() -> None:
    denied = ["OS::Keystone::User", "OS::Nova::Flavor"]
    allowed = ["OS::Nova::Server", "OS::Keystone", "OS::Keystone::Deep::Type", "mine.yaml"]
    assert [name for name in denied + allowed if not CONTEXT.may_use(name)] == denied


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_json_is_copied_exactly(value: Any) -> None:
    assert json_copy(value) == value
    assert json.loads(json_text(value)) == value
