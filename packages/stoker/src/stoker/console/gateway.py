"""Requests of the console to the REST API, which is in the same process, with the user's token."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

from stoker.api.auth import WSGIApplication
from stoker.api.serving.exchange import WAKE
from stoker.base.diagnostics import Diagnostic
from stoker.console.sessions import Session

Answer = dict[str, Any]

_OF_THE_REQUEST = ("SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "REMOTE_ADDR", "HTTP_HOST")
_REQUEST_ID = "x-openstack-request-id"
_STREAM = "text/event-stream"


class ApiError(Exception):
    """The API refused a request; `diagnostics` are the problems of a template, with their locations."""

    def __init__(self, status: int, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.diagnostics = diagnostics


@dataclass(frozen=True, slots=True)
class Stream:
    """A response whose body is sent on as it comes; the server calls `close` of the body."""

    headers: Mapping[str, str]
    body: Iterable[bytes]


class Gateway:
    """The API as one user of the console calls it; `environ` is that of the user's request.

    Every method raises ApiError when the API returns an error.
    """

    def __init__(self, api: WSGIApplication, session: Session, environ: Mapping[str, object]) -> None:
        self._api = api
        self._session = session
        self._environ = environ
        self.refused_request = ""
        """The ID of the last request that the API refused."""

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON at `path` below the project."""
        return self.send("GET", path, query=query)

    def send(self, method: str, path: str, body: object = None, query: Mapping[str, object] | None = None) -> Any:
        """Send a request with a JSON body; return the JSON of the response, None if it has none."""
        content = b"" if body is None else json.dumps(body).encode()
        status, headers, parts = self._request(method, path, content, query or {}, {"HTTP_ACCEPT": "application/json"})
        data = _read(parts)
        if status < 400:
            return json.loads(data) if data and status != 302 else None
        self.refused_request = headers.get(_REQUEST_ID, "")
        raise _error(status, data)

    def stream(self, path: str, query: Mapping[str, object]) -> Stream:
        """Return a stream of server-sent events."""
        passed = {name: self._environ[name] for name in (WAKE, "HTTP_LAST_EVENT_ID") if name in self._environ}
        status, headers, parts = self._request("GET", path, b"", query, {"HTTP_ACCEPT": _STREAM, **passed})
        if status < 400:
            return Stream(headers, parts)
        self.refused_request = headers.get(_REQUEST_ID, "")
        raise _error(status, _read(parts))

    def _request(
        self, method: str, path: str, content: bytes, query: Mapping[str, object], more: Mapping[str, object]
    ) -> tuple[int, dict[str, str], Iterable[bytes]]:
        environ = {
            **{name: self._environ[name] for name in _OF_THE_REQUEST if name in self._environ},
            **{name: value for name, value in self._environ.items() if name.startswith("wsgi.")},
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(f"/v1/{self._session.project_id}{path}").decode("latin-1"),
            "QUERY_STRING": urlencode({key: value for key, value in query.items() if value is not None}, doseq=True),
            "CONTENT_TYPE": "application/json" if content else "",
            "CONTENT_LENGTH": str(len(content)),
            "HTTP_X_AUTH_TOKEN": self._session.token,
            "wsgi.input": io.BytesIO(content),
            **more,
        }
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start_response(status: str, headers: list[tuple[str, str]], _error: object = None) -> object:
            started.append((status, headers))
            return lambda _data: None

        parts = self._api(environ, start_response)
        status, headers = started[-1]
        return int(status[:3]), {name.lower(): value for name, value in headers}, parts


def stack_path(name: str, identifier: str, tail: str = "") -> str:
    """Return the path of a stack below the project."""
    return f"/stacks/{segment(name)}/{segment(identifier)}{tail}"


def segment(text: str) -> str:
    """Return a string as one segment of a path."""
    return quote(text, safe="")


def _read(parts: Iterable[bytes]) -> bytes:
    try:
        return b"".join(parts)
    finally:
        if hasattr(parts, "close"):
            parts.close()


def _error(status: int, data: bytes) -> ApiError:
    try:
        error = json.loads(data)["error"]
        diagnostics = tuple(Diagnostic.from_dict(item) for item in error.get("diagnostics", ()))
        return ApiError(status, str(error["message"]), diagnostics)
    except (ValueError, KeyError, TypeError):
        return ApiError(status, f"The service returned the status {status}.")
