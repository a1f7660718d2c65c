"""Errors as Glance writes them: a small web page, or JSON for clients that ask for nothing else.

Both consist of an explanation and of a detail, which most errors leave empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from openstack_emulator.core.errors import ApiError

PAGE = "<html>\n <head>\n  <title>{status}</title>\n </head>\n <body>\n  <h1>{status}</h1>\n  {text}\n </body>\n</html>"
TEXT = "{explanation}<br /><br />\n{detail}\n\n"
TEXT_415 = "{explanation}\n<br /><br />\n{detail}"
EXPLANATIONS = {
    401: "This server could not verify that you are authorized to access the document you requested. Either you "
    "supplied the wrong credentials (e.g., bad password), or your browser does not understand how to supply the "
    "credentials required.",
    403: "Access was denied to this resource.",
    404: "The resource could not be found.",
    409: "There was a conflict when trying to complete your request.",
}


def detailed(status: int, detail: str) -> ApiError:
    """An error with the explanation that belongs to its status."""
    return ApiError(status, EXPLANATIONS[status], detail=detail)


def unauthorized(rule: str) -> ApiError:
    """403 for a caller whom the policy rule does not let do this."""
    return ApiError(403, REFUSAL.format(rule=rule))


REFUSAL = "You are not authorized to complete {rule} action."


def unsupported(media_type: str, detail: str, headers: Mapping[str, str] | None = None) -> ApiError:
    """415 for a body of this media type."""
    return ApiError(
        415, f"The request media type {media_type} is not supported by this server.", headers=headers, detail=detail
    )


def error_body(error: ApiError) -> bytes | dict[str, str]:
    """The web page of an error, or JSON if the client accepts that; notes the content type of a page."""
    status = f"{error.status} {error.title}"
    if error.accept.startswith("application/json"):
        return {"message": _text(error, str), "code": status, "title": error.title}
    error.headers.setdefault("Content-Type", "text/html; charset=UTF-8")
    return PAGE.format(status=status, text=_text(error, escape)).encode()


def _text(error: ApiError, quoted: Callable[[str], str]) -> str:
    layout = TEXT_415 if error.status == 415 else TEXT
    explanation = EXPLANATIONS[401] if error.status == 401 else error.message
    return layout.format(explanation=quoted(explanation), detail=quoted(error.details.get("detail", "")))
