"""Requests between processes of neighboring releases: what is sent, and what the receiving release refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, Required, TypedDict

import msgspec
import pytest

import stoker.operations
from stoker import __version__
from stoker.api.cfn.faults import code_of
from stoker.api.faults import fault_body, status_of
from stoker.base.context import RequestContext
from stoker.base.errors import AnswerMismatch, Bug, EntityNotFound, ReleaseMismatch, StokerError
from stoker.contract.request import ADDED, OfStack, Problem, Reference, Request, RequestMismatch, sent_as
from stoker.rpc.contract import Reply, answer_of, error_to_dict, packed, reply_of
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
async def test_unknown_arguments_of_other_release_are_named(
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


@dataclass(frozen=True, kw_only=True)
class Renamed(Request[None]):
    """A request one of whose fields had another name in earlier releases."""

    method = "renamed"
    settings: Settings = field(metadata=sent_as("former"))


def test_a_renamed_field_is_sent_by_its_former_name_and_taken_by_both() -> None:
    request = Renamed(settings={})
    assert request.arguments() == {"former": {}}
    assert Renamed.from_arguments({"former": {}}) == Renamed.from_arguments({"settings": {}}) == request


def test_a_renamed_field_is_refused_if_it_is_given_twice_or_not_at_all() -> None:
    with pytest.raises(RequestMismatch) as twice:
        Renamed.from_arguments({"former": {}, "settings": {}})
    assert (twice.value.problem, twice.value.argument) == (Problem.UNKNOWN_ARGUMENT, "settings")
    with pytest.raises(RequestMismatch) as missing:
        Renamed.from_arguments({})
    assert (missing.value.problem, missing.value.argument) == (Problem.MISSING_ARGUMENT, "former")


async def test_a_renamed_method_is_called_by_both_names() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Create(Request[str]):
        method = "stack_create_laid_down"

    async def create(engine: Any, context: RequestContext, request: Create) -> str:
        return "created"

    dispatcher = Dispatcher(None, {Create.method: Create.served_by(create)})
    for name in ("stack_create_laid_down", "stack_create_with_settings"):
        assert await dispatcher.dispatch(CONTEXT, name, {}) == "created"


async def test_requests_of_same_release_are_accepted() -> None:
    with pytest.raises(Bug):
        await Dispatcher([], OPERATIONS).dispatch(CONTEXT, "change", {}, __version__)


async def test_type_error_in_operation_is_no_version_mismatch() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Break(Request[None]):
        method = "break"

    async def fail(engine: Any, context: RequestContext, request: Break) -> None:
        raise TypeError("internal")

    with pytest.raises(Bug):
        await Dispatcher(None, {"break": Break.served_by(fail)}).dispatch(CONTEXT, "break", {}, "99.0.0")


class Row(TypedDict):
    name: str
    time: float | None
    note: NotRequired[str]


@dataclass(frozen=True, kw_only=True)
class ListRows(OfStack[Sequence[Row]]):
    method = "list_rows"


@dataclass(frozen=True, kw_only=True)
class ListMoreRows(ListRows):
    method = "list_more_rows"


ROWS = ListMoreRows(ref=REF)


def reply(answer: Any, **more: str) -> Reply:
    return {"answer": packed("the answer", answer), **more}


@dataclass(frozen=True, kw_only=True)
class ListAllRows(ListRows):
    method = "list_all_rows"
    hidden: bool = field(default=False, metadata=ADDED)


@pytest.mark.parametrize(
    ("request_", "more", "expected"),
    [
        (ListAllRows(ref=REF, hidden=True), {}, ReleaseMismatch),
        (ListAllRows(ref=REF), {}, Bug),
        (ListAllRows(ref=REF, hidden=True), {"release": "0.2.0"}, Bug),
    ],
)
def test_type_error_of_first_release_is_a_version_mismatch(
    request_: ListAllRows, more: dict[str, str], expected: type[StokerError]
) -> None:
    error = packed("the error", error_to_dict(Bug("The engine failed unexpectedly in list_all_rows.", "ref-1")))
    with pytest.raises(expected) as caught:
        answer_of(request_, {"error": error, **more})
    if isinstance(caught.value, ReleaseMismatch):
        named = (caught.value.method, caught.value.argument, caught.value.release, caught.value.sender)
        assert named == ("list_all_rows", "hidden", "0.1.0", __version__)


@pytest.mark.parametrize("answer", [[], [{"name": "a", "time": 1}], [{"name": "a", "time": None, "added": {"b": [1]}}]])
def test_unknown_answer_fields_are_kept(answer: Any) -> None:
    for release in ({}, {"release": __version__}, {"release": "99.0.0"}):
        assert answer_of(ROWS, reply(answer, **release)) == answer


@pytest.mark.parametrize(
    ("damaged", "detail"),
    [
        (reply(None), "Expected `array`, got `null`"),
        (reply({"name": "s3cret"}), "Expected `array`, got `object`"),
        (reply([{"name": "s3cret"}]), "missing required field `time` - at `$[0]`"),
        (reply([{"name": "a", "time": "s3cret"}]), "Expected `float | null`, got `str` - at `$[0].time`"),
        ({"answer": '[{"name": "s3cret"'}, "line 1"),
        ({"answer": None}, "damaged"),
        ({}, "damaged"),
        (None, "damaged"),
        ({"error": "s3cret"}, "line 1"),
        ({"error": "[1]"}, "damaged"),
        ({"error": '{"kind": "ReleaseMismatch", "message": "s3cret"}'}, "damaged"),
        ({"error": '{"kind": "TemplateInvalid", "diagnostics": [{}]}'}, "damaged"),
    ],
)
def test_invalid_reply_is_reported_with_path(damaged: Any, detail: str) -> None:
    with pytest.raises(AnswerMismatch) as caught:
        answer_of(ROWS, damaged)
    error = caught.value
    assert all(part in error.message for part in ("list_more_rows", "an unknown release", __version__, detail))
    assert "s3cret" not in error.message
    assert (status_of(error), code_of(error)) == (503, "ServiceUnavailable")
    assert fault_body(error)["error"]["type"] == "AnswerMismatch"
    if damaged is not None:
        with pytest.raises(AnswerMismatch, match=r"release 99\.0\.0"):
            answer_of(ROWS, {**damaged, "release": "99.0.0"})
        with pytest.raises(Bug):
            answer_of(ROWS, {**damaged, "release": __version__})


class Parts(TypedDict, total=False):
    """Keys may be missing in both ways, and `class` is no name of a field in Python."""

    row: Required[Row]
    state: Literal["open", "closed"]
    rows: Mapping[str, Sequence[Row]] | None


Numbered = TypedDict("Numbered", {"class": int, "parts": NotRequired[Parts]})


@dataclass(frozen=True, kw_only=True)
class ShowNumbered(Request[Numbered]):
    method = "show_numbered"


@pytest.mark.parametrize(
    "answer",
    [
        {"class": 1},
        {"class": 1, "parts": {"row": {"name": "a", "time": 1.5, "note": "b"}, "rows": {"c": []}, "state": "open"}},
        {"class": 1, "parts": {"row": {"name": "a", "time": None}, "rows": None}},
        {"class": "1"},
        {"parts": {}},
        {"class": 1, "parts": {}},
        {"class": 1, "parts": {"row": {"name": "a", "time": None, "note": None}}},
        {"class": 1, "parts": {"row": {"name": "a", "time": None}, "state": "ajar"}},
        {"class": 1, "parts": {"row": {"name": "a", "time": None}, "rows": {"c": [{"name": "a"}]}}},
        {"class": 1, "parts": {"row": {"name": "a", "time": None}, "rows": {"c": {}}}},
    ],
)
def test_an_answer_is_judged_by_its_declared_type(answer: Any) -> None:
    def verdict(check: Callable[[Any], object]) -> str:
        try:
            check(answer)
        except ValueError as error:
            return str(error)
        return ""

    assert verdict(ShowNumbered.answered) == verdict(lambda data: msgspec.convert(data, Numbered))


async def test_replies_name_the_release_and_carry_errors() -> None:
    async def fail(engine: Any, context: RequestContext, request: ListMoreRows) -> Sequence[Row]:
        raise EntityNotFound("There is no stack web.")

    service = Dispatcher(None, {ROWS.method: ListMoreRows.served_by(fail)})
    replied = await reply_of(service, CONTEXT, ROWS.method, ROWS.arguments())
    assert replied["release"] == __version__
    with pytest.raises(EntityNotFound, match="no stack web"):
        answer_of(ROWS, replied)


def test_every_request_declares_its_answer_type() -> None:
    """A damaged answer is noticed for all of them: no answer is of an opaque type."""
    waiting: list[type[Request[Any]]] = [Request]
    checked = 0
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__dict__.get("method") in stoker.operations.OPERATIONS and kind.__module__.startswith("stoker."):
            checked += 1
            with pytest.raises(ValueError, match="Expected"):
                kind.answered(object())
    assert checked == len(stoker.operations.OPERATIONS)
