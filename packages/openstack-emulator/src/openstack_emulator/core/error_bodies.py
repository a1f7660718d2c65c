"""The bodies of errors, in the formats of the services; `core/errors.py` has the two that most services share.

Others come from libraries: `faultcode` and `faultstring` from WSME, `code`, `title` and `description` from Pecan, the
list `errors` from the guideline of OpenStack's API working group. A body is bytes or JSON data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from typing import Any

from openstack_emulator.core.errors import FAULT_NAMES, ApiError, RolesLacking, fault_body
from openstack_emulator.core.microversions import Malformed, Unsupported
from openstack_emulator.core.routing import NO_ROUTE

Body = dict[str, Any]

HTML = "text/html; charset=UTF-8"
CONDUCTOR = "conductor"
"""The kind of Ironic's errors that its conductor has found; it writes JSON without spaces."""
TEXT = "text"
"""The kind of Mistral's errors about a definition, which is YAML in a string."""
MESSAGE = "message"
"""The kind of Swift's errors whose message is the whole body."""
POLICY = "policy-not-authorized"
"""The kind of Zun's errors for callers who lack a role."""
ACCESS_DENIED = "Access was denied to this resource."
"""What Manila says to callers who lack a role."""
DENIED = "Policy does not allow this request to be performed."
"""What Octavia says to callers who lack a role."""
UNAUTHENTICATED = "Failed to validate access token: Authentication required"
"""What Mistral says about a request without a valid token."""
NO_URL = (
    "The requested URL was not found on the server. If you entered the URL manually please check your spelling and try "
    "again."
)
UNAUTHORIZED = (
    "This server could not verify that you are authorized to access the document you requested. Either you "
    "supplied the wrong credentials (e.g., bad password), or your browser does not understand how to supply the "
    "credentials required."
)
DESIGNATE_TYPES = {
    400: "bad_request",
    401: "authentication_required",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "over_quota",
    415: "unsupported_content_type",
    500: "unknown",
}
NEUTRON_TYPES = {
    400: "HTTPBadRequest",
    401: "HTTPUnauthorized",
    403: "PolicyNotAuthorized",
    404: "HTTPNotFound",
    405: "HTTPMethodNotAllowed",
    409: "HTTPConflict",
    412: "HTTPPreconditionFailed",
    429: "HTTPTooManyRequests",
    500: "HTTPInternalServerError",
    503: "HTTPServiceUnavailable",
}
NEUTRON_MESSAGES = {
    405: "The server could not comply with the request since it is either malformed or otherwise incorrect.",
}
"""Statuses with one message for everything."""
TROVE_NAMES = {**FAULT_NAMES, 409: "conflict", 422: "unprocessableEntity"}
ZAQAR_TITLES = {400: "Invalid API request", 404: "Not found", 409: "Resource conflict"}
ZUN_KINDS = {400: "invalid-value", 409: "conflict"}
_FIRST_SENTENCE = re.compile(r"[^.]*")
_GLANCE_PAGE = (
    "<html>\n <head>\n  <title>{status}</title>\n </head>\n <body>\n  <h1>{status}</h1>\n  {text}\n </body>\n</html>"
)
_GLANCE_TEXTS = {415: "{explanation}\n<br /><br />\n{detail}"}
_GLANCE_TEXT = "{explanation}<br /><br />\n{detail}\n\n"


# -- the formats of libraries -----------------------------------------------------------------------------------------


def _wsme(error: ApiError, message: str) -> Body:
    return {"faultcode": "Server" if error.status >= 500 else "Client", "faultstring": message, "debuginfo": None}


def _pecan(error: ApiError, description: object) -> Body:
    return {"code": error.status, "title": error.title, "description": description}


def _error_list(error: ApiError, code: str, title: str, detail: str) -> Body:
    item = {"request_id": "", "status": error.status, "links": [], "code": code, "title": title, "detail": detail}
    return {"errors": [item]}


# -- the services -----------------------------------------------------------------------------------------------------


def aodh(error: ApiError) -> Body:
    """The body of Aodh's errors: that of its framework within `error_message`."""
    if error.status == 405:
        return {"error_message": _pecan(error, "")}
    message = "RBAC Authorization Failed" if isinstance(error, RolesLacking) else error.message
    return {"error_message": _wsme(error, message)}


def barbican(error: ApiError) -> Body:
    """The body of Barbican's errors."""
    return _pecan(error, error.message)


def blazar(error: ApiError) -> Body:
    """The body of Blazar's errors; that of its framework for an unknown route."""
    if error.message == NO_ROUTE:
        return {"error": error.status, "error_message": NO_URL}
    return {"error_code": error.status, "error_message": error.message, "error_name": error.status}


def congress(error: ApiError) -> Body:
    """The body of Congress's errors."""
    return {"error": {"error_code": error.status, "message": error.message, "error_data": None}}


def designate(error: ApiError) -> Body:
    """The body of Designate's errors; those of the policy, and some others, have no message."""
    kind = error.kind or DESIGNATE_TYPES.get(error.status, "unknown")
    message = {} if isinstance(error, RolesLacking) or not error.message else {"message": error.message}
    return {"code": error.status, "type": kind, "request_id": error.request_id, **message, **error.details}


def glance(error: ApiError) -> bytes | Body:
    """A small web page, or JSON if the client accepts that; notes the content type of a page.

    Both consist of an explanation and of a detail, which most errors leave empty.
    """
    status = f"{error.status} {error.title}"
    if error.accept.startswith("application/json"):
        return {"message": _glance_text(error, str), "code": status, "title": error.title}
    error.headers.setdefault("Content-Type", HTML)
    return _GLANCE_PAGE.format(status=status, text=_glance_text(error, escape)).encode()


def _glance_text(error: ApiError, quoted: Callable[[str], str]) -> str:
    explanation = UNAUTHORIZED if error.status == 401 else error.message
    layout = _GLANCE_TEXTS.get(error.status, _GLANCE_TEXT)
    return layout.format(explanation=quoted(explanation), detail=quoted(error.details.get("detail", "")))


def gnocchi(error: ApiError) -> Body:
    """The body of Gnocchi's errors; details take the place of the message."""
    return _pecan(error, error.details or ("" if error.status in (403, 415) else error.message))


def ironic(error: ApiError) -> Body:
    """A JSON document in a string; in that of a middleware if no handler of Ironic has seen the request."""
    if error.message == NO_ROUTE:
        return {"error_message": json.dumps(_pecan(error, ""))}
    if isinstance(error, Unsupported):
        return {"error_message": json.dumps(_pecan(error, error.sentence))}
    if isinstance(error, Malformed):
        return {"error_message": json.dumps(_pecan(error, error.message))}
    separators = (",", ":") if error.kind == CONDUCTOR else None
    return {"error_message": json.dumps(_wsme(error, error.message), separators=separators)}


def magnum(error: ApiError) -> Body:
    """The body of Magnum's errors: a list of one, whose form depends on the part of the service that refuses."""
    if isinstance(error, Unsupported):
        return {"errors": [error.described("magnum.microversion-unsupported")]}
    if error.message == NO_ROUTE:
        return _error_list(error, "", error.title, "")
    if error.kind == "" or isinstance(error, Malformed):
        return _error_list(error, "", error.title, error.message)
    title = _FIRST_SENTENCE.match(error.message)
    return _error_list(error, "server" if error.status >= 500 else "client", title[0] if title else "", error.message)


def manila(error: ApiError) -> Body:
    """An error for missing roles does not say which are needed."""
    return fault_body(error, ACCESS_DENIED if isinstance(error, RolesLacking) else error.message)


def mistral(error: ApiError) -> Body:
    """The body of Mistral's errors: that of its framework for an unknown route or content type."""
    if error.status == 406 or error.message == NO_ROUTE:
        return _pecan(error, None)
    return {"faultstring": error.message} if error.kind == TEXT else _wsme(error, error.message)


def mistral_token(error: ApiError) -> Body:
    """The body of Mistral's answer to a request without a valid token."""
    return _pecan(error, UNAUTHENTICATED)


def murano(error: ApiError) -> Body:
    """The body of Murano's errors, of which its client reads the first member."""
    kind = f"HTTP{error.title.replace(' ', '')}"
    shown = {"message": error.message, "type": kind, "traceback": None}
    return {"error": shown, "code": error.status, "title": error.title, "explanation": error.message}


def neutron(error: ApiError) -> Body:
    """The body of Neutron's errors; `type` is their kind, or the name of their status.

    Some errors of its framework are not in the member `NeutronError`: those with the detail `bare`.
    """
    kind = error.kind or NEUTRON_TYPES.get(error.status, "HTTPError")
    body = {"type": kind, "message": NEUTRON_MESSAGES.get(error.status, error.message), "detail": ""}
    return body if "bare" in error.details else {"NeutronError": body}


def nova_metadata(error: ApiError) -> bytes:
    """The body of the metadata service's errors, which is plain text."""
    return f"{error.status} {error.title}\n\n{error.message}\n".encode()


def octavia(error: ApiError) -> Body:
    """The body of Octavia's errors; those with a kind come from its framework."""
    if error.kind is not None:
        return {"title": error.kind, "code": error.status, "description": error.message}
    return _wsme(error, DENIED if isinstance(error, RolesLacking) else error.message)


def placement(error: ApiError) -> Body:
    """The body of Placement's errors: a list of one."""
    return {"errors": [{"status": error.status, "title": error.title, "detail": error.message}]}


def swift(error: ApiError) -> bytes:
    """A line of HTML, or a message where there is something to say; notes the content type."""
    error.headers.setdefault("Content-Type", HTML)
    return error.message.encode() if error.kind == MESSAGE else swift_page(error.title, error.message)


def swift_page(title: str, text: str) -> bytes:
    """The standard page for a status."""
    return f"<html><h1>{title}</h1><p>{escape(text)}</p></html>".encode()


def trove(error: ApiError) -> Body:
    """The body of Trove's errors, below the name of the fault."""
    name = error.kind or TROVE_NAMES.get(error.status, "instanceFault")
    return {name: {"code": error.status, "message": error.message}}


def zaqar(error: ApiError) -> Body:
    """The body of Zaqar's errors; the kind of an error is its title."""
    return {"title": error.kind or ZAQAR_TITLES.get(error.status, error.title), "description": error.message}


def zun(error: ApiError) -> Body:
    """The body of Zun's errors: a list of one."""
    if error.message == NO_ROUTE:
        return _error_list(error, "container.", error.title, "")
    if isinstance(error, Malformed):
        return _error_list(error, "container.", error.title, error.message)
    kind = POLICY if isinstance(error, RolesLacking) else error.kind or ZUN_KINDS.get(error.status, "")
    return _error_list(error, f"container.{kind}", error.message, error.message)
