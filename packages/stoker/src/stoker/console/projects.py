"""Switching to another project of the user, and the consoles of other regions."""

from __future__ import annotations

from urllib.parse import urlsplit

from stoker.console.exchange import Exchange
from stoker.console.gateway import ApiError
from stoker.console.login import Keystone, LoginRefused, LoginUnavailable
from stoker.console.permissions import SERVICES
from stoker.console.sessions import SessionCookies, SessionTooLarge
from stoker.console.settings import PREFIX
from stoker_foundation.clock import Clock

_UNAVAILABLE = "The identity service cannot be reached now; try again later."
_REFUSED = "The identity service does not accept the session for this: log out, and log in to the project."


class ProjectPages:
    """Shows the user's projects, and continues a session with another one."""

    def __init__(self, cookies: SessionCookies, keystone: Keystone, clock: Clock) -> None:
        self._cookies = cookies
        self._keystone = keystone
        self._clock = clock

    def show(self, exchange: Exchange) -> None:
        """Show the projects, and the regions that have a console of their own."""
        self._page(exchange, 200, "")

    def switch(self, exchange: Exchange) -> None:
        """Continue with a token for the project in the form; the former token is revoked."""
        former = exchange.session
        assert former is not None
        try:
            session = self._keystone.rescope(former, exchange.form("project"))
            cookie = self._cookies.set_cookie(session, self._clock.now(), secure=exchange.secure)
        except LoginRefused:
            self._page(exchange, 403, _REFUSED)
        except LoginUnavailable:
            self._page(exchange, 503, _UNAVAILABLE)
        except SessionTooLarge:
            self._page(exchange, 500, "The token of the identity service is too long for a cookie.")
        else:
            self._cookies.end(former, self._clock.now())
            self._keystone.log_out_quietly(former)
            exchange.response.append_header("Set-Cookie", cookie)
            exchange.redirect("/stacks")

    def _page(self, exchange: Exchange, status: int, problem: str) -> None:
        session = exchange.session
        assert session is not None
        projects, endpoints = [], {}
        try:
            projects = self._keystone.projects(session)
            endpoints = self._keystone.regions(session)
        except LoginRefused:
            status, problem = (status, problem) if problem else (403, _REFUSED)
        except LoginUnavailable:
            status, problem = (status, problem) if problem else (503, _UNAVAILABLE)
        regions = [
            {"name": name, "here": urlsplit(url).netloc == exchange.request.netloc, "url": _console_at(url)}
            for name, url in sorted(endpoints.items())
        ]
        exchange.show(
            "projects.html",
            status,
            projects=projects,
            regions=regions,
            problem=problem,
            sees_services=_may_list_services(exchange),
        )


def _may_list_services(exchange: Exchange) -> bool:
    """Return whether the user may list the processes; no if the API does not say."""
    try:
        return not exchange.permissions.refusal(*SERVICES)
    except ApiError:
        return False


def _console_at(url: str) -> str:
    """Return where the console is that is served beside an API."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{PREFIX}"
