"""The process that evaluates Jinja expressions: `python -m …workflow.rules.jinja_worker SECONDS BYTES`.

One JSON line per message. A request is `[expression, data, names of functions]`. The process answers with
`{"value": …}` or `{"error": …}`, or asks for the result of a function with `{"call": name, "arguments": […]}` and then
reads a line of the same form. The kernel ends the process when an evaluation takes more than SECONDS of processor time,
and refuses to allocate more than BYTES of memory, whichever filter, method or loop needs them.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial

from jinja2 import Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from stoker_foundation.plain_data import plain

LARGEST = 4 * 1024 * 1024
"""Characters of a result, as JSON."""
_ALONE = re.compile(r"\s*\{\{((?:(?!\}\}).)*)\}\}\s*\Z", re.DOTALL)


class _Environment(ImmutableSandboxedEnvironment):
    """A sandbox in which the entries of maps come before methods of the same name."""

    def getattr(self, obj: object, attribute: str) -> object:
        return obj[attribute] if isinstance(obj, Mapping) and attribute in obj else super().getattr(obj, attribute)


@cache
def environment() -> ImmutableSandboxedEnvironment:
    """Return the language."""
    return _Environment()


@lru_cache(maxsize=128)
def _compiled(text: str) -> Callable[..., object]:
    alone = _ALONE.match(text)
    if alone is not None:
        return environment().compile_expression(alone[1], undefined_to_none=False)
    return environment().from_string(text).render


def _evaluated(text: str, data: object, functions: list[str]) -> dict[str, object]:
    try:
        result = _compiled(text)({"_": data, **{name: partial(_called, name) for name in functions}})
        if isinstance(result, Undefined):
            return {"error": "the value is undefined"}
        answer = {"value": plain(result)}
        if len(json.dumps(answer)) > LARGEST:
            return {"error": "the result is too large"}
    except MemoryError:
        return {"error": "it needs too much memory"}
    except Exception as error:
        # The library runs the user's expression; any exception is a mistake in it.
        return {"error": str(error) or type(error).__name__}
    return answer


def _called(name: str, *arguments: object) -> object:
    _write({"call": name, "arguments": plain(arguments)})
    answer = json.loads(sys.stdin.buffer.readline())
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer["value"]


def _write(message: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer requests until the input ends."""
    seconds, memory = float(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answer = _evaluated(*request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _write(answer)


if __name__ == "__main__":
    main()
