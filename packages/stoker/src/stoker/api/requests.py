"""Paths, queries and bodies of requests: read within limits, parsed strictly, and checked as they are declared.

Versions are negotiated here, and ARNs in paths are found. Errors in bodies have positions.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

import falcon

from stoker.api.faults import BadRequest, NoSuchPath
from stoker.api.values import JSON, Field, Fields, Structure, read_fields, refuse_unknown
from stoker.base.diagnostics import Path, format_path
from stoker.base.errors import RequestLimitExceeded
from stoker.base.json_text import MAX_DEPTH, has_lone_surrogate, no_constant

PREFIX = "/v1"

_ACCEPTED = frozenset({"1", "1.0"})
_DOCUMENT_PATHS = frozenset({"", "/", "/versions"})
_VERSION_IN_PATH = re.compile(r"/v(?P<version>\d+(?:\.\d+)?)(?P<rest>/.*)?", re.DOTALL)
_VERSION_IN_HEADER = re.compile(r"application/vnd\.openstack\.orchestration-v(?P<version>\d+(?:\.\d+)?)")
_ARN = r"(?P<arn>arn:openstack:heat::[^/]+:stacks/[^/]+/[^/]+)"
_BELOW = r"(?P<below>/resources/[^/]+(?:/events/[^/]+)?)"
_ARN_IN_PATH = re.compile(rf"(?P<head>.*/stacks/)(?P<whole>{_ARN}(?:{_BELOW}$)?)", re.DOTALL)
_ARN_WITH_PATH = re.compile(_ARN + _BELOW, re.DOTALL)

_INTEGERS = (-(2**63), 2**64 - 1)
"""The smallest and the largest integer that every JSON writer supports."""

_JSON_TYPES = frozenset({"", "text/plain", "json", "application/json"})


def read_json_object(request: falcon.Request, limit: int) -> dict[str, object] | None:
    """Return the JSON object in the body, or None if there is none.

    `limit` is in bytes. As in Heat, a body with another content type, or one that is not an object, counts as absent.
    Raises RequestLimitExceeded if the body is larger, BadRequest if the JSON is invalid.
    """
    content = read_body(request, limit).lstrip(b" \t\r\n")
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    if media_type not in _JSON_TYPES or not content.startswith(b"{"):
        return None
    parsed: dict[str, object] = parse_json(content, "the request body")
    return parsed


def absent_body() -> BadRequest:
    """Return the error for a request without a readable body."""
    return BadRequest("The request needs a body: a JSON object, with Content-Type application/json.")


def parse_json(content: bytes, what: str) -> Any:
    """Parse a JSON document in UTF-8. `what` is its name in error messages.

    Raises BadRequest for invalid JSON, and for data that a database or a later JSON writer would not accept: numbers
    out of range, NUL characters, lone surrogates, repeated keys, more than `MAX_DEPTH` levels.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(f"{_first(what)} is not UTF-8: byte {error.start} is invalid.") from None
    try:
        parsed = json.loads(text, object_pairs_hook=_object, parse_constant=no_constant)
    except RecursionError:
        raise BadRequest(_too_deep(what)) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BadRequest(f"{_first(what)} is not valid JSON: {place}: {error.msg}.") from None
    except ValueError as error:
        raise BadRequest(f"{_first(what)} is not acceptable JSON: {error}.") from None
    _check(parsed, what)
    return parsed


class _Repeated:
    """Placeholder for the value of a repeated key, until the walk reports it with its path."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                found[key] = _Repeated()
            seen.add(key)
    return found


def _check(value: object, what: str) -> None:
    """Check every value of the parsed JSON; iteratively, since the depth is not known to be safe yet."""
    pending: list[tuple[Path, object]] = [((), value)]
    while pending:
        path, value = pending.pop()
        match value:
            case str():
                _check_text(value, path, what)
            case dict() | list():
                if len(path) >= MAX_DEPTH:
                    raise BadRequest(_too_deep(what))
                pending.extend(_children(path, value, what))
            case float() if not math.isfinite(value):
                raise BadRequest(f"{_place(path, what)} is a number out of range.")
            case int() if not _INTEGERS[0] <= value <= _INTEGERS[1]:
                raise BadRequest(f"{_place(path, what)} is a number out of range.")
            case _Repeated():
                raise BadRequest(f"{_place(path, what)} is a repeated key.")


def _children(path: Path, value: dict[str, object] | list[object], what: str) -> Iterable[tuple[Path, object]]:
    if isinstance(value, list):
        return [((*path, index), item) for index, item in enumerate(value)]
    for key in value:
        _check_text(key, path, what)
    return [((*path, key), item) for key, item in value.items()]


def _check_text(text: str, path: Path, what: str) -> None:
    if "\0" in text:
        raise BadRequest(f"{_place(path, what)} contains a NUL character.")
    if has_lone_surrogate(text):
        raise BadRequest(f"{_place(path, what)} contains a lone surrogate, which is not a character.")


def _place(path: Path, what: str) -> str:
    return f"{format_path(path)} in {what}" if path else f"{_first(what)}"


def _first(what: str) -> str:
    """Capitalize `what` at the beginning of a sentence; keep the case of keys."""
    return f"T{what[1:]}" if what.startswith("the ") else what


def _too_deep(what: str) -> str:
    return f"{_first(what)} has more than {MAX_DEPTH} levels of maps and lists."


def read_body(request: falcon.Request, limit: int) -> bytes:
    """Return the body, of at most `limit` bytes. Raises RequestLimitExceeded.

    The built-in server knows the limit and does not read a larger body: its declared length is checked first.
    """
    if (request.content_length or 0) > limit:
        raise RequestLimitExceeded(
            f"The request body has {request.content_length} bytes; max_json_body_size allows {limit}."
        )
    content: bytes = request.bounded_stream.read(limit + 1)
    if len(content) > limit:
        raise RequestLimitExceeded(f"The request body is larger than {limit} bytes, which max_json_body_size allows.")
    return content


MAX_QUERY_FIELDS = 1000


@dataclass(frozen=True)
class Query:
    """The parameters of a query string.

    `filters` are repeatable strings, collected in the argument `filters`, a map of lists, if any are declared. With
    `strict`, other parameters are refused; otherwise they are ignored, as in Heat.
    """

    fields: Fields = field(default_factory=dict)
    filters: tuple[str, ...] = ()
    strict: bool = False

    def read(self, query_string: str) -> dict[str, Any]:
        """Return the checked values by name. Raises BadRequest."""
        values_by_name = _parse(query_string)
        if self.strict:
            known = {*self.fields, *self.filters}
            choices = "it must be one of {known}." if known else "there is none here."
            refuse_unknown(f"Unknown query parameter: {{names}}; {choices}", values_by_name.keys() - known, known)
        values = {name: _query_value(name, spec, values_by_name.get(name, [])) for name, spec in self.fields.items()}
        if self.filters:
            values["filters"] = {name: values_by_name[name] for name in self.filters if name in values_by_name}
        return values


@dataclass(frozen=True)
class Body:
    """The keys of the JSON object in the body. Without `required`, the body can be omitted.

    With `strict`, other keys are refused; otherwise they are ignored, as in Heat.
    """

    fields: Fields
    required: bool = True
    strict: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the body."""
        return Structure(self.fields, self.strict).schema

    def read(self, body: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the checked values by name; null counts as not given. Raises BadRequest."""
        if body is None and self.required:
            raise absent_body()
        return read_fields(self.fields, body or {}, JSON, strict=self.strict)


def _parse(query_string: str) -> dict[str, list[str]]:
    try:
        pairs = parse_qsl(query_string, keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS)
    except UnicodeDecodeError:
        raise BadRequest("The query string is not UTF-8 after its %-escapes are decoded.") from None
    except ValueError:
        raise BadRequest(f"The query string has more than {MAX_QUERY_FIELDS} parameters.") from None
    values_by_name: dict[str, list[str]] = {}
    for name, value in pairs:
        if "\0" in name or "\0" in value:
            raise BadRequest("The query string contains a NUL character.")
        values_by_name.setdefault(name, []).append(value)
    return values_by_name


def _query_value(name: str, spec: Field, values: list[str]) -> object:
    if spec.repeatable:
        return [spec.kind.read(name, value) for value in values]
    if len(values) > 1:
        raise BadRequest(f"The query parameter {name} is given {len(values)} times; it takes one value.")
    return spec.kind.read(name, values[0]) if values else spec.default


# -- paths ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VersionDocument:
    """The request is for the list of versions, or can only be answered with it."""


def negotiate(path: str, accept: str) -> str | VersionDocument:
    """Return the path below `/v1` for the `path` and the Accept header of a request.

    Raises NoSuchPath if neither contains a version, BadRequest if the path is not UTF-8.
    """
    if "\0" in path or "\ufffd" in path:
        raise BadRequest("The path of the URL is not UTF-8, or contains a NUL character.")
    if path in _DOCUMENT_PATHS:
        return VersionDocument()
    named = _VERSION_IN_PATH.fullmatch(path)
    if named is None:
        match = _VERSION_IN_HEADER.search(accept)
        if match is None:
            raise NoSuchPath(f"The path {path} does not exist: paths begin with {PREFIX}.")
        version, rest = match["version"], path
    else:
        version, rest = named["version"], named["rest"] or "/"
    if version not in _ACCEPTED or rest == "/":
        return VersionDocument()
    return PREFIX + _arn_as_segment(rest)


def _arn_as_segment(path: str) -> str:
    """Escape the slashes of an ARN of a stack, a resource or an event in `path` again, which WSGI has unescaped."""
    found = _ARN_IN_PATH.match(path)
    return f"{found['head']}{quote(found['whole'], safe=':')}{path[found.end() :]}" if found else path


def split_identifier(identifier: str) -> tuple[str, str]:
    """Return a stack's name, ID or ARN, and for the ARN of a resource or an event its escaped path below the stack."""
    found = _ARN_WITH_PATH.fullmatch(identifier)
    return (found["arn"], quote(found["below"])) if found else (identifier, "")


def stack_identifier(segment: str) -> str:
    """Return the name, ID or ARN in a segment of a negotiated path."""
    return unquote(segment) if segment.startswith("arn:") else segment


def version_document(base: str) -> dict[str, object]:
    """Return the list of versions; `base` is the URL with which the client reached the service."""
    link = {"rel": "self", "href": f"{base}{PREFIX}/"}
    return {"versions": [{"id": "v1.0", "status": "CURRENT", "links": [link]}]}
