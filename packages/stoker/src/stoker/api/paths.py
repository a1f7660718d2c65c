"""Convert the path of a request to the one that is routed: version negotiation, and ARNs in paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from stoker.api.faults import BadRequest, NoSuchPath

PREFIX = "/v1"

_ACCEPTED = frozenset({"1", "1.0"})
_DOCUMENT_PATHS = frozenset({"", "/", "/versions"})
_VERSION_IN_PATH = re.compile(r"/v(?P<version>\d+(?:\.\d+)?)(?P<rest>/.*)?", re.DOTALL)
_VERSION_IN_HEADER = re.compile(r"application/vnd\.openstack\.orchestration-v(?P<version>\d+(?:\.\d+)?)")
_ARN = r"(?P<arn>arn:openstack:heat::[^/]+:stacks/[^/]+/[^/]+)"
_BELOW = r"(?P<below>/resources/[^/]+(?:/events/[^/]+)?)"
_ARN_IN_PATH = re.compile(rf"(?P<head>.*/stacks/)(?P<whole>{_ARN}(?:{_BELOW}$)?)", re.DOTALL)
_ARN_WITH_PATH = re.compile(_ARN + _BELOW, re.DOTALL)


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
        asked = _VERSION_IN_HEADER.search(accept)
        if asked is None:
            raise NoSuchPath(f"The path {path} does not exist: paths begin with {PREFIX}.")
        version, rest = asked["version"], path
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
