"""Signed requests to webhooks, which users and operators name.

A receiver computes the signature again with its key: header `Stoker-Signature: t=TIME,v1=HEX`, where HEX is the
HMAC-SHA256 of `TIME.BODY`. A user must not be able to reach what only the service can reach: connections are made to
public addresses only, and over https, but for the networks that the operator lists. Nothing is redirected.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from stoker.base.errors import BadValue

if TYPE_CHECKING:
    from aiohttp import StreamReader

LONGEST_URL = 2048
LONGEST_ANSWER = 65536
"""Bytes of an answer that are read; a longer one is refused."""


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """The operator's settings: the key of its own webhooks, from which those of projects are derived; seconds for a
    request; and networks besides public addresses (`10.0.0.0/8`), where http is allowed.
    """

    secret: str = field(repr=False)
    seconds: float = 10.0
    networks: tuple[str, ...] = ()

    def key_of(self, project_id: str | None) -> str:
        """Return the key of a project's webhooks; None for those of the operator."""
        if project_id is None:
            return self.secret
        return hmac.new(self.secret.encode(), f"project {project_id}".encode(), hashlib.sha256).hexdigest()


class WebhookFailed(Exception):
    """A webhook has not answered as it should; `temporary` says that it may later."""

    def __init__(self, reason: str, *, temporary: bool) -> None:
        super().__init__(reason)
        self.temporary = temporary


def check_url(url: object, place: str) -> str:
    """Return the URL of a webhook. Raises BadValue."""
    valid = isinstance(url, str) and len(url) <= LONGEST_URL and url.isascii() and url.isprintable() and " " not in url
    if valid and isinstance(url, str):
        try:
            split = urlsplit(url)
            valid = split.scheme in ("http", "https") and bool(split.hostname) and split.port != 0
            valid = valid and split.username is None and not split.fragment
        except ValueError:
            valid = False
    if not valid or not isinstance(url, str):
        raise BadValue(f"{place} must be an http or https URL without a user, of at most {LONGEST_URL} characters.")
    return url


def signature(key: str, time: int, body: bytes) -> str:
    """Return the value of the header `Stoker-Signature`."""
    digest = hmac.new(key.encode(), b"%d." % time + body, hashlib.sha256).hexdigest()
    return f"t={time},v1={digest}"


async def post(settings: WebhookSettings, url: str, key: str, body: bytes, event: str, time: float) -> bytes:
    """Send JSON to a webhook, and return its answer; `event` says what it is about. Raises WebhookFailed."""
    import aiohttp  # only with webhooks

    from stoker.base.fetching import Gate

    networks = [ipaddress.ip_network(network) for network in settings.networks]
    gate = Gate(networks, "[webhooks] networks", listed_only=urlsplit(url).scheme == "http")
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "stoker",
        "Stoker-Event": event,
        "Stoker-Signature": signature(key, int(time), body),
    }
    try:
        async with (
            asyncio.timeout(settings.seconds),
            gate.session() as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as response,
        ):
            content = await _whole(response.content)
            if not 200 <= response.status < 300:
                temporary = response.status >= 500 or response.status in (408, 425, 429)
                raise WebhookFailed(f"it answered with status {response.status}", temporary=temporary)
            return content
    except TimeoutError:
        raise WebhookFailed(f"it did not answer within {settings.seconds:g} seconds", temporary=True) from None
    except (aiohttp.ClientError, OSError, ValueError):
        reason = gate.refusal or "it cannot be reached"
        raise WebhookFailed(reason, temporary=gate.refusal is None) from None


async def _whole(stream: StreamReader) -> bytes:
    content = b""
    while chunk := await stream.read(LONGEST_ANSWER + 1 - len(content)):
        content += chunk
        if len(content) > LONGEST_ANSWER:
            raise WebhookFailed(f"its answer is longer than {LONGEST_ANSWER} bytes", temporary=False)
    return content


def networks_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Return networks as they are written. Raises ValueError for a string that is none."""
    for text in texts:
        ipaddress.ip_network(text)
    return tuple(texts)
