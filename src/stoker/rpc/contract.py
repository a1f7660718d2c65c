"""What the API may ask of an engine, whichever transport carries it.

A call is a method name, a caller and named arguments; an answer is data. Both are JSON: maps with text keys, lists,
texts, numbers, booleans and nulls, so that any transport can carry them. Errors cross as `error_to_dict` of the
`stoker.base.errors` tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import orjson

from stoker.base import errors
from stoker.base.context import RequestContext
from stoker.base.json_text import dumps, loads

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
    """The API's handle on the engines."""

    def call(self, context: RequestContext, method: str, arguments: Mapping[str, Any], timeout: float = 60.0) -> Any:
        """The answer of `method`, waited for at most `timeout` seconds.

        Raises the `StokerError` that the method raised, or EngineUnavailable when no answer came.
        """


def json_text(data: Any) -> bytes:
    """`data` as JSON text in UTF-8. Raises TypeError when it holds anything that is not JSON."""
    return dumps(data, _STRICT)


def json_data(text: bytes) -> Any:
    """The data that `json_text` made a text of."""
    return loads(text)


def json_copy(data: Any) -> Any:
    """What arrives when `data` is sent as JSON. Raises TypeError when it holds anything that is not JSON."""
    return json_data(json_text(data))


def error_to_dict(error: errors.StokerError) -> dict[str, Any]:
    """Plain data of an error; with the reference of a `Bug`, by which it is found in the engine's log."""
    data = error.to_dict()
    return {**data, "reference": error.reference} if isinstance(error, errors.Bug) else data


def error_from_dict(data: Mapping[str, Any]) -> errors.StokerError:
    """The error that `error_to_dict` described."""
    error = errors.from_dict(data)
    if isinstance(error, errors.Bug):
        error.reference = str(data.get("reference", ""))
    return error
