"""Errors as Glance writes them: a small web page, or JSON for clients that ask for nothing else."""

from __future__ import annotations

from functools import wraps
from html import escape
from typing import Any

from stoker.emulator.core.cloud import Handler
from stoker.emulator.core.errors import ApiError
from stoker.emulator.core.http import Request, Response

PAGE = (
    "<html>\n <head>\n  <title>{status}</title>\n </head>\n <body>\n  <h1>{status}</h1>\n"
    "  {message}<br /><br />\n\n\n </body>\n</html>"
)


def html_body(error: ApiError) -> bytes:
    """The web page of an error; notes its content type in the error's headers."""
    error.headers.setdefault("Content-Type", "text/html; charset=UTF-8")
    return PAGE.format(status=f"{error.status} {error.title}", message=escape(error.message)).encode()


def json_body(error: ApiError) -> dict[str, str]:
    return {"message": error.message, "code": f"{error.status} {error.title}", "title": error.title}


def negotiated(handler: Handler) -> Handler:
    """The handler with its errors in JSON when that is what the client accepts."""

    @wraps(handler)
    def answer(records: Any, request: Request) -> Response:
        try:
            return handler(records, request)
        except ApiError as error:
            if not request.headers.get("accept", "").startswith("application/json"):
                raise
            return Response(json_body(error), error.status, error.headers)

    return answer
