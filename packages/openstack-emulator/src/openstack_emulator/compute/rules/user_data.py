"""Base64 data that users give to servers."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.validation.objects import invalid

LARGEST_USER_DATA = 65535


def check_user_data(user_data: Any) -> None:
    """400 for user data that is not base64 or too long."""
    if user_data is None:
        return
    if len(user_data) > LARGEST_USER_DATA:
        raise bad_request(
            "Invalid input for field/attribute user_data. User data is too long: "
            f"it may have {LARGEST_USER_DATA} characters in base64."
        )
    if not is_base64(user_data):
        raise invalid("user_data", user_data, f"{user_data!r} is not a 'base64'")


def is_base64(text: str) -> bool:
    """Whether a string is base64, in one line or several."""
    try:
        base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
