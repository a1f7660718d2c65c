"""The pages for logging in and out."""

from __future__ import annotations

import logging
import math

from stoker.console.attempts import Attempts, folded
from stoker.console.exchange import DEFAULT_DOMAIN, KEPT, LOGIN_NAMES, Exchange
from stoker.console.login import Keystone, Login, LoginRefused, LoginUnavailable
from stoker.console.protection import safe_target
from stoker.console.sessions import SessionCookies, SessionTooLarge
from stoker.console.settings import PREFIX
from stoker_foundation.clock import Clock

_log = logging.getLogger(__name__)

_LONGEST = 255
"""Characters of a name in Keystone."""


class LoginPages:
    """Begins and ends sessions of at most `session_seconds`."""

    def __init__(
        self, cookies: SessionCookies, keystone: Keystone, attempts: Attempts, session_seconds: float, clock: Clock
    ) -> None:
        self._cookies = cookies
        self._keystone = keystone
        self._attempts = attempts
        self._session_seconds = session_seconds
        self._clock = clock

    def show(self, exchange: Exchange) -> None:
        """Show the form."""
        target = safe_target(exchange.query("next"))
        if exchange.session is not None:
            exchange.redirect(target.removeprefix(PREFIX))
            return
        self._form(exchange, target, 200, "")

    def log_in(self, exchange: Exchange) -> None:
        """Begin a session with the user and password in the form."""
        target = safe_target(exchange.form("next"))
        login = Login(
            user=exchange.form("user").strip(),
            password=exchange.form("password"),
            project=exchange.form("project").strip(),
            user_domain=exchange.form("user_domain").strip() or DEFAULT_DOMAIN,
            project_domain=exchange.form("project_domain").strip() or DEFAULT_DOMAIN,
        )
        names = (login.user, login.project, login.user_domain, login.project_domain)
        if not (login.user and login.project and login.password) or max(map(len, names)) > _LONGEST:
            self._form(exchange, target, 400, "Enter a user, a password and a project.")
            return
        keys = (f"address {exchange.request.remote_addr}", f"user {folded(login.user_domain)} {folded(login.user)}")
        if wait := self._attempts.begin(keys):
            exchange.response.set_header("Retry-After", str(math.ceil(wait)))
            minutes = math.ceil(wait / 60)
            self._form(exchange, target, 429, f"There were too many failed attempts; try again in {minutes} min.")
            return
        try:
            session = self._keystone.log_in(login, self._clock.now() + self._session_seconds)
            cookie = self._cookies.set_cookie(session, self._clock.now(), secure=exchange.secure)
        except LoginRefused:
            _log.warning("a log-in at the console from %s was refused", exchange.request.remote_addr)
            self._form(exchange, target, 401, "The identity service does not accept this user, password and project.")
        except LoginUnavailable:
            self._attempts.not_failed(keys)
            self._form(exchange, target, 503, "The identity service cannot be reached now; try again later.")
        except SessionTooLarge:
            self._attempts.not_failed(keys)
            self._form(exchange, target, 500, "The token of the identity service is too long for a cookie.")
        else:
            self._attempts.not_failed(keys)
            exchange.response.append_header("Set-Cookie", cookie)
            if kept := exchange.form(KEPT):
                exchange.session = session
                exchange.offer_form(kept, target)
            else:
                exchange.redirect(target.removeprefix(PREFIX))

    def log_out(self, exchange: Exchange) -> None:
        """End the session, and revoke its token."""
        assert exchange.session is not None
        self._cookies.end(exchange.session, self._clock.now())
        self._keystone.log_out_quietly(exchange.session)
        exchange.end_session()
        exchange.redirect("/login")

    def _form(self, exchange: Exchange, target: str, status: int, problem: str) -> None:
        posted = exchange.request.method == "POST"
        sent = exchange.fields() if posted else {}
        entered = {name: sent.get(name, [""])[-1] for name in LOGIN_NAMES}
        ended = bool(exchange.query("ended")) and not problem
        kept = exchange.form(KEPT) if posted else ""
        exchange.show_login(status, target, kept=kept, ended=ended, problem=problem, entered=entered)
