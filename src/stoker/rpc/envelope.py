"""Messages, independent of the transport: arguments, and a reply that is an answer or an error.

Both are sent as JSON documents, which are serialized once and parsed once: the transport does not look inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from stoker.base.errors import Bug, StokerError
from stoker.rpc.contract import RequestContext, error_from_dict, error_to_dict, json_data, json_text

Reply = dict[str, str]
"""`{"answer": …}` or `{"error": …}`, each a JSON document."""


class Service(Protocol):
    """The engine's side of the transport (`stoker.rpc.dispatch.Dispatcher`)."""

    async def dispatch(
        self, context: RequestContext, method: str, arguments: Mapping[str, Any], sender: str = ""
    ) -> Any:
        """Run `method` and return its answer; `sender` is the release of the calling process, if known."""


async def reply_of(
    service: Service, context: RequestContext, method: str, arguments: Mapping[str, Any], sender: str = ""
) -> Reply:
    """Carry out a call, and return the reply, ready to be sent. Never raises a StokerError."""
    try:
        answer = await service.dispatch(context, method, arguments, sender)
        return {"answer": packed(f"the answer of {method}", answer)}
    except StokerError as error:
        return {"error": packed("the error", error_to_dict(error))}


def opened(reply: Reply) -> Any:
    """Return the answer in a reply. Raises the error in it, if any."""
    if "error" in reply:
        raise error_from_dict(unpacked(reply["error"]))
    return unpacked(reply["answer"])


def packed(what: str, data: Any) -> str:
    """Serialize `data` for sending. Raises Bug when it contains anything that JSON cannot represent."""
    try:
        return json_text(data).decode()
    except (TypeError, ValueError) as error:
        raise Bug(f"{what[0].upper()}{what[1:]} cannot be sent as JSON: {error}.") from error


def unpacked(text: str) -> Any:
    """Return the data that was packed."""
    return json_data(text.encode())
