"""One request of a browser and its response, as the pages use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, urlencode

import falcon

from stoker.api.faults import as_stoker_error, message_of, status_of
from stoker.console.gateway import ApiError, Gateway, Stream
from stoker.console.permissions import Permissions
from stoker.console.protection import safe_target
from stoker.console.rendering import Pages
from stoker.console.sessions import Session, SessionCookies, end_cookie
from stoker.console.settings import PREFIX

DEFAULT_DOMAIN = "Default"
LOGIN_NAMES = ("user", "project", "user_domain", "project_domain")
"""The fields of the log-in form that are shown again after a failure."""

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 2000
_UNSAFE = frozenset('"\\/:*?<>|%;=')
"""Characters that end a name in a header, or that file systems do not take."""
_LONGEST_FILE_NAME = 100
_TYPED = ("template", "data", "entered")
"""Fields with what a user has typed: a form that has one of them is continued after a log-in."""

KEPT = "kept"
"""The field with an encrypted form, of which the page shows the content."""

EDIT = "edit"
"""The value of the field `do` with which a form is shown again, and nothing else is done."""


@dataclass
class Exchange:
    """`path` has the variables of the route; `session` and `gateway` are None if nobody is logged in; `seals` encrypts
    secrets for forms; `now` is the time in seconds since 1970; `former` is the secret of the session in which a form
    began that is continued now.
    """

    request: falcon.Request
    response: falcon.Response
    pages: Pages
    path: Mapping[str, str]
    session: Session | None
    gateway: Gateway | None
    seals: SessionCookies
    now: float
    largest_body: int
    former: str = ""
    _form: dict[str, list[str]] | None = None
    _permissions: Permissions | None = None

    @property
    def api(self) -> Gateway:
        """The API as the user of the session calls it."""
        assert self.gateway is not None, "private pages have a session"
        return self.gateway

    @property
    def permissions(self) -> Permissions:
        """What the user may do in the project. Raises ApiError."""
        if self._permissions is None:
            self._permissions = Permissions.of(self.api)
        return self._permissions

    def query(self, name: str) -> str:
        """Return a parameter of the URL; empty if it is missing."""
        return str(self.request.get_param(name, default=""))

    @property
    def secure(self) -> bool:
        """Whether the request came over TLS."""
        return bool(self.request.scheme == "https")

    @property
    def from_script(self) -> bool:
        """Whether a script sent the request, not a link or a form."""
        return bool(self.request.get_header("Sec-Fetch-Mode", default="navigate") != "navigate")

    # -- forms ---------------------------------------------------------------------------------------------------

    def form(self, name: str, default: str = "") -> str:
        """Return the value of a field of the form that was sent. Raises falcon.HTTPError for an invalid form."""
        return self.fields().get(name, [default])[-1]

    def fields(self) -> Mapping[str, list[str]]:
        """Return all fields of the form that was sent. Raises falcon.HTTPError for an invalid form."""
        if self._form is None:
            sent = self._read_form()
            former = self.seals.kept(sent[KEPT][-1], self.now) if KEPT in sent and sent.get("do") == [EDIT] else {}
            self.former = former.get("csrf", [""])[-1]
            self._form = {**former, **sent}
        return self._form

    def _read_form(self) -> dict[str, list[str]]:
        if not self.request.content_length:
            return {}
        if (self.request.content_type or "").partition(";")[0].strip().lower() != _FORM:
            raise falcon.HTTPUnsupportedMediaType(description=f"Forms are sent as {_FORM}.")
        length = self.request.content_length
        if length > self.largest_body:
            raise falcon.HTTPContentTooLarge(description=f"A form can have {self.largest_body} bytes at most.")
        try:
            text = self.request.bounded_stream.read(length).decode()
            return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
        except ValueError as error:
            raise falcon.HTTPBadRequest(description="The form is not valid.") from error

    def check_form(self) -> None:
        """Refuse a form that was not made for this session. Raises falcon.HTTPError."""
        if not self.is_current():
            raise falcon.HTTPForbidden(description="The form is outdated: go back, reload the page and try again.")

    def is_current(self) -> bool:
        """Return whether the form was made for this session."""
        return self.session is not None and self.session.accepts(self.form("csrf"))

    def keep_form(self) -> str:
        """Return the form that was sent in encrypted form; an empty string if the user has typed nothing into it."""
        form = self.fields()
        typed = not self.from_script and any(any(form.get(name, ())) for name in _TYPED)
        return self.seals.keep(form, self.now) if typed else ""

    def offer_form(self, kept: str, target: str, status: int = 200) -> None:
        """Show a page from which a form that was sent in an earlier session is continued in this one."""
        self.show("resume.html", status, kept=kept, target=target, name=KEPT, edit=EDIT)

    # -- responses -----------------------------------------------------------------------------------------------

    @property
    def wants_fragment(self) -> bool:
        """Whether a script asks for the changing part of the page only."""
        return bool(self.request.get_header("X-Fragment") == "1")

    def show(self, template: str, status: int = 200, /, **values: object) -> None:
        """Respond with a page."""
        self.response.status = HTTPStatus(status)
        self.response.content_type = "text/html; charset=utf-8"
        frame = "fragment.html" if self.wants_fragment else "base.html"
        refused = self.gateway.refused_request if status >= 400 and self.gateway is not None else ""
        common = {
            "session": self.session,
            "now": self.now,
            "path": self.request.path,
            "frame": frame,
            "refused_request": refused,
        }
        self.response.text = self.pages.render(template, {**common, **values})

    def redirect(self, path: str, **query: str) -> None:
        """Continue with another page; `path` is below PREFIX."""
        self.response.status = HTTPStatus.SEE_OTHER
        self.response.set_header("Location", f"{PREFIX}{path}{'?' + urlencode(query) if query else ''}")

    def send_stream(self, stream: Stream) -> None:
        """Respond with a stream of server-sent events."""
        for name in ("content-type", "cache-control", "x-accel-buffering"):
            if name in stream.headers:
                self.response.set_header(name, stream.headers[name])
        self.response.stream = stream.body

    def send_file(self, name: str, text: str) -> None:
        """Respond with a file that the browser saves."""
        self.response.content_type = "application/octet-stream"
        self.response.downloadable_as = _file_name(name)
        self.response.text = text

    def request_login(self, **query: str) -> None:
        """Continue with the form for logging in, and then with this page; scripts get the status 401.

        `query` is added to the URL of the form. A form that was sent is kept.
        """
        if self.from_script:
            self.response.status = HTTPStatus.UNAUTHORIZED
            self.response.text = "The session has ended."
        elif self.request.method == "GET":
            self.redirect("/login", next=safe_target(self.request.relative_uri), **query)
        elif kept := self.keep_form():
            self.show_login(HTTPStatus.UNAUTHORIZED, self.request.path, kept=kept, ended=True)
        else:
            self.redirect("/login", **query)

    def show_login(
        self,
        status: int,
        target: str,
        *,
        kept: str = "",
        ended: bool = False,
        problem: str = "",
        entered: Mapping[str, str] = dict.fromkeys(LOGIN_NAMES, ""),
    ) -> None:
        """Show the form for logging in; `target` is the path to continue with, `kept` a form to continue there."""
        values = {"target": target, "kept": kept, "ended": ended, "problem": problem, "entered": entered}
        self.show("login.html", status, **values, default=DEFAULT_DOMAIN)

    def end_session(self) -> None:
        """Remove the session's cookie."""
        self.session = self.gateway = None
        self.response.append_header("Set-Cookie", end_cookie(secure=self.secure))

    def fail(self, error: Exception) -> None:
        """Show an error as a page."""
        match error:
            case ApiError():
                status, message, diagnostics = error.status, error.message, error.diagnostics
            case falcon.HTTPError():
                status, diagnostics = error.status_code, ()
                message = error.description or HTTPStatus(status).phrase
                for name, value in dict(error.headers or {}).items():
                    self.response.set_header(name, value)
            case _:
                fault = as_stoker_error(error)
                status, message, diagnostics = status_of(fault), message_of(fault), ()
        title = HTTPStatus(status).phrase
        self.show("error.html", status, status=status, title=title, message=message, diagnostics=diagnostics)


def _file_name(name: str) -> str:
    """Return a name that a header can carry and a browser saves a file under: users choose the names of files."""
    shown = "".join(mark if mark.isprintable() and mark not in _UNSAFE else "_" for mark in name)
    return shown[:_LONGEST_FILE_NAME].strip(" .") or "file"
