"""Caches of what the identity service says of tokens, and of what the check of tokens has led to."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

from keystoneauth1 import access

from stoker_foundation.clock import Clock

TOKENS = ("HTTP_X_AUTH_TOKEN", "HTTP_X_STORAGE_TOKEN", "HTTP_X_SERVICE_TOKEN")
"""Keys of the environment: the headers with tokens that keystonemiddleware reads."""

_ABOUT = "keystone.token_info"
"""Key of the environment: what the identity service says of the token."""

_ACCEPTED_SECONDS = 1.0
_MOST_TOKENS = 2000
_ABSENT = object()


class TokenCache:
    """The part of a memcache client that keystonemiddleware uses; it is thread-safe.

    Keys are digests of tokens. Beyond `capacity`, the least recently used entry is evicted.
    """

    def __init__(self, clock: Clock, capacity: int = _MOST_TOKENS) -> None:
        self._clock = clock
        self._capacity = capacity
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    def get(self, key: str) -> Any:
        """Return the cached value of `key`; None when there is none or it has expired."""
        with self._lock:
            end, value = self._entries.get(key, (0.0, None))
            if end <= self._clock.now():
                self._entries.pop(key, None)
                return None
            self._entries.move_to_end(key)
            return value

    def set(self, key: str, value: object, time: float = 0) -> None:
        """Cache `value` for `time` seconds."""
        with self._lock:
            self._entries[key] = (self._clock.now() + time, value)
            self._entries.move_to_end(key)
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)


class AcceptedTokens:
    """What keystonemiddleware has added to the environments of accepted requests, by their tokens; it is thread-safe.

    A client that sends many requests has its token checked once in `_ACCEPTED_SECONDS`. Only what follows from the
    tokens alone is remembered: not tokens with access rules, which allow some requests only, nor tokens that are bound
    to the client's connection. Nothing is remembered after the end of a token, and nothing at all if the operator lets
    no token be cached: `cache_time` is for how many seconds keystonemiddleware may cache what it has received.
    """

    def __init__(self, clock: Clock, cache_time: float) -> None:
        self._clock = clock
        self._seconds = min(_ACCEPTED_SECONDS, cache_time)
        self._known = TokenCache(clock)

    def of(self, key: str) -> Mapping[str, object] | None:
        """Return what was added for the tokens of a request (`key_of_tokens`); None if they must be checked."""
        known: Mapping[str, object] | None = self._known.get(key)
        return known

    def remember(self, key: str, before: Mapping[str, object], after: Mapping[str, Any]) -> None:
        """Record an accepted request's environment: as it was, without identity headers, and as it is now."""
        info = after.get(_ABOUT) or {}
        token = info.get("token", info)
        if token.get("bind") or (token.get("application_credential") or {}).get("access_rules") is not None:
            return
        end = access.create(body=info).expires
        left = 0.0 if end is None else end.timestamp() - self._clock.now()
        if (seconds := min(self._seconds, left)) > 0:
            added = {name: value for name, value in after.items() if before.get(name, _ABSENT) is not value}
            self._known.set(key, MappingProxyType(added), seconds)


def key_of_tokens(environ: Mapping[str, object]) -> str:
    """Return a digest of all tokens in a request."""
    tokens = "\0".join(str(environ.get(name, "")) for name in TOKENS)
    return blake2b(tokens.encode("utf-8", "surrogateescape"), digest_size=32).hexdigest()
