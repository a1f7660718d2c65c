"""Errors as Swift writes them: a line of HTML per status, or a message where there is something to say."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.error_bodies import HTML, MESSAGE
from openstack_emulator.core.errors import ApiError

PLAIN = "text/plain"
EXPLANATIONS: Mapping[int, str] = {
    202: "The request is accepted for processing.",
    400: "The server could not comply with the request since it is either malformed or otherwise incorrect.",
    401: "This server could not verify that you are authorized to access the document you requested.",
    403: "Access was denied to this resource.",
    404: "The resource could not be found.",
    405: "The method is not allowed for this resource.",
    409: "There was a conflict when trying to complete your request.",
    411: "Content-Length header required.",
    412: "A precondition for this request was not met.",
    413: "The body of your request was too large for this server.",
    416: "The Range requested is not available.",
    422: "Unable to process the contained instructions",
}


def refused(status: int, headers: Mapping[str, str] | None = None) -> ApiError:
    """The error with Swift's standard page for the status."""
    return ApiError(status, EXPLANATIONS[status], headers={"Content-Type": HTML, **(headers or {})})


def explained(status: int, text: str, content_type: str = HTML) -> ApiError:
    """The error with a message of its own, for the client to show; Swift calls most of them HTML, although they are
    not."""
    return ApiError(status, text, MESSAGE, {"Content-Type": content_type})


def constrained(text: str) -> ApiError:
    """400 for a request that is beyond the limits of names, metadata and times."""
    return explained(400, text, PLAIN)
