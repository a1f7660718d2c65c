"""Compare what is expected with what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import orjson

from stoker.base.diagnostics import Path
from stoker_foundation.patterns.linear import fits_wildcards

_LONGEST = 200


def differences(expected: object, actual: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield where an expected value differs from what was found, as a path in the expected one, and how.

    Of maps, only the expected keys are compared. Lists are compared as a whole. `*` in a string matches any characters.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if key in actual:
                yield from differences(value, actual[key], (*path, key))
            else:
                yield (*path, key), f"{_shown(value)} was expected, and there is no such key{_other_keys(actual)}"
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, (expected_item, actual_item) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(expected_item, actual_item, (*path, number))
    elif not _equal(expected, actual):
        yield path, f"{_shown(expected)} was expected, and {_shown(actual)} was found"


def fits(pattern: str, text: str) -> bool:
    """Return whether a string is as expected; `*` matches any characters."""
    return pattern == text or ("*" in pattern and fits_wildcards(pattern, text))


def _equal(expected: object, actual: object) -> bool:
    if isinstance(expected, str) and isinstance(actual, str):
        return fits(expected, actual)
    return bool(expected == actual) and isinstance(expected, bool) == isinstance(actual, bool)


def _other_keys(actual: Mapping[str, object]) -> str:
    """Return which keys there are instead."""
    return f" besides {', '.join(actual)}" if actual else ""


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, bytes) else orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
