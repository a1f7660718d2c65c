"""AWS request signatures, checked: version 2, version 4, and those of S3.

A request's description is what `POST /v3/ec2tokens` gets: `{access, signature, host, verb, path, params, headers,
body_hash}`. Signatures are compared in constant time.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha1, sha256
from urllib.parse import quote

ALGORITHM_4 = "AWS4-HMAC-SHA256"
FRESH = 900.0
"""Seconds a signed request may be old when it says when it was signed, Keystone's default."""
_DIGESTS = {"HmacSHA256": sha256, "HmacSHA1": sha1}
_TIMES = ("%Y%m%dT%H%M%SZ", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%S")


def is_signed(request: Mapping[str, object], secret: str) -> bool:
    """Whether the signature of a request is right, with any of the names its host may go by (clients differ)."""
    signature = signature_of(request)
    return any(
        _same(signature, expected) for host in _hosts(request) for expected in _signatures(request, host, secret)
    )


def is_stale(request: Mapping[str, object], now: float) -> bool:
    """Whether the request says that it was signed too long ago. One that says nothing never gets stale."""
    params, headers = _texts(request, "params"), _lower(_texts(request, "headers"))
    timestamp = params.get("Timestamp") or params.get("X-Amz-Date") or headers.get("x-amz-date")
    if timestamp is None:
        return False
    signed = _time(timestamp)
    return signed is None or signed + FRESH < now


def access_of(request: Mapping[str, object]) -> str:
    """The access key, as named or as version 4 hides it in its credential scope; empty when there is none."""
    named = request.get("access")
    if isinstance(named, str) and named:
        return named
    return _authorization(request).get("Credential", "").partition("/")[0]


def signature_of(request: Mapping[str, object]) -> str:
    """The signature the request carries; empty when there is none."""
    named = request.get("signature")
    return named if isinstance(named, str) and named else _authorization(request).get("Signature", "")


def is_s3_signed(token: str, signature: str, secret: str) -> bool:
    """Whether the signature of S3's string-to-sign (`token`, in URL-safe or plain base64) is right."""
    try:
        text = b64decode(token.replace("-", "+").replace("_", "/"), validate=True)
    except (Base64Error, ValueError):
        return False
    if not text.startswith(ALGORITHM_4.encode()):
        return _same(signature, b64encode(hmac.digest(secret.encode(), text, "sha1")).decode())
    lines = text.decode(errors="replace").split("\n")
    if len(lines) != 4:
        return False
    return _same(signature, hmac.new(_key(secret, lines[2]), text, sha256).hexdigest())


def _signatures(request: Mapping[str, object], host: str, secret: str) -> Iterator[str]:
    """The right signatures of a request to this host; none when it is signed in a way unknown here.

    The parameters of a POST may have come in its body, which version 4 signs by its hash and not as a query.
    """
    params = _texts(request, "params")
    if params.get("SignatureVersion") == "2":
        digest = _DIGESTS.get(params.get("SignatureMethod", "HmacSHA256"))
        if digest is not None:
            text = _version_2(request, params, host).encode()
            yield b64encode(hmac.new(secret.encode(), text, digest).digest()).decode()
    elif authorization := _authorization(request):
        signed = {name: value for name, value in params.items() if name != "X-Amz-Signature"}
        yield _version_4(request, signed, authorization, host, secret)
        if _text(request, "verb").upper() == "POST":
            yield _version_4(request, {}, authorization, host, secret)


def _version_2(request: Mapping[str, object], params: Mapping[str, str], host: str) -> str:
    signed = {name: value for name, value in params.items() if name != "Signature"}
    return "\n".join((_text(request, "verb").upper(), host.lower(), _text(request, "path"), _query(signed)))


def _version_4(
    request: Mapping[str, object],
    params: Mapping[str, str],
    authorization: Mapping[str, str],
    host: str,
    secret: str,
) -> str:
    headers = {**_lower(_texts(request, "headers")), "host": host}
    names = authorization.get("SignedHeaders", "").lower().split(";")
    canonical = "\n".join(
        (
            _text(request, "verb").upper(),
            _text(request, "path"),
            _query(params),
            *(f"{name}:{' '.join(headers.get(name, '').split())}" for name in names),
            "",
            ";".join(names),
            _text(request, "body_hash") or sha256(b"").hexdigest(),
        )
    )
    when = _texts(request, "params").get("X-Amz-Date") or headers.get("x-amz-date") or headers.get("date", "")
    scope = authorization.get("Credential", "").partition("/")[2]
    text = "\n".join((ALGORITHM_4, when, scope, sha256(canonical.encode()).hexdigest()))
    return hmac.new(_key(secret, scope), text.encode(), sha256).hexdigest()


def _key(secret: str, scope: str) -> bytes:
    """The signing key of a scope `date/region/service/aws4_request`."""
    key = b"AWS4" + secret.encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _authorization(request: Mapping[str, object]) -> dict[str, str]:
    """Credential, SignedHeaders and Signature of version 4: from the header, or from the query of a signed URL."""
    params = _texts(request, "params")
    if params.get("X-Amz-Algorithm") == ALGORITHM_4:
        return {name: params.get(f"X-Amz-{name}", "") for name in ("Credential", "SignedHeaders", "Signature")}
    header = _lower(_texts(request, "headers")).get("authorization", "")
    if not header.startswith(ALGORITHM_4):
        return {}
    pairs = (part.strip().partition("=") for part in header.removeprefix(ALGORITHM_4).split(","))
    return {name: value for name, _, value in pairs}


def _hosts(request: Mapping[str, object]) -> list[str]:
    """The names the request may have been signed for: as given, as its header has it, and either without port."""
    named = (_text(request, "host"), _lower(_texts(request, "headers")).get("host", ""))
    return list(dict.fromkeys(host for each in named for host in (each, re.sub(r":\d+$", "", each)) if host))


def _query(params: Mapping[str, str]) -> str:
    encoded = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in params.items())
    return "&".join(f"{name}={value}" for name, value in encoded)


def _same(signature: str, expected: str) -> bool:
    return hmac.compare_digest(signature.encode(), expected.encode())


def _text(request: Mapping[str, object], name: str) -> str:
    value = request.get(name)
    return value if isinstance(value, str) else ""


def _texts(request: Mapping[str, object], name: str) -> dict[str, str]:
    """A mapping of the request, its values as strings."""
    value = request.get(name)
    return {str(key): str(each) for key, each in value.items()} if isinstance(value, Mapping) else {}


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _time(timestamp: str) -> float | None:
    for form in _TIMES:
        try:
            return datetime.strptime(timestamp, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None
