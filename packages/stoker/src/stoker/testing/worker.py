"""A process that runs cases: it reads one from each line of its standard input, and writes its outcome to a line."""

from __future__ import annotations

import logging
import sys
from functools import cache

import orjson

from stoker.testing.cases import Case, read_cases
from stoker.testing.running import run

_cases = cache(read_cases)


def main() -> None:
    """Run cases until the end of the input."""
    logging.getLogger().addHandler(logging.NullHandler())
    for line in sys.stdin.buffer:
        request = orjson.loads(line)
        case: Case = _cases(request["file"], request["cloud"])[request["number"]]
        sys.stdout.buffer.write(orjson.dumps(run(case, request["update"]).to_dict()) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
