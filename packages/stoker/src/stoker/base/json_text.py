"""JSON: serialization of data that may contain integers of any size, and a bounded reader of users' JSON.

orjson, which is several times faster than the standard library, refuses to write integers beyond 64 bits and reads
them as floats; templates may contain them. Documents with such integers are written by the standard library and begin
with a space, by which `loads` recognizes them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import orjson

MAX_DEPTH = 100
"""Maximum nesting of maps and lists; sufficient for any template, and safe for later recursion."""

_LARGE_INTEGERS = b" "


def dumps(data: object, option: int = 0, default: Callable[[object], object] | None = None) -> bytes:
    """Serialize `data` to UTF-8, with orjson's options. Raises TypeError for data that JSON cannot represent."""
    try:
        return orjson.dumps(data, option=option, default=default)
    except TypeError as error:
        if "64-bit" not in str(error):
            raise
    sort = bool(option & orjson.OPT_SORT_KEYS)
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=sort, default=default)
    return _LARGE_INTEGERS + written.encode()


def loads(text: bytes) -> Any:
    """Parse the output of `dumps`. Raises ValueError for invalid JSON."""
    return json.loads(text) if text.startswith(_LARGE_INTEGERS) else orjson.loads(text)


# -- JSON of users --------------------------------------------------------------------------------------------------


class NotAcceptable(ValueError):
    """JSON with a value that Stoker does not accept: a number out of range, or a string that is not Unicode text."""


class TooDeep(ValueError):
    """JSON with more than `MAX_DEPTH` levels of maps and lists."""


def read_json(text: str | bytes) -> Any:
    """Parse a JSON document of a user, so that its data can be walked recursively and written as JSON again.

    Raises ValueError for invalid JSON (RFC 8259); TooDeep; NotAcceptable for numbers that are infinite or not a number,
    integers beyond Python's limit of digits, and strings with lone surrogates.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        data = json.loads(text, parse_float=_finite, parse_constant=no_constant)
    except RecursionError:
        raise _too_deep() from None
    except (json.JSONDecodeError, NotAcceptable):
        raise
    except ValueError:  # Python limits the digits of integers
        raise NotAcceptable("an integer has too many digits") from None
    if text.count("[") + text.count("{") > MAX_DEPTH or "\\u" in text or not text.isascii():
        _check(data)
    return data


def no_constant(name: str) -> None:
    """Refuse `NaN` and `Infinity`, which Python reads although they are not JSON (a `parse_constant` of `json`)."""
    raise NotAcceptable(f"{name} is not a JSON number")


def has_lone_surrogate(string: str) -> bool:
    """Return whether a string contains half of a surrogate pair, which no encoding of Unicode can represent."""
    return not string.isascii() and any("\ud800" <= character <= "\udfff" for character in string)


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise NotAcceptable("a number is out of range")
    return number


def _too_deep() -> TooDeep:
    return TooDeep(f"values are nested too deeply: there are more than {MAX_DEPTH} levels of maps and lists")


def _check(data: object) -> None:
    """Check depth and strings of the parsed JSON, level by level, since the depth is not known to be safe yet."""
    level, depth = [data], 0
    while level:
        inner: list[object] = []
        for value in level:
            if isinstance(value, str):
                if has_lone_surrogate(value):
                    raise NotAcceptable("a string contains a lone surrogate, which is not a character")
            elif isinstance(value, dict | list):
                if depth == MAX_DEPTH:
                    raise _too_deep()
                inner += [*value, *value.values()] if isinstance(value, dict) else value
        level, depth = inner, depth + 1
