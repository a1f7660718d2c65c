"""The helper process: matches patterns with Python's `re`; one JSON line per request and answer.

This file imports nothing of Stoker, since it is run by its path: `worker.py SECONDS BYTES`. The kernel ends the process
when one answer takes more than SECONDS of processor time, and refuses to allocate more than BYTES of memory.
"""

from __future__ import annotations

import itertools
import json
import re
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

_MOST_MATCHES = 10_000
_MOST_CHARACTERS = 4 * 1024 * 1024


def _fits(pattern: re.Pattern[str], text: str) -> bool:
    match = pattern.match(text)
    return match is not None and match.end() == len(text)


def _is_whole(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.fullmatch(text) is not None


def _begins(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.match(text) is not None


def _found(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None


def _first(pattern: re.Pattern[str], text: str) -> object:
    match = pattern.search(text)
    return [match.regs] if match is not None else []


def _matches(pattern: re.Pattern[str], text: str) -> list[Any]:
    """Return the spans of each match's groups, the whole match first."""
    found = [match.regs for match in itertools.islice(pattern.finditer(text), _MOST_MATCHES + 1)]
    if len(found) > _MOST_MATCHES:
        raise MemoryError
    return found


def _replaced(pattern: re.Pattern[str], text: str, replacement: str, count: int) -> str:
    """Return `text` with matches replaced. Raises IndexError or re.error for a replacement with unknown groups."""
    result = pattern.sub(replacement, text, count)
    if len(result) > _MOST_CHARACTERS:
        raise MemoryError
    return result


_QUESTIONS: dict[str, Callable[..., object]] = {
    "fits": _fits,
    "is_whole": _is_whole,
    "begins": _begins,
    "found": _found,
    "first": _first,
    "matches": _matches,
    "replaced": _replaced,
}


def _answer(question: str, pattern: str, flags: int, *arguments: Any) -> dict[str, Any]:
    try:
        return {"answer": _QUESTIONS[question](re.compile(pattern, flags), *arguments)}
    except (MemoryError, RecursionError, OverflowError):
        return {"too_costly": True}
    except (IndexError, re.error) as error:
        return {"error": str(error)}


def main() -> None:
    """Answer requests until the input ends."""
    seconds, memory = float(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answer = json.dumps(_answer(*json.loads(line)))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
