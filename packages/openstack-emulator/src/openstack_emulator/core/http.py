"""Requests and responses as services see them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

import orjson

from openstack_emulator.core.errors import ApiError, RolesLacking, bad_request, forbidden
from openstack_emulator.core.typed import Readable

Version = tuple[int, int]
_TRUE = frozenset({"1", "true", "t", "yes", "on", "y"})
_FALSE = frozenset({"0", "false", "f", "no", "off", "n"})


@dataclass(frozen=True)
class BodyMessages:
    """What a service says about a body that is not JSON (`{problem}`), and about one without an object (`{key}`)."""

    not_json: str = "The request body is not valid JSON: {problem}."
    no_object: str = "The request body must be a JSON object with an object '{key}' in it."


@dataclass(frozen=True)
class Context:
    """The caller, as a valid token describes it."""

    token_id: str
    user_id: str
    user_name: str
    user_domain_id: str
    roles: frozenset[str]
    project_id: str | None = None
    project_name: str | None = None
    project_domain_id: str | None = None
    domain_id: str | None = None
    system: bool = False
    trust_id: str | None = None

    @property
    def is_admin(self) -> bool:
        return "admin" in self.roles

    @property
    def project(self) -> str:
        """The project the token is scoped to; 403 when there is none."""
        if self.project_id is None:
            raise forbidden("This request needs a token that is scoped to a project.")
        return self.project_id

    def require(self, *roles: str) -> None:
        """403 for callers with none of these roles (an admin has them all)."""
        if not self.is_admin and not self.roles.intersection(roles):
            raise RolesLacking(("admin", *roles))

    def may_see(self, record: Readable) -> bool:
        """Whether the caller may see a record: admins see everything, others the records of their project."""
        return self.is_admin or bool(record.get("project_id") == self.project_id)


@dataclass
class Response:
    """The answer of a handler. `body` is JSON data, raw bytes, or None for an empty body.

    later: gives the body of an answer that takes time; it must not raise.
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    later: Awaitable[Any] | None = None

    def payload(self) -> bytes:
        if self.body is None:
            return b""
        if isinstance(self.body, bytes):
            return self.body
        try:
            return orjson.dumps(self.body)
        except TypeError:  # an integer of more than 64 bits, as the number of addresses of an IPv6 network
            return json.dumps(self.body, separators=(",", ":")).encode()

    @property
    def content_type(self) -> str | None:
        """The content type that was set, or that of the body; None for an empty body."""
        if (value := self.headers.get("Content-Type")) is not None:
            return value
        if self.body is None:
            return None
        return "application/octet-stream" if isinstance(self.body, bytes) else "application/json"


MOST_DIGITS = 4000
"""Digits of a number in a query or a header; Python reads 4300."""


_MOST_LEVELS = 200
"""Levels of maps and lists in a body, so that it can be walked recursively."""


def _is_deep(data: object) -> bool:
    """Return whether JSON has too many levels."""
    level = [data]
    for _ in range(_MOST_LEVELS):
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


class Query:
    """The query string: `[(name, value), …]`, in order, with repeats."""

    def __init__(self, raw: str) -> None:
        self.pairs: list[tuple[str, str]] = parse_qsl(raw, keep_blank_values=True) if raw else []

    def get(self, name: str, default: str | None = None) -> str | None:
        """The first value, as given."""
        return next((value for key, value in self.pairs if key == name), default)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.pairs if key == name]

    def boolean(self, name: str) -> bool | None:
        """True, False, or None when absent; a name without value is true. 400 for any other word."""
        value = self.get(name)
        if value is None:
            return None
        if value == "" or value.lower() in _TRUE:
            return True
        if value.lower() in _FALSE:
            return False
        raise bad_request(f"Invalid value '{value}' for '{name}': it must be a boolean.")

    def integer(self, name: str) -> int | None:
        """A number that is zero or more, or None when absent; 400 otherwise."""
        value = self.get(name)
        if value is None:
            return None
        if not value.isascii() or not value.isdigit():
            raise bad_request(f"Invalid value '{value}' for '{name}': it must be a non-negative integer.")
        return int(value)

    def with_marker(self, marker: str) -> str:
        """The same query asking for what follows `marker`, encoded."""
        parameters = [(key, value) for key, value in self.pairs if key != "marker"]
        return urlencode([*parameters, ("marker", marker)])

    def __contains__(self, name: str) -> bool:
        return any(key == name for key, _ in self.pairs)


class Request:
    """One HTTP request. `raw_path` is the percent-encoded path below the service's mount; `vars` are the
    decoded values of the route's `{names}`; `headers` has lower-case names; `base` is the service's public URL; `guest`
    is the ID of the server whose guest sends the request, empty for requests from elsewhere."""

    def __init__(
        self,
        method: str,
        path: str,
        query_string: str = "",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        remote: str = "127.0.0.1",
        guest: str = "",
    ) -> None:
        self.method = method
        self.path = path
        self.raw_path = path
        self.query_string = query_string
        self.headers: dict[str, str] = {name.lower(): value for name, value in (headers or {}).items()}
        self.body = body
        self.remote = remote
        self.guest = guest
        self.base = ""
        self.id = ""
        self.vars: dict[str, str] = {}
        self.version: Version = (0, 0)
        self.caller: Context | None = None
        self.body_messages = BodyMessages()

    @cached_property
    def query(self) -> Query:
        return Query(self.query_string)

    @property
    def context(self) -> Context:
        """The caller; 401 when the request has no valid token."""
        if self.caller is None:
            raise ApiError(401, "The request you have made requires authentication.")
        return self.caller

    @cached_property
    def json(self) -> Any:
        """The decoded body; 400 when it is not JSON."""
        try:
            data = orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise bad_request(self.body_messages.not_json.format(problem=error)) from None
        if _is_deep(data):
            raise bad_request(self.body_messages.not_json.format(problem="it is nested too deeply"))
        return data

    def object(self, key: str) -> dict[str, Any]:
        """The JSON object under `key` of the body; 400 when it is missing or something else."""
        body = self.json
        value = body.get(key) if isinstance(body, dict) else None
        if not isinstance(value, dict):
            raise bad_request(self.body_messages.no_object.format(key=key))
        return value

    @property
    def url(self) -> str:
        """The public URL asked for, without its query."""
        return self.base + self.raw_path

    def next_url(self, marker: str) -> str:
        """The link to the page after `marker`."""
        return f"{self.url}?{self.query.with_marker(marker)}"


def decode(segment: str) -> str:
    """A path segment without its percent encoding."""
    return unquote(segment) if "%" in segment else segment
