"""Requests signed by hand, so that tests can spoil them."""

from __future__ import annotations

import base64
import hmac
import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

from tests.cfn.query_service import REGION, Keys, QueryService

FORM = "application/x-www-form-urlencoded; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    status: int
    content: bytes
    headers: Mapping[str, str]

    @property
    def xml(self) -> ElementTree.Element:
        return ElementTree.fromstring(self.content)

    @property
    def code(self) -> str:
        return self.xml.findtext("Error/Code") or ""


def send(
    world: QueryService, method: str, path: str, body: str | bytes = "", headers: Mapping[str, str] | None = None
) -> Answer:
    connection = http.client.HTTPConnection(world.host, timeout=60)
    try:
        connection.request(method, path, body or None, dict(headers or {}))
        response = connection.getresponse()
        return Answer(response.status, response.read(), dict(response.getheaders()))
    finally:
        connection.close()


def time_text(ago: float = 0.0, form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    return (datetime.now(UTC) - timedelta(seconds=ago)).strftime(form)


def version_2(
    keys: Keys, host: str, params: Mapping[str, str], method: str = "GET", path: str = "/v1/", timed: bool = True
) -> dict[str, str]:
    """The parameters with a signature of version 2."""
    signed = {
        "AWSAccessKeyId": keys.access,
        "SignatureVersion": "2",
        "SignatureMethod": "HmacSHA256",
        **({"Timestamp": time_text()} if timed else {}),
        **params,
    }
    query = "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in sorted(signed.items())
    )
    digest = hmac.digest(keys.secret.encode(), f"{method}\n{host}\n{path}\n{query}".encode(), "sha256")
    return {**signed, "Signature": base64.b64encode(digest).decode()}


def query(world: QueryService, keys: Keys, **params: str) -> Answer:
    """A GET signed with version 2, as simple clients send it."""
    return send(world, "GET", f"/v1/?{urlencode(version_2(keys, world.host, params))}")


def version_4(
    keys: Keys,
    host: str,
    body: str,
    *,
    ago: float = 0.0,
    region: str = REGION,
    service: str = "cloudformation",
    secret: str | None = None,
    signed_headers: tuple[str, ...] = ("host", "x-amz-date"),
    path: str = "/v1/",
) -> dict[str, str]:
    """The headers of a POST of a form, with a signature of version 4."""
    date = time_text(ago, "%Y%m%dT%H%M%SZ")
    headers = {"host": host, "x-amz-date": date}
    scope = f"{date[:8]}/{region}/{service}/aws4_request"
    canonical = "\n".join(
        [
            "POST",
            path,
            "",
            *(f"{name}:{headers[name]}" for name in signed_headers),
            "",
            ";".join(signed_headers),
            sha256(body.encode()).hexdigest(),
        ]
    )
    text = "\n".join(["AWS4-HMAC-SHA256", date, scope, sha256(canonical.encode()).hexdigest()])
    key = b"AWS4" + (secret or keys.secret).encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    return {
        "Content-Type": FORM,
        "X-Amz-Date": date,
        "Authorization": f"AWS4-HMAC-SHA256 Credential={keys.access}/{scope}, "
        f"SignedHeaders={';'.join(signed_headers)}, Signature={signature}",
    }
