"""What bodies of several kinds of requests have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.share.rules.composition import SharedFileSystems

R = TypeVar("R")
Actions = Mapping[str, Callable[[SharedFileSystems, Request, R, object], Response]]
"""The handlers of actions by name; the last argument is what the body has under this name."""
TEXT = fields.nullable(fields.text())
METADATA = fields.text_map(largest_value=1023, key_form=r".{1,255}")
NAMES: Mapping[str, Check] = {
    "name": TEXT,
    "description": TEXT,
    "display_name": TEXT,
    "display_description": TEXT,
}
NO_ITEM = "MetadataItemNotFound: Metadata item is not found."
OTHER_KEY = "Request body and URI mismatch"


def member(request: Request, key: str) -> dict[str, Any]:
    """Return the object under `key` of the body. Raises ApiError 400 when the body is not JSON, 422 without the key."""
    body = request.json
    value = body.get(key) if isinstance(body, dict) else None
    if not isinstance(value, dict):
        raise ApiError(422, "Unable to process the contained instructions")
    return value


def changes_of(body: Mapping[str, object], known: Collection[str]) -> dict[str, Any]:
    """The known fields of a body under their present names; `display_name` is an old one."""
    return {key.removeprefix("display_"): body[key] for key in known if key in body}
