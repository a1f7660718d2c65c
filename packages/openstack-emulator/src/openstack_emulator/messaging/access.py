"""Who may ask for what: callers with a token for their project, and holders of a signed URL for its paths."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from openstack_emulator.core.dispatch import Unauthenticated
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request
from openstack_emulator.messaging.records import MessagingRecords

SHAREABLE = ("messages", "subscriptions", "claims")
_FORM = "%Y-%m-%dT%H:%M:%S"
_SIGNATURE = "url-signature"


def project_of(zaqar: MessagingRecords, request: Request) -> str:
    """The project that a request is for; 401 without a token, 404 for a signature that does not fit."""
    is_signed = request.caller is None and _SIGNATURE in request.headers
    project = _signed_project(zaqar, request) if is_signed else project_of_token(request)
    client_of(request)
    return project


def project_of_token(request: Request) -> str:
    """The project of the request's token; 401 without one."""
    if request.caller is None:
        raise Unauthenticated
    return request.caller.project


def client_of(request: Request) -> str:
    """Which client asks: it does not see its own messages unless it wants to."""
    try:
        return str(UUID(request.headers["client-id"]))
    except (KeyError, ValueError):
        raise bad_request("Malformed hexadecimal UUID.", "Wrong UUID value") from None


def share(zaqar: MessagingRecords, project_id: str, queue: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """What a signed URL consists of; `wanted` has paths, methods and expires, each with a default.

    Methods that HTTP does not have are signed too, as by Zaqar.
    """
    paths, methods = wanted.get("paths") or ["messages"], wanted.get("methods") or ["GET"]
    for name, values in (("paths", paths), ("methods", methods)):
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise bad_request(f"{name} must be a list of strings.")
    if unknown := sorted({path for path in paths if path not in SHAREABLE}):
        raise bad_request(f"Invalid paths: {{{', '.join(map(repr, unknown))}}}")
    now = zaqar.now().replace(tzinfo=None, microsecond=0)
    expires = wanted.get("expires") or (now + timedelta(days=1)).strftime(_FORM)
    if _moment(expires) <= zaqar.now():
        raise bad_request("The time at which the URL expires has passed.")
    full = [f"/v2/queues/{queue}/{path}" for path in sorted(paths)]
    methods = sorted(methods)
    signature = _signature(zaqar, full, methods, project_id, expires)
    return {"paths": full, "methods": methods, "expires": expires, "project": project_id, "signature": signature}


def _signed_project(zaqar: MessagingRecords, request: Request) -> str:
    values = [request.headers.get(name, "") for name in ("url-paths", "url-methods", "x-project-id", "url-expires")]
    paths, methods, (project_id, expires) = values[0].split(","), values[1].split(","), values[2:]
    signature = _signature(zaqar, paths, methods, project_id, expires)
    good = hmac.compare_digest(signature, request.headers[_SIGNATURE])
    covered = any(request.raw_path == path or request.raw_path.startswith(f"{path}/") for path in paths)
    if not (good and covered and request.method in methods and _moment(expires) > zaqar.now()):
        raise not_found("The signed URL is not valid for this request.")
    return project_id


def _signature(
    zaqar: MessagingRecords, paths: Sequence[str], methods: Sequence[str], project_id: str, expires: str
) -> str:
    text = "\n".join((",".join(paths), ",".join(methods), project_id, expires))
    return hmac.new(zaqar.signing_key(), text.encode(), sha256).hexdigest()


def _moment(text: Any) -> datetime:
    """A time as clients write it, in UTC unless it says otherwise; 400 for what is none."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        raise bad_request(f"Unable to parse date string {str(text)!r}") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
