"""The body of errors of services whose errors are lists: Magnum and Zun."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.errors import ApiError


def parsable_body(error: ApiError) -> dict[str, Any]:
    """Return the body of an error: a list of one object, as the guideline of OpenStack's API working group has it."""
    return {
        "errors": [
            {
                "request_id": "",
                "code": "server" if error.status >= 500 else "client",
                "status": error.status,
                "title": error.title,
                "detail": error.message,
                "links": [],
            }
        ]
    }
