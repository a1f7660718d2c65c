"""Redaction: secrets are replaced wherever they occur in what is shown."""

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
"""Shorter strings are not redacted inside longer ones: too much that is no secret would match."""

_BEGINNING = 40
"""Messages shorten long values: this many characters of a secret, and what follows them directly, are redacted too."""


def strings_of(value: Any) -> Iterator[str]:
    """Yield the strings and numbers in a value, at any depth, as strings. Booleans are omitted: they are no secrets."""
    match value:
        case Mapping():
            for inner in value.values():
                yield from strings_of(inner)
        case list():
            for inner in value:
                yield from strings_of(inner)
        case str() | int() | float() if not isinstance(value, bool) and value != "":
            yield str(value)


class Redactor:
    """Finds and redacts secrets. A secret is also found in the form of JSON, base64 or a part of a URL."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets = frozenset(secrets)
        self._pattern = _pattern(self._secrets)

    def redact(self, value: Any) -> Any:
        """Return `value` with every occurrence of a secret redacted, also in keys and numbers."""
        return value if self._pattern is None else _redacted(value, self._pattern)

    def redact_values(self, value: Any) -> Any:
        """Return the same as `redact`; a short secret is redacted, too, where it is a whole value."""
        if isinstance(value, Mapping):
            return {self.redact(key): self.redact_values(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.redact_values(item) for item in value]
        return REDACTED if self._is_secret(value) else self.redact(value)

    def finds(self, value: Any) -> bool:
        """Return whether `redact_values` would redact anything but keys in `value`."""
        pattern = self._pattern
        return any(
            string in self._secrets or (pattern is not None and pattern.search(string) is not None)
            for string in strings_of(value)
        )

    def _is_secret(self, value: Any) -> bool:
        return not isinstance(value, bool) and value is not None and str(value) in self._secrets


def redact(value: Any, secrets: Collection[str]) -> Any:
    """Return `Redactor(secrets).redact(value)`."""
    return Redactor(secrets).redact(value)


def redact_values(value: Any, secrets: Collection[str]) -> Any:
    """Return `Redactor(secrets).redact_values(value)`."""
    return Redactor(secrets).redact_values(value)


def _redacted(value: Any, pattern: re.Pattern[str]) -> Any:
    match value:
        case Mapping():
            return {_redacted(key, pattern): _redacted(item, pattern) for key, item in value.items()}
        case list():
            return [_redacted(item, pattern) for item in value]
        case str():
            return pattern.sub(REDACTED, value)
        case int() | float() if not isinstance(value, bool) and pattern.fullmatch(str(value)):
            return REDACTED
    return value


@lru_cache(maxsize=64)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str] | None:
    """What finds the secrets, the longest first, since one may be the beginning of another."""
    forms = {form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _forms(secret)}
    found = sorted(forms, key=lambda form: (-len(form), form))
    beginnings = sorted({form[:_BEGINNING] for form in found if len(form) > _BEGINNING})
    whole = [re.escape(form) for form in found]
    cut = [rf"{re.escape(beginning)}[^\s'\"]*" for beginning in beginnings]
    return re.compile("|".join([*whole, *cut])) if found else None


def _forms(secret: str) -> Iterable[str]:
    """The secret as it is, in JSON, in JSON inside a JSON string, in base64, in a URL."""
    for as_ascii in (True, False):
        once = json.dumps(secret, ensure_ascii=as_ascii)[1:-1]
        yield from (secret, once, json.dumps(once, ensure_ascii=as_ascii)[1:-1])
    yield b64encode(secret.encode(errors="surrogatepass")).decode()
    yield quote(secret, safe="", errors="replace")
