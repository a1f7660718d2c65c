"""Secrets in what is shown: blotted out wherever they turn up, whoever put them there."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

REDACTED = "******"
"""What is shown in place of a value that nobody may see."""


SHORTEST_SECRET = 4
"""Texts shorter than this are not blotted out wherever they turn up: they would blot out everything."""

_BEGINNING = 40
"""Messages shorten long values; so much of a secret and what follows it at once is blotted out, too."""


def texts_of(value: Any) -> Iterator[str]:
    """The texts and numbers in a value, at any depth, as texts. What is true or false is no secret to look for."""
    match value:
        case Mapping():
            for inner in value.values():
                yield from texts_of(inner)
        case list():
            for inner in value:
                yield from texts_of(inner)
        case str() | int() | float() if not isinstance(value, bool) and value != "":
            yield str(value)


def masked(value: Any, secrets: Collection[str]) -> Any:
    """`value` with every occurrence of a secret blotted out, also in a key, and of one that is a number.

    A secret is found as well where it stands as JSON, as base64 or as part of a URL.
    """
    pattern = _pattern(frozenset(secrets))
    return value if pattern is None else _blotted(value, pattern)


def masked_values(value: Any, secrets: Collection[str]) -> Any:
    """Property values so masked, and with those blotted out, too, that are as a whole a secret which is short."""
    if isinstance(value, Mapping):
        return {masked(key, secrets): masked_values(item, secrets) for key, item in value.items()}
    if isinstance(value, list):
        return [masked_values(item, secrets) for item in value]
    if not isinstance(value, bool) and value is not None and str(value) in secrets:
        return REDACTED
    return masked(value, secrets)


def _blotted(value: Any, pattern: re.Pattern[str]) -> Any:
    match value:
        case Mapping():
            return {_blotted(key, pattern): _blotted(item, pattern) for key, item in value.items()}
        case list():
            return [_blotted(item, pattern) for item in value]
        case str():
            return pattern.sub(REDACTED, value)
        case int() | float() if not isinstance(value, bool) and pattern.fullmatch(str(value)):
            return REDACTED
    return value


@lru_cache(maxsize=64)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str] | None:
    """What finds the secrets, the longest first: one may be the beginning of another."""
    forms = {form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _forms(secret)}
    found = sorted(forms, key=lambda form: (-len(form), form))
    beginnings = sorted({form[:_BEGINNING] for form in found if len(form) > _BEGINNING})
    whole = [re.escape(form) for form in found]
    cut = [rf"{re.escape(beginning)}[^\s'\"]*" for beginning in beginnings]
    return re.compile("|".join([*whole, *cut])) if found else None


def _forms(secret: str) -> Iterable[str]:
    """The secret as it is, in JSON, in JSON that is a text in JSON, in base64, in a URL."""
    for as_ascii in (True, False):
        once = json.dumps(secret, ensure_ascii=as_ascii)[1:-1]
        yield from (secret, once, json.dumps(once, ensure_ascii=as_ascii)[1:-1])
    yield b64encode(secret.encode(errors="surrogatepass")).decode()
    yield quote(secret, safe="", errors="replace")
