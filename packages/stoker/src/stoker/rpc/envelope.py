"""Messages, independent of the transport: arguments, and a reply that is an answer or an error.

Both are sent as JSON documents, which are serialized once and parsed once: the transport does not look inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from stoker import __version__
from stoker.base.errors import AnswerMismatch, Bug, ReleaseMismatch, StokerError, forget_frames
from stoker.contract.request import Answer, Problem, Request
from stoker.rpc.contract import RequestContext, error_from_dict, error_to_dict, json_data, json_text

_SPARE_SECONDS, _SPARE_PART = 6.0, 0.8
"""How much earlier than its caller a call ends: so many seconds, but not before this part of the time."""

_FIRST_RELEASE = "0.1.0"

Reply = dict[str, str]
"""`answer` or `error`, a JSON document, and the `release` of the process that replies, which 0.1.0 does not send."""


class Service(Protocol):
    """The engine's side of the transport (`stoker.rpc.dispatch.Dispatcher`)."""

    async def dispatch(
        self,
        context: RequestContext,
        method: str,
        arguments: Mapping[str, Any],
        sender: str = "",
        seconds: float | None = None,
    ) -> Any:
        """Run `method` and return its answer; `sender` is the release of the calling process, if known.

        Without an answer within `seconds`, EngineUnavailable is raised.
        """


class EndingService(Service, Protocol):
    """A service that answers all calls before it ends."""

    async def stop(self, seconds: float) -> None:
        """Answer all calls: those in progress for `seconds`, the rest and further ones with EngineUnavailable."""


async def reply_of(
    service: Service,
    context: RequestContext,
    method: str,
    arguments: Mapping[str, Any],
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


def packed(what: str, data: Any) -> str:
    """Serialize `data` for sending. Raises Bug when it contains anything that JSON cannot represent."""
    try:
        return json_text(data).decode()
    except (TypeError, ValueError) as error:
        raise Bug(f"{what[0].upper()}{what[1:]} cannot be sent as JSON: {error}.") from error


def unpacked(text: str) -> Any:
    """Return the data that was packed."""
    return json_data(text.encode())
