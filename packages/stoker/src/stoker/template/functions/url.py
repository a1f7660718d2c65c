"""make_url: a URL from its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from stoker.base.budget import measured
from stoker.template.expressions import Evaluation, Expression, entries_of
from stoker.template.functions.base import Function, is_map, to_index, variant
from stoker.template.problems import suggestion

_TEXTS = ("scheme", "username", "password", "host", "path", "fragment")
_KEYS = (*_TEXTS, "port", "query")

_LONGEST_QUOTED = 3
"""The maximum number of characters of one byte in a URL."""


@variant("make_url/1")
class MakeUrl(Function):
    """A URL from scheme, username, password, host, port, path, query (a map) and fragment, each optional."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        entries = entries_of(arguments)
        if entries is None:
            return f"takes a map with any of {', '.join(_KEYS)}"
        for key, value in entries.items():
            problem = None if isinstance(value, Expression) else _problem(key, value)
            if problem:
                return problem
        return None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        problem = self.problem(arguments)
        if problem:
            raise self.wrong(problem)
        self.limited(_LONGEST_QUOTED * measured(arguments, evaluation.budget), evaluation)
        scheme = arguments.get("scheme") or ""
        if ":" in scheme or "/" in scheme:
            raise self.wrong(f"the scheme {scheme!r} must not contain ':' or '/'")
        authority = _authority(arguments)
        path = quote(arguments.get("path") or "", safe="/")
        if authority and path and not path.startswith("/"):
            path = f"/{path}"
        url = (f"{scheme}:" if scheme else "") + (f"//{authority}" if authority else "") + path
        query, fragment = arguments.get("query"), arguments.get("fragment")
        if query:
            url += "?" + urlencode(query).replace("%2F", "/")
        return url + (f"#{quote(fragment)}" if fragment else "")


def _problem(key: str, value: object) -> str | None:
    if key not in _KEYS:
        return f"a URL has no part {key!r}; {suggestion(key, _KEYS)}"
    if value is None:
        return None
    if key == "query":
        return None if is_map(value) or entries_of(value) is not None else "the query must be a map"
    if key == "port":
        port = to_index(value)
        return None if port is not None and 1 <= port <= 65535 else "the port must be a number from 1 to 65535"
    return None if isinstance(value, str) else f"the {key} must be a string"


def _authority(parts: Mapping[str, Any]) -> str:
    username, password = parts.get("username"), parts.get("password")
    user = quote(username, safe="") if username else ""
    if password:
        user += f":{quote(password, safe='')}"
    host = parts.get("host") or ""
    quoted = quote(host, safe=":[]")
    host = f"[{quoted}]" if ":" in host and not host.startswith("[") else quoted
    port = parts.get("port")
    return (f"{user}@" if user else "") + host + (f":{to_index(port)}" if port is not None else "")
