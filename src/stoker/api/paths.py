"""From the path that came to the path that routes: version negotiation, and ARNs in paths.

Facts: rest_api.json, versions and rules.arn.
"""

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
_ARN_IN_PATH = re.compile(r"(?P<head>.*/stacks/)(?P<arn>arn:openstack:heat::[^/]+:stacks/[^/]+/[^/]+)", re.DOTALL)


@dataclass(frozen=True)
class VersionDocument:
    """The request is for, or can only be answered with, the list of versions."""


def negotiate(path: str, accept: str) -> str | VersionDocument:
    """The path below `/v1` that a request means by its `path` and its Accept header.

    Raises NoSuchPath when neither names a version, BadRequest when the path is no text.
    """
    if "\0" in path or "\ufffd" in path:
        raise BadRequest("The path of the URL is not UTF-8, or contains a NUL character.")
    if path in _DOCUMENT_PATHS:
        return VersionDocument()
    named = _VERSION_IN_PATH.fullmatch(path)
    if named is None:
        asked = _VERSION_IN_HEADER.search(accept)
        if asked is None:
            raise NoSuchPath(f"There is nothing at {path}: the path must begin with {PREFIX}.")
        version, rest = asked["version"], path
    else:
        version, rest = named["version"], named["rest"] or "/"
    if version not in _ACCEPTED or rest == "/":
        return VersionDocument()
    return PREFIX + _arn_as_segment(rest)


def _arn_as_segment(path: str) -> str:
    """`path` with the slashes of a stack's ARN escaped again: WSGI unescapes them before anyone can look."""
    found = _ARN_IN_PATH.match(path)
    return f"{found['head']}{quote(found['arn'], safe=':')}{path[found.end() :]}" if found else path


def stack_identifier(segment: str) -> str:
    """The name, id or ARN that a segment of a negotiated path stands for."""
    return unquote(segment) if segment.startswith("arn:") else segment


def version_document(base: str) -> dict[str, object]:
    """The list of versions; `base` is the address at which the client reached the service."""
    link = {"rel": "self", "href": f"{base}{PREFIX}/"}
    return {"versions": [{"id": "v1.0", "status": "CURRENT", "links": [link]}]}
