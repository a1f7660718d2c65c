"""The WSGI application of the console, in front of the REST API."""

from __future__ import annotations

from collections.abc import Callable

import falcon

from stoker.api.auth import WSGIApplication, identified
from stoker.base.errors import forget_frames
from stoker.console.assistance import Assistant
from stoker.console.attempts import Attempts
from stoker.console.exchange import Exchange
from stoker.console.gateway import ApiError, Gateway
from stoker.console.login import Keystone
from stoker.console.login_pages import LoginPages
from stoker.console.projects import ProjectPages
from stoker.console.protection import SECURITY_HEADERS, check_origin
from stoker.console.rendering import Pages
from stoker.console.routes import ROUTES
from stoker.console.sessions import SessionCookies
from stoker.console.settings import PREFIX, ConsoleSettings
from stoker.console.static import StaticFiles
from stoker_foundation.clock import Clock

Handler = Callable[[Exchange], None]


def console_application(api: WSGIApplication, settings: ConsoleSettings, clock: Clock) -> WSGIApplication:
    """Return the application for paths below PREFIX, which sends the requests of its users to `api`."""
    return _Console(api, settings, clock).application()


class _Console:
    """What all pages have in common: sessions, checks of forms, errors."""

    def __init__(self, api: WSGIApplication, settings: ConsoleSettings, clock: Clock) -> None:
        self._api = api
        self._settings = settings
        self._clock = clock
        self._cookies = SessionCookies(settings.keys)
        self._files = StaticFiles()
        self._pages = Pages(self._files.url, settings)
        attempts = Attempts(settings.login_attempts, settings.login_window, clock.now)
        keystone = Keystone(settings.auth_url, settings.verify)
        self._login = LoginPages(self._cookies, keystone, attempts, settings.session_seconds, clock)
        self._projects = ProjectPages(self._cookies, keystone, clock)

    def application(self) -> WSGIApplication:
        application = falcon.App(middleware=[self])
        application.req_options.strip_url_path_trailing_slash = True
        for kind in (falcon.HTTPError, Exception):
            application.add_error_handler(kind, self._failed)
        application.add_route(PREFIX, _Resource(GET=self._open(lambda exchange: exchange.redirect("/stacks"))))
        application.add_route(f"{PREFIX}/static/{{name}}", self._files)
        application.add_route(
            f"{PREFIX}/login", _Resource(GET=self._open(self._login.show), POST=self._open(self._login.log_in))
        )
        application.add_route(f"{PREFIX}/logout", _Resource(POST=self._private(self._login.log_out)))
        application.add_route(
            f"{PREFIX}/projects",
            _Resource(GET=self._private(self._projects.show), POST=self._private(self._projects.switch)),
        )
        application.add_route(f"{PREFIX}/assistance", _Resource(POST=self._private(Assistant().answer)))
        for path, methods in ROUTES.items():
            handlers = {method: self._private(handler) for method, handler in methods.items()}
            application.add_route(f"{PREFIX}{path}", _Resource(**handlers))
        served: WSGIApplication = application
        return served

    def process_request(self, request: falcon.Request, response: falcon.Response) -> None:
        """Protect every response, and refuse forms from other origins."""
        for name, value in SECURITY_HEADERS.items():
            response.set_header(name, value)
        request.context.session = self._cookies.read(request.get_header("Cookie", default=""), self._clock.now())
        if request.method not in ("GET", "HEAD"):
            check_origin(request)

    def _exchange(self, request: falcon.Request, response: falcon.Response, path: dict[str, str]) -> Exchange:
        session = request.context.session
        return Exchange(
            request=request,
            response=response,
            pages=self._pages,
            path=path,
            session=session,
            gateway=None if session is None else Gateway(self._api, session, request.env),
            seals=self._cookies,
            now=self._clock.now(),
            largest_body=self._settings.largest_body,
        )

    def _open(self, handler: Handler) -> Callable[..., None]:
        """Return falcon's responder for a page that needs no session."""

        def respond(request: falcon.Request, response: falcon.Response, **path: str) -> None:
            handler(self._exchange(request, response, path))

        return respond

    def _private(self, handler: Handler) -> Callable[..., None]:
        """Return falcon's responder for a page of a user; others are asked to log in first."""

        def respond(request: falcon.Request, response: falcon.Response, **path: str) -> None:
            exchange = request.context.exchange = self._exchange(request, response, path)
            if exchange.session is None:
                exchange.request_login()
                return
            identified(request.env, exchange.session.project_id, "")
            if request.method == "POST" and not exchange.is_current() and (kept := exchange.keep_form()):
                exchange.offer_form(kept, request.path, 403)
                return
            if request.method == "POST":
                exchange.check_form()
            handler(exchange)

        return respond

    def _failed(self, request: falcon.Request, response: falcon.Response, error: Exception, _path: object) -> None:
        """Show an error as a page; a token that the API does not accept ends the session."""
        exchange = getattr(request.context, "exchange", None) or self._exchange(request, response, {})
        if isinstance(error, ApiError) and error.status == 401:
            exchange.end_session()
            exchange.request_login(ended="1")
            return
        exchange.fail(error)
        forget_frames(error)


class _Resource:
    """A falcon resource with a responder for each method."""

    def __init__(self, **responders: Callable[..., None]) -> None:
        for method, responder in responders.items():
            setattr(self, f"on_{method.lower()}", responder)
