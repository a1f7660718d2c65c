"""Conversion of error responses to a `CloudError` with the service's own message."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from stoker.base.errors import CloudError, UnrelatedNotFound
from stoker.cloud.call_slots import retry_after
from stoker.cloud.refusals import Cause, cause_of

REQUEST_ID_HEADERS = (
    "X-Openstack-Request-Id",
    "X-Compute-Request-Id",
    "OpenStack-Request-Id",
    "X-Trans-Id",
)

_WORDS = ("message", "faultstring", "detail", "description", "error_message")
_GENERAL_WORDS = ("explanation", "title")
"""Keys of general descriptions of the status, which count only where nothing says more."""
_LONGEST = 2000
_MOST_READ = 16_384
"""Characters of a page in which an error is looked for."""


class OverQuota(CloudError):
    """The request exceeds a quota or limit, whatever status the service uses: not a conflict, and not retried."""

    @property
    def conflict(self) -> bool:
        return False

    def to_dict(self) -> dict[str, object]:
        return {**super().to_dict(), "kind": "OverQuota"}


class Ambiguous(CloudError):
    """A name matches more than one object of a service."""

    def __init__(self, service: str, kind: str, value: str, identifiers: list[str]) -> None:
        self.names = (kind, value, identifiers)
        listed = ", ".join(identifiers[:5]) + (", …" if len(identifiers) > 5 else "")
        super().__init__(
            service, 400, f"{len(identifiers)} objects ({display_kind(kind)}) are named {value!r}: {listed}; use an ID"
        )

    def to_dict(self) -> dict[str, object]:
        kind, value, identifiers = self.names
        return {"kind": "Ambiguous", "service": self.service, "names": [kind, value, identifiers]}

    @classmethod
    def _restore(cls, data: Mapping[str, Any]) -> Ambiguous:
        kind, value, identifiers = data["names"]
        return cls(data["service"], kind, value, identifiers)


def display_kind(kind: str) -> str:
    """Return how users call a kind of object: `security group` for `neutron.security_group`."""
    return kind.rpartition(".")[2].replace("_", " ")


class NotNamed(UnrelatedNotFound):
    """A service has no object with this name or ID, to which a request would refer."""

    def __init__(self, service: str, kind: str, value: str) -> None:
        self.names = (kind, value)
        super().__init__(service, 404, f"there is no {display_kind(kind)} {value!r}")

    def to_dict(self) -> dict[str, object]:
        return {"kind": "NotNamed", "service": self.service, "names": list(self.names)}

    @classmethod
    def _restore(cls, data: Mapping[str, Any]) -> NotNamed:
        return cls(data["service"], *data["names"])


def refusal(
    service: str,
    status: int,
    headers: Mapping[str, str],
    body: object,
    now: float,
    *,
    method: str = "",
    path: str = "",
    gone: bool = True,
) -> CloudError:
    """Return the error for the response to `method` `path`.

    `gone` tells whether a 404 proves that the object of the request does not exist.
    `now` (seconds since the epoch) converts a date in `Retry-After` to seconds.
    """
    waits = retry_after(headers, now)
    message = words(body) or ""
    cause = cause_of(service, status, body, message=message, method=method, path=path, retry_after=waits)
    error = OverQuota if cause is Cause.LIMIT else CloudError if gone or status != 404 else UnrelatedNotFound
    return error(
        service,
        status,
        message or f"{service} gave no reason",
        request_id=request_id_of(headers, body),
        transient=cause is Cause.BUSY,
        lasting=cause in (Cause.LIMIT, Cause.LASTING),
        retry_after=waits,
    )


def request_id_of(headers: Mapping[str, str], body: object) -> str | None:
    """Return the ID under which the service has logged a request; None if the response has none."""
    found = next((headers[name] for name in REQUEST_ID_HEADERS if name in headers), None)
    if found is None and isinstance(body, Mapping) and isinstance(body.get("request_id"), str):
        return str(body["request_id"])
    return found


def words(body: object) -> str | None:
    """Extract the message for users from an error's body, whatever its structure; None when there is none.

    Searches the usual keys level by level, parses JSON inside a string (WSME), and converts HTML to plain text.
    """
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _from_text(body)
    if isinstance(body, Mapping):
        parts = [item for item in body.values() if isinstance(item, Mapping | list)]
        strings = [item for item in body.values() if isinstance(item, str)]
        for candidates in (_at(body, _WORDS), parts, _at(body, _GENERAL_WORDS)):
            if found := words(candidates):
                return found
        return next(filter(None, strings), None)
    if isinstance(body, list):
        return next((found for item in body if (found := words(item))), None)
    return None


def _at(body: Mapping[str, object], keys: Sequence[str]) -> list[object]:
    return [body[key] for key in keys if body.get(key)]


def _from_text(text: str) -> str | None:
    text = text.strip()
    if text.startswith("{"):
        try:
            return words(orjson.loads(text))
        except orjson.JSONDecodeError:
            return text[:_LONGEST]
    if text.startswith("<"):
        text = text[:_MOST_READ]
        text = re.sub(r"(?is)<(title|style|script)\b.*?</\1>", " ", text)
        text = html.unescape(re.sub(r"<[^>]*>", " ", text))
    return " ".join(text.split())[:_LONGEST] or None
