"""A cache of validated tokens in this process, so that not every request needs a call of the identity service."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from oslo_config import cfg

from stoker.api import auth as authentication
from stoker.api.auth import Authenticator, WSGIApplication
from stoker.api.password_auth import STANDALONE, with_passwords
from stoker.base.clock import Clock
from stoker.processes.settings import TOKEN_CHECK

_ENVIRONMENT_KEY = "stoker.token_cache"
_MOST_TOKENS = 2000


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

    def set(self, key: str, value: Any, time: float = 0) -> None:
        """Cache `value` for `time` seconds."""
        with self._lock:
            self._entries[key] = (self._clock.now() + time, value)
            self._entries.move_to_end(key)
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)


def caller_check(config: cfg.ConfigOpts, clock: Clock) -> Authenticator:
    """Return the authentication of the REST API: by tokens, and by passwords too if so configured."""
    check = remembering_check(config, clock)
    return with_passwords(check, config) if config.paste_deploy.flavor == STANDALONE else check


def remembering_check(config: cfg.ConfigOpts, clock: Clock) -> Authenticator:
    """Return keystonemiddleware with an in-memory cache (`[keystone_authtoken] token_cache_time`).

    If memcached servers are configured, those are used instead.
    """
    check = authentication.keystone(config)
    section = config[TOKEN_CHECK]
    if "auth_url" in section:  # clients use the same identity service as this process, unless configured otherwise
        config.set_default("www_authenticate_uri", section.auth_url, group=TOKEN_CHECK)
    if section.memcached_servers or section.cache:
        return check
    config.set_default("cache", _ENVIRONMENT_KEY, group=TOKEN_CHECK)
    cache = TokenCache(clock)

    def wrap(application: WSGIApplication) -> WSGIApplication:
        checked = check(application)

        def remembering(environ: dict[str, Any], start_response: Any) -> Any:
            environ[_ENVIRONMENT_KEY] = cache
            return checked(environ, start_response)

        return remembering

    return wrap
