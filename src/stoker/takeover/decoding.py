"""Decryption of the values in a Heat database.

Beside each encrypted value, Heat stores the name of the method. The values are Fernet tokens: with
`cryptography_decrypt_v1`, the key is the first 32 characters of `auth_encryption_key`, encoded in Base64. The plain
text of a parameter or property is JSON, that of resource data is the value itself.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from stoker.base.errors import Invalid

CURRENT = "cryptography_decrypt_v1"
_KEY_LENGTH = 32


class Undecipherable(Invalid):
    """A value that none of the keys decrypts, or whose method is not supported."""


class Decoder:
    """Decrypts values with the keys of a Heat: those of `auth_encryption_key`, the current one first."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._fernet = MultiFernet([Fernet(_fernet_key(key)) for key in keys]) if keys else None

    def plain(self, method: str | None, value: str) -> str:
        """Return the plain text of a value; a value without a method is not encrypted. Raises Undecipherable."""
        if not method:
            return value
        if method != CURRENT:
            raise Undecipherable(
                f"a value is encrypted with the method {method!r}, which is not supported; let Heat encrypt it again "
                "with `heat-manage update_params encrypt`"
            )
        if self._fernet is None:
            raise Undecipherable("a value is encrypted, and no encryption key is given")
        try:
            return self._fernet.decrypt(value.encode()).decode()
        except (InvalidToken, ValueError):
            raise Undecipherable("a value is encrypted with another key than the given ones") from None

    def parameter(self, stored: Any) -> Any:
        """Return a hidden parameter's value, which is stored as `[method, text]`."""
        method, text = stored
        return json_or_text(self.plain(method, text))

    def properties(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return encrypted property values, each of which is stored as `[method, text]`."""
        return {name: self.parameter(value) for name, value in stored.items()}


def json_or_text(text: str) -> Any:
    """Return the data of a JSON document, or the string itself if it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _fernet_key(key: str) -> bytes:
    raw = key.encode()
    if len(raw) < _KEY_LENGTH:
        raise Invalid(f"auth_encryption_key: a key of Heat has {_KEY_LENGTH} characters or more, this one {len(raw)}")
    return base64.urlsafe_b64encode(raw[:_KEY_LENGTH])
