"""Signed URLs: access without a token to one object, or all with a prefix, until a point in time."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from collections.abc import Iterable
from datetime import UTC, datetime

from openstack_emulator.core.http import Request, decode
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import explained
from openstack_emulator.objectstore.rules.metadata import is_number

DIGESTS = ("sha1", "sha256", "sha512")
DIGEST_OF_LENGTH = {40: "sha1", 64: "sha256", 128: "sha512"}
METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")
ALSO_SIGNED_FOR = {"HEAD": ("HEAD", "GET", "PUT", "POST")}
"""Methods whose signature lets another one pass too."""


def is_signed(request: Request) -> bool:
    return "temp_url_sig" in request.query or "temp_url_expires" in request.query


def check_signature(swift: ObjectStore, request: Request, account: str, container: str, name: str) -> None:
    """401 unless the URL carries a valid signature that has not expired."""
    query = request.query
    signature, expires = query.get("temp_url_sig", "") or "", _epoch(query.get("temp_url_expires", "") or "")
    if request.method not in METHODS or expires is None or expires < swift.ticks.now():
        raise _invalid()
    prefix = query.get("temp_url_prefix")
    if prefix is not None and not name.startswith(prefix):
        raise _invalid()
    source = query.get("temp_url_ip_range")
    if source is not None and not _is_permitted_source(request.remote, source):
        raise _invalid()
    object_path = f"/v1/{account}/{container}/{name if prefix is None else prefix}"
    start = "" if prefix is None else "prefix:"
    marker = "" if source is None else f"ip={source}\n"
    messages = [
        f"{marker}{method}\n{expires}\n{start}{path}"
        for method in ALSO_SIGNED_FOR.get(request.method, (request.method,))
        for path in public_paths(request, object_path)
    ]
    if not is_valid(signature, messages, keys(swift, account, container)):
        raise _invalid()


def public_paths(request: Request, path: str) -> tuple[str, str]:
    """The path as signed by those who know where the service is mounted, and by those who do not."""
    mount = decode(request.path)[: -len(decode(request.raw_path))]
    return path, mount + path


def keys(swift: ObjectStore, account: str, container: str) -> list[str]:
    """The secrets set on the account and the container; two each, so that they can be changed in turn."""
    holders = (("account", swift.accounts.rows.get(account)), ("container", swift.containers.find(account, container)))
    return [
        secret
        for kind, holder in holders
        for key in ("key", "key-2")
        if holder is not None and (secret := holder.headers.get(f"x-{kind}-meta-temp-url-{key}")) is not None
    ]


def is_valid(signature: str, messages: Iterable[str], secrets: Iterable[str]) -> bool:
    """Whether any secret gives this signature for any message; hexadecimal, or `sha256:` and base 64."""
    digest, colon, encoded = signature.partition(":")
    if colon:
        try:
            signature = base64.b64decode(encoded.replace("-", "+").replace("_", "/") + "==").hex()
        except binascii.Error:
            return False
    else:
        digest = DIGEST_OF_LENGTH.get(len(signature), "")
    if digest not in DIGESTS:
        return False
    secrets = list(secrets)
    return any(
        hmac.compare_digest(hmac.new(secret.encode(), message.encode(), digest).hexdigest(), signature.lower())
        for message in messages
        for secret in secrets
    )


def _epoch(text: str) -> int | None:
    if is_number(text):
        return int(text)
    try:
        moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp())


def _is_permitted_source(remote: str, source: str) -> bool:
    try:
        return ipaddress.ip_address(remote) in ipaddress.ip_network(source, strict=False)
    except ValueError:
        return False


def _invalid() -> Exception:
    return explained(401, "401 Unauthorized: Temp URL invalid")
