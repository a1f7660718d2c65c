"""Requests between processes of neighboring releases: what is sent, and what the receiving release refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import pytest

from stoker import __version__
from stoker.api.cfn.faults import code_of
from stoker.api.faults import fault_body, status_of
from stoker.base.context import RequestContext
from stoker.base.errors import Bug, ReleaseMismatch
from stoker.contract.request import OfStack, Problem, Reference, Request
from stoker.rpc.dispatch import Dispatcher

CONTEXT = RequestContext("req-1", "u", "alice", "p")
REF: Reference = {"name": "web", "id": None}


class Settings(TypedDict, total=False):
    protected: bool


@dataclass(frozen=True, kw_only=True)
class Body:
    template: Any
    converge: bool = False


@dataclass(frozen=True, kw_only=True)
class Change(OfStack[str]):
    method = "change"
    body: Body
    tags: list[str] | None = None
    limit: int | None = None
    settings: Settings | None = None
    more: bool = False


async def change(engine: list[Any], context: RequestContext, request: Change) -> str:
    engine.append(request)
    return "changed"


OPERATIONS = {"change": Change.served_by(change)}
SENT = {"ref": REF, "body": {"template": {}}}


def test_arguments_that_have_their_default_are_not_sent() -> None:
    """An engine of the release before a field was added takes the request."""
    assert Change(ref=REF, body=Body(template={})).arguments() == SENT
    changed = Change(ref=REF, body=Body(template={}, converge=True), tags=[], limit=0, more=True)
    assert changed.arguments() == {
        **SENT,
        "body": {"template": {}, "converge": True},
        "tags": [],
        "limit": 0,
        "more": True,
    }


async def test_an_engine_takes_a_request_without_the_fields_that_it_has_added() -> None:
    engine: list[Any] = []
    assert await Dispatcher(engine, OPERATIONS).dispatch(CONTEXT, "change", SENT) == "changed"
    assert engine == [Change(ref=REF, body=Body(template={}))]


@pytest.mark.parametrize(
    ("method", "arguments", "problem", "argument"),
    [
        ("added_later", {}, Problem.UNKNOWN_METHOD, ""),
        ("change", {**SENT, "added": 1}, Problem.UNKNOWN_ARGUMENT, "added"),
        ("change", {**SENT, "body": {"template": {}, "added": 1}}, Problem.UNKNOWN_ARGUMENT, "body.added"),
        ("change", {**SENT, "ref": {"name": "web", "added": 1}}, Problem.UNKNOWN_ARGUMENT, "ref.added"),
        ("change", {"body": {"template": {}}}, Problem.MISSING_ARGUMENT, "ref"),
        ("change", {**SENT, "body": {}}, Problem.MISSING_ARGUMENT, "body.template"),
        ("change", {**SENT, "body": []}, Problem.WRONG_TYPE, "body"),
        ("change", {**SENT, "limit": "1"}, Problem.WRONG_TYPE, "limit"),
        ("change", {**SENT, "limit": True}, Problem.WRONG_TYPE, "limit"),
        ("change", {**SENT, "tags": ["a", 1]}, Problem.WRONG_TYPE, "tags"),
        ("change", {**SENT, "settings": {"protected": "yes"}}, Problem.WRONG_TYPE, "settings"),
    ],
)
@pytest.mark.parametrize("sender", ["", "99.0.0"], ids=["unknown release", "newer release"])
async def test_what_another_release_sends_and_this_one_does_not_take_is_named(
    sender: str, method: str, arguments: dict[str, Any], problem: Problem, argument: str
) -> None:
    engine: list[Any] = []
    with pytest.raises(ReleaseMismatch) as caught:
        await Dispatcher(engine, OPERATIONS).dispatch(CONTEXT, method, arguments, sender)
    error = caught.value
    assert (error.problem, error.method, error.argument) == (problem.value, method, argument)
    assert (error.release, error.sender) == (__version__, sender)
    for named in (method, argument, __version__, sender or "unknown release"):
        assert named in error.message
    assert status_of(error) == 503 and code_of(error) == "ServiceUnavailable"
    assert fault_body(error)["error"]["type"] == "ReleaseMismatch"
    assert engine == []


async def test_the_same_release_sends_what_it_takes() -> None:
    with pytest.raises(Bug):
        await Dispatcher([], OPERATIONS).dispatch(CONTEXT, "change", {}, __version__)


async def test_a_type_error_inside_of_an_operation_is_no_mismatch() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Break(Request[None]):
        method = "break"

    async def fail(engine: Any, context: RequestContext, request: Break) -> None:
        raise TypeError("internal")

    with pytest.raises(Bug):
        await Dispatcher(None, {"break": Break.served_by(fail)}).dispatch(CONTEXT, "break", {}, "99.0.0")
