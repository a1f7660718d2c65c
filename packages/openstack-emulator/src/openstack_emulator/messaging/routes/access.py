"""Who may ask for what: callers with a token for their project, and holders of a signed URL for its paths."""

from __future__ import annotations

from uuid import UUID

from openstack_emulator.core.dispatch import Unauthenticated
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request
from openstack_emulator.messaging.rules.composition import Messaging
from openstack_emulator.messaging.rules.queues import place
from openstack_emulator.messaging.rules.signatures import SignedUrl

_SIGNATURE = "url-signature"


def project_of(messaging: Messaging, request: Request) -> str:
    """The project that a request is for; 401 without a token, 404 for a signature that does not fit."""
    is_signed = request.caller is None and _SIGNATURE in request.headers
    project = _signed_project(messaging, request) if is_signed else project_of_token(request)
    client_of(request)
    return project


def queue_of(messaging: Messaging, request: Request) -> str:
    """Where the queue is that the path names. Raises ApiError as `project_of` does."""
    return place(project_of(messaging, request), name_in(request))


def name_in(request: Request) -> str:
    """The name of the queue in the path."""
    return request.vars["name"]


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


def _signed_project(messaging: Messaging, request: Request) -> str:
    names = ("url-paths", "url-methods", "url-expires", "x-project-id", _SIGNATURE)
    paths, methods, expires, project_id, signature = (request.headers.get(name, "") for name in names)
    url = SignedUrl(paths.split(","), methods.split(","), expires, project_id, signature)
    if not messaging.signatures.allows(url, request.method, request.raw_path):
        raise not_found("The signed URL is not valid for this request.")
    return project_id
