"""Compare what is expected with what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import orjson

from stoker.base.diagnostics import Path
from stoker_foundation.patterns.linear import fits_wildcards

_LONGEST = 200


def differences(expected: object, found: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield where an expected value differs from what was found, as a path in the expected one, and how.

    Of maps, only the expected keys are compared. Lists are compared as a whole. `*` in a string matches any characters.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            if key in found:
                yield from differences(value, found[key], (*path, key))
            else:
                yield (*path, key), f"{_shown(value)} was expected, and there is no such key{_other_keys(found)}"
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (each, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(each, other, (*path, number))
    elif not _equal(expected, found):
        yield path, f"{_shown(expected)} was expected, and {_shown(found)} was found"


def fits(pattern: str, text: str) -> bool:
    """Return whether a string is as expected; `*` matches any characters."""
    return pattern == text or ("*" in pattern and fits_wildcards(pattern, text))


def _equal(expected: object, found: object) -> bool:
    if isinstance(expected, str) and isinstance(found, str):
        return fits(expected, found)
    return bool(expected == found) and isinstance(expected, bool) == isinstance(found, bool)


def _other_keys(found: Mapping[str, object]) -> str:
    """Return which keys there are instead."""
    return f" besides {', '.join(found)}" if found else ""


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, bytes) else orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
