"""A cache of validated tokens in this process, so that not every request needs a call of the identity service."""

from __future__ import annotations

from oslo_config import cfg

from stoker.api import auth as authentication
from stoker.api.auth import Authenticator, WSGIApplication
from stoker.api.password_auth import STANDALONE, with_passwords
from stoker.api.token_cache import TokenCache
from stoker.processes.settings import TOKEN_CHECK
from stoker_foundation.clock import Clock

_ENVIRONMENT_KEY = "stoker.token_cache"


def caller_check(config: cfg.ConfigOpts, clock: Clock) -> Authenticator:
    """Return the authentication of the REST API: by tokens, and by passwords too if so configured."""
    check = remembering_check(config, clock)
    return with_passwords(check, config) if config.paste_deploy.flavor == STANDALONE else check


def remembering_check(config: cfg.ConfigOpts, clock: Clock) -> Authenticator:
    """Return keystonemiddleware with an in-memory cache (`[keystone_authtoken] token_cache_time`).

    If memcached servers are configured, those are used instead.
    """
    check = authentication.keystone(config, clock)
    section = config[TOKEN_CHECK]
    if "auth_url" in section:  # clients use the same identity service as this process, unless configured otherwise
        config.set_default("www_authenticate_uri", section.auth_url, group=TOKEN_CHECK)
    if section.memcached_servers or section.cache:
        return check
    config.set_default("cache", _ENVIRONMENT_KEY, group=TOKEN_CHECK)
    cache = TokenCache(clock)

    def wrap(application: WSGIApplication) -> WSGIApplication:
        checked = check(application)

        def remembering(environ: dict[str, object], start_response: object) -> object:
            environ[_ENVIRONMENT_KEY] = cache
            return checked(environ, start_response)

        return remembering

    return wrap
