"""Values of users that HTTP cannot carry: they are refused here, before a library fails on them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stoker.base.errors import BadValue
from stoker.cloud.transport import Answer

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
_DOT_SEGMENT = re.compile(r"(?:^|/)\.\.?(?:[/?#]|$)")

NOT_ADDRESSABLE = Answer(404, {}, {"message": "A URL cannot contain '.' or '..' as the name or ID of an object."})


def is_addressable(path: str) -> bool:
    """Return whether a URL path refers to what it names.

    HTTP clients remove the segments `.` and `..` (RFC 3986, section 5.2.4), even if they are percent-encoded: a request
    for the object `..` of a collection would be sent to the collection's parent. No object can have such a name.
    """
    return _DOT_SEGMENT.search(path) is None


def require_sendable(service: str, headers: Mapping[str, str]) -> None:
    """Raise BadValue for a header whose name or value HTTP does not allow (RFC 9110, sections 5.1 and 5.5)."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise BadValue(f"{name!r} cannot be the name of a header in a request to {service}.")
        if _CONTROL_CHARACTER.search(value):
            raise BadValue(f"The header {name} of a request to {service} cannot contain control characters.")
