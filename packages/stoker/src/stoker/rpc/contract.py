"""The client of the engines that the API uses, and the JSON that transports carry.

A request (`stoker.contract`) is sent as a method name, a caller and named arguments; an answer is data. Both are JSON
(maps with string keys, lists, strings, numbers, booleans and nulls), so that any transport can carry them. Errors of
the `stoker.base.errors` tree are sent as `error_to_dict` returns them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import orjson

from stoker import __version__
from stoker.base import errors
from stoker.base.context import RequestContext
from stoker.base.errors import AnswerMismatch, Bug, ReleaseMismatch, StokerError, forget_frames
from stoker.base.json_text import dumps, loads
from stoker.contract.request import Answer, Problem, Request

_SPARE_SECONDS, _SPARE_PART = 6.0, 0.8
"""How much earlier than its caller a call ends: so many seconds, but not before this part of the time."""

_FIRST_RELEASE = "0.1.0"

Reply = dict[str, str]
"""`answer` or `error`, a JSON document, and the `release` of the process that replies, which 0.1.0 does not send."""


class EngineService(Protocol):
    """The engine's side of the transport (`stoker.rpc.dispatch.Dispatcher`)."""

    async def dispatch(
        self,
        context: RequestContext,
        method: str,
        arguments: Mapping[str, object],
        sender: str = "",
        seconds: float | None = None,
    ) -> object:
        """Run `method` and return its answer; `sender` is the release of the calling process, if known.

        Without an answer within `seconds`, EngineUnavailable is raised.
        """


class StoppableService(EngineService, Protocol):
    """A service that answers all calls before it ends."""

    async def stop(self, seconds: float) -> None:
        """Answer all calls: those in progress for `seconds`, the rest and further ones with EngineUnavailable."""


async def reply_of(
    service: EngineService,
    context: RequestContext,
    method: str,
    arguments: Mapping[str, object],
    sender: str = "",
    seconds: float | None = None,
) -> Reply:
    """Carry out a call, and return the reply, ready to be sent. Never raises a StokerError.

    `seconds` is how long the caller waits, None if that is unknown; the reply is there a little earlier.
    """
    try:
        limit = None if seconds is None else max(seconds - _SPARE_SECONDS, seconds * _SPARE_PART)
        answer = await service.dispatch(context, method, arguments, sender, limit)
        reply = {"answer": packed(f"the answer of {method}", answer)}
    except StokerError as error:
        reply = {"error": packed("the error", error_to_dict(error))}
        forget_frames(error)
    return {**reply, "release": __version__}


def answer_of(request: Request[Answer], reply: Reply) -> Answer:
    """Return the answer to a request that a reply contains.

    Raises the error in the reply, if any; AnswerMismatch for what this release does not understand, and Bug if the
    process that replied has this release, too. Release 0.1.0 reports an argument that it does not know as a Bug, before
    it changes anything; this is raised as ReleaseMismatch, as a later release reports it.
    """
    try:
        if "error" not in reply:
            return request.answered(unpacked(reply["answer"]))
        error = error_from_dict(unpacked(reply["error"]))
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        raise _unusable(request.method, reply, problem) from problem
    try:
        if isinstance(error, Bug) and "release" not in reply and (argument := request.added_argument()) is not None:
            unknown = Problem.UNKNOWN_ARGUMENT.value
            raise ReleaseMismatch(unknown, request.method, argument, _FIRST_RELEASE, __version__)
        raise error
    finally:
        del error  # this frame and the error would refer to each other


def _unusable(method: str, reply: Reply, problem: Exception) -> StokerError:
    release = str(reply.get("release", "")) if isinstance(reply, Mapping) else ""
    detail = str(problem) if isinstance(problem, ValueError) else "the reply is damaged"
    if release == __version__:
        return Bug(f"The reply to {method} cannot be used: {detail}.")
    return AnswerMismatch(
        f"An engine of {f'release {release}' if release else 'an unknown release'} replied to {method} in a form that "
        f"release {__version__} does not understand ({detail}). The request may have been carried out. Check with a "
        "request that only reads when the upgrade of the service is complete."
    )


def packed(what: str, data: object) -> str:
    """Serialize `data` for sending. Raises Bug when it contains anything that JSON cannot represent."""
    try:
        return json_text(data).decode()
    except (TypeError, ValueError) as error:
        raise Bug(f"{what[0].upper()}{what[1:]} cannot be sent as JSON: {error}.") from error


def unpacked(text: str) -> Any:
    """Return the data that was packed."""
    return json_data(text.encode())


__all__ = [
    "JSON",
    "EngineClient",
    "EngineUnavailable",
    "RequestContext",
    "error_from_dict",
    "error_to_dict",
    "json_copy",
    "json_data",
    "json_text",
]

JSON: TypeAlias = dict[str, "JSON"] | list["JSON"] | str | int | float | bool | None

_STRICT = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


class EngineUnavailable(errors.StokerError):
    """No engine answered in time. The request may still be carried out."""

    @property
    def kind(self) -> str:
        return "ServiceUnavailable"


class EngineClient(Protocol):
    """The API's client of the engines."""

    def call(self, context: RequestContext, request: Request[Answer], timeout: float = 60.0) -> Answer:
        """Have an engine carry `request` out and return its answer, waiting for at most `timeout` seconds.

        Raises the `StokerError` that the operation raised, or EngineUnavailable without an answer.
        """


def json_text(data: object) -> bytes:
    """Serialize `data` to JSON in UTF-8. Raises TypeError when it contains anything that JSON cannot represent."""
    return dumps(data, _STRICT)


def json_data(text: bytes) -> object:
    """Parse the output of `json_text`."""
    return loads(text)


def json_copy(data: object) -> Any:
    """Return `data` as it arrives when sent as JSON. Raises TypeError for data that JSON cannot represent."""
    return json_data(json_text(data))


def error_to_dict(error: errors.StokerError) -> dict[str, object]:
    """Return plain data of an error; for a `Bug` with the reference under which the engine has logged it."""
    data = error.to_dict()
    return {**data, "reference": error.reference} if isinstance(error, errors.Bug) else data


def error_from_dict(data: Mapping[str, object]) -> errors.StokerError:
    """Return the error that `error_to_dict` described."""
    error = errors.from_dict(data)
    if isinstance(error, errors.Bug):
        error.reference = str(data.get("reference", ""))
    return error
