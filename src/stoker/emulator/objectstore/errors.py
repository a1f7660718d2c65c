"""Errors as Swift writes them: a line of HTML per status, or plain text where there is something to say."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from stoker.emulator.core.errors import ApiError

HTML = "text/html; charset=UTF-8"
PLAIN = "text/plain; charset=UTF-8"
EXPLANATIONS: Mapping[int, str] = {
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


def explained(status: int, text: str) -> ApiError:
    """The error with a message of its own, for the client to show."""
    return ApiError(status, text, headers={"Content-Type": PLAIN})


def error_body(error: ApiError) -> bytes:
    """The bytes of an error's answer; notes their content type in the error's headers."""
    if error.headers.setdefault("Content-Type", HTML) == PLAIN:
        return error.message.encode()
    return f"<html><h1>{error.title}</h1><p>{escape(error.message)}</p></html>".encode()
