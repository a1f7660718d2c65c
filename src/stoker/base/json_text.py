"""JSON text of data that may hold integers of any size.

orjson, which is several times faster than the standard library, refuses integers beyond 64 bits and reads them as
floats; templates may hold them. Text with such integers is written by the standard library and begins with a blank,
which is how `loads` knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

_LARGE_INTEGERS = b" "


def dumps(data: Any, option: int = 0, default: Callable[[Any], Any] | None = None) -> bytes:
    """`data` as UTF-8 text, with orjson's options. Raises TypeError for what cannot be written."""
    try:
        return orjson.dumps(data, option=option, default=default)
    except TypeError as error:
        if "64-bit" not in str(error):
            raise
    sort = bool(option & orjson.OPT_SORT_KEYS)
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=sort, default=default)
    return _LARGE_INTEGERS + written.encode()


def loads(text: bytes) -> Any:
    """The data that `dumps` wrote. Raises ValueError for what is not JSON."""
    return json.loads(text) if text.startswith(_LARGE_INTEGERS) else orjson.loads(text)
