"""Redaction: secrets are replaced wherever they occur in what is shown."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

from stoker_foundation.recent import Recent
from stoker_foundation.value_types import MAPPINGS, SCALARS

REDACTED = "******"
"""What is shown in place of a value that nobody may see."""

SHORTEST_SECRET = 4
"""Shorter strings are not redacted inside longer ones: too much that is no secret would match."""

_BEGINNING = 40
"""Messages shorten long values: this many characters of a secret, and what follows them directly, are redacted too."""

_MOST_SEARCHED = 1024 * 1024
"""Bytes of all forms of all secrets together that are searched for. The search takes about twelve times as much."""


def strings_of(value: object) -> Iterator[str]:
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
    """Finds and redacts secrets. A secret is also found in the form of JSON, base64 or a part of a URL.

    Time grows with the strings and the secrets, not with their product, and memory is limited whatever the secrets are.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets = frozenset(secrets)
        self._search = _SEARCHES.get(self._secrets, lambda: _Search(self._secrets)) if self._secrets else _NOTHING

    def redact(self, value: Any) -> Any:
        """Return `value` with every occurrence of a secret redacted, also in keys and numbers."""
        if self._search is _NOTHING:
            return value
        match value:
            case Mapping():
                return {self.redact(key): self.redact(item) for key, item in value.items()}
            case list():
                return [self.redact(item) for item in value]
            case str():
                return self._search.redact(value)
            case int() | float() if self._is_secret(value) and len(str(value)) >= SHORTEST_SECRET:
                return REDACTED
        return value

    def redact_values(self, value: object) -> Any:
        """Return the same as `redact`; a short secret is redacted, too, where it is a whole value."""
        if type(value) not in SCALARS:
            if isinstance(value, MAPPINGS):
                return {self.redact(key): self.redact_values(item) for key, item in value.items()}
            if isinstance(value, list):
                return [self.redact_values(item) for item in value]
        return REDACTED if self._is_secret(value) else self.redact(value)

    def finds(self, value: object) -> bool:
        """Return whether `redact_values` would redact anything but keys in `value`."""
        return any(string in self._secrets or self._search.finds(string) for string in strings_of(value))

    def _is_secret(self, value: object) -> bool:
        return not isinstance(value, bool) and value is not None and str(value) in self._secrets


def redact(value: Any, secrets: Collection[str]) -> Any:
    """Return `Redactor(secrets).redact(value)`."""
    return Redactor(secrets).redact(value)


def redact_values(value: object, secrets: Collection[str]) -> Any:
    """Return `Redactor(secrets).redact_values(value)`."""
    return Redactor(secrets).redact_values(value)


class _Search:
    """Searches strings for the forms of secrets with the algorithm of Aho and Corasick.

    Forms that are too large together are searched for by their beginnings only, and a string that contains one of these
    is redacted as a whole.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        long = [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]
        sizes = [len(form) for secret in long for form in _forms(secret)]
        self._exact = sum(sizes) <= _MOST_SEARCHED
        longest = _BEGINNING if self._exact else max(SHORTEST_SECRET, min(_BEGINNING, _MOST_SEARCHED // len(sizes)))
        whole, beginnings = set(), set()
        for secret in long:
            for form in _forms(secret):
                beginnings.add(_encoded(form[:longest]))
                if self._exact:
                    whole.add(_encoded(form))
        patterns = [*whole, *(beginnings - whole)]
        self._whole = len(whole)
        self.size = sum(map(len, patterns))
        self._automaton = BytesAhoCorasick(
            patterns, matchkind=MatchKind.LeftmostLongest, implementation=Implementation.ContiguousNFA
        )

    def finds(self, text: str) -> bool:
        return bool(self._automaton.find_matches_as_indexes(_encoded(text)))

    def redact(self, text: str) -> str:
        data = _encoded(text)
        found = self._automaton.find_matches_as_indexes(data)
        if not found:
            return text
        if not self._exact:
            return REDACTED
        pieces: list[bytes] = []
        done = 0
        for pattern, start, end in found:
            if pattern >= self._whole:
                end = _FOLLOWING.match(data, end).end()  # type: ignore[union-attr]  # it matches nothing, too
            if start >= done:
                pieces += [data[done:start], _REDACTED]
            done = max(done, end)
        return b"".join([*pieces, data[done:]]).decode(errors="surrogatepass")


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


_REDACTED = REDACTED.encode()
_FOLLOWING = re.compile(rb"[^\s'\"]*")
_NOTHING = _Search(())
_SEARCHES: Recent[_Search] = Recent(64, lambda search: search.size)


def _forms(secret: str) -> Iterable[str]:
    """The secret as it is, in JSON, in JSON inside a JSON string, in base64, in a URL."""
    for as_ascii in (True, False):
        once = json.dumps(secret, ensure_ascii=as_ascii)[1:-1]
        yield from (secret, once, json.dumps(once, ensure_ascii=as_ascii)[1:-1])
    yield b64encode(secret.encode(errors="surrogatepass")).decode()
    yield quote(secret, safe="", errors="replace")
