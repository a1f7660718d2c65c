"""A process that runs cases: it reads one from each line of its standard input, and writes its outcome to a line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson

from stoker.testing.cases import Case, read_cases
from stoker.testing.running import run
from stoker.testing.workers import serve

_cases = cache(read_cases)


def _answer(request: Mapping[str, Any]) -> bytes:
    case: Case = _cases(request["file"], request["cloud"])[request["number"]]
    return orjson.dumps(run(case, request["update"]).to_dict())


if __name__ == "__main__":
    serve(_answer)
