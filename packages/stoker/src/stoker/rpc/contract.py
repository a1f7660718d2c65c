"""The client of the engines that the API uses, and the JSON that transports carry.

A request (`stoker.contract`) is sent as a method name, a caller and named arguments; an answer is data. Both are JSON
(maps with string keys, lists, strings, numbers, booleans and nulls), so that any transport can carry them. Errors of
the `stoker.base.errors` tree are sent as `error_to_dict` returns them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import orjson

from stoker.base import errors
from stoker.base.context import RequestContext
from stoker.base.json_text import dumps, loads
from stoker.contract.request import Answer, Request

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


def json_text(data: Any) -> bytes:
    """Serialize `data` to JSON in UTF-8. Raises TypeError when it contains anything that JSON cannot represent."""
    return dumps(data, _STRICT)


def json_data(text: bytes) -> Any:
    """Parse the output of `json_text`."""
    return loads(text)


def json_copy(data: Any) -> Any:
    """Return `data` as it arrives when sent as JSON. Raises TypeError for data that JSON cannot represent."""
    return json_data(json_text(data))


def error_to_dict(error: errors.StokerError) -> dict[str, Any]:
    """Return plain data of an error; for a `Bug` with the reference under which the engine has logged it."""
    data = error.to_dict()
    return {**data, "reference": error.reference} if isinstance(error, errors.Bug) else data


def error_from_dict(data: Mapping[str, Any]) -> errors.StokerError:
    """Return the error that `error_to_dict` described."""
    error = errors.from_dict(data)
    if isinstance(error, errors.Bug):
        error.reference = str(data.get("reference", ""))
    return error
