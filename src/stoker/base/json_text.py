"""JSON serialization of data that may contain integers of any size.

orjson, which is several times faster than the standard library, refuses to write integers beyond 64 bits and reads
them as floats; templates may contain them. Documents with such integers are written by the standard library and begin
with a space, by which `loads` recognizes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

_LARGE_INTEGERS = b" "


def dumps(data: Any, option: int = 0, default: Callable[[Any], Any] | None = None) -> bytes:
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
