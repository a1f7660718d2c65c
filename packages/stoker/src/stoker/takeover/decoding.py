"""Decryption of the values in a Heat database.

Beside each encrypted value, Heat stores the name of the method. The key is the first 32 characters of
`auth_encryption_key`. Three formats have existed:

- `cryptography_decrypt_v1`: Fernet tokens. The plain text of a parameter or property is JSON, that of resource data is
  the value itself.
- `oslo_decrypt_v1`: the initialization vector and AES in CBC mode, together in Base64. The plain text is followed by
  null bytes, and by a byte with their number.
- `heat_decrypt`: the initialization vector and AES in CFB mode with segments of 8 bits, together in Base64. Nothing
  tells a wrong key but plain text that is not UTF-8.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from stoker.base.errors import Invalid

_KEY_LENGTH = 32
_BLOCK = 16
"""Bytes of a block of AES, and of an initialization vector."""


class Undecipherable(Invalid):
    """A value that none of the keys decrypts, or whose method is not supported."""


class Decoder:
    """Decrypts values with the keys of a Heat: those of `auth_encryption_key`, the current one first."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [_key(key) for key in keys]

    def plain(self, method: str | None, value: str) -> str:
        """Return the plain text of a value; a value without a method is not encrypted. Raises Undecipherable."""
        if not method:
            return value
        if method not in _METHODS:
            raise Undecipherable(
                f"a value is encrypted with the method {method!r}, which is not supported; the methods are "
                f"{', '.join(_METHODS)}"
            )
        if not self._keys:
            raise Undecipherable("a value is encrypted, and no encryption key is given")
        for key in self._keys:
            try:
                return _METHODS[method](key, value).decode()
            except (InvalidToken, ValueError):  # includes invalid Base64 and UTF-8
                continue
        raise Undecipherable("a value is encrypted with another key than the given ones")

    def parameter(self, stored: Any) -> object:
        """Return a hidden parameter's value, which is stored as `[method, text]`."""
        method, text = stored
        return json_or_text(self.plain(method, text))

    def properties(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return encrypted property values, each of which is stored as `[method, text]`."""
        return {name: self.parameter(value) for name, value in stored.items()}


def json_or_text(text: str) -> object:
    """Return the data of a JSON document, or the string itself if it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _key(key: str) -> bytes:
    raw = key.encode()
    if len(raw) < _KEY_LENGTH:
        raise Invalid(f"auth_encryption_key: a key of Heat has {_KEY_LENGTH} characters or more, this one {len(raw)}")
    return raw[:_KEY_LENGTH]


def _fernet(key: bytes, value: str) -> bytes:
    return Fernet(base64.urlsafe_b64encode(key)).decrypt(value.encode())


def _cbc(key: bytes, value: str) -> bytes:
    stored = base64.b64decode(value, validate=True)
    decryptor = Cipher(algorithms.AES(key), modes.CBC(stored[:_BLOCK])).decryptor()
    padded = decryptor.update(stored[_BLOCK:]) + decryptor.finalize()
    number = padded[-1] if padded else _BLOCK
    if number >= _BLOCK or padded[-number - 1 : -1].strip(b"\0"):
        raise ValueError("the padding is wrong")
    return padded[: -number - 1]


def _cfb(key: bytes, value: str) -> bytes:
    """Decrypt AES in CFB mode (NIST SP 800-38A, 6.3): each byte with the first one of the encrypted block before it."""
    stored = base64.b64decode(value, validate=True)
    if len(stored) < _BLOCK:
        raise ValueError("there is no initialization vector")
    before = b"".join(stored[start : start + _BLOCK] for start in range(len(stored) - _BLOCK))
    encrypted = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(before)  # noqa: S305  a part of CFB
    return bytes(
        left_byte ^ right_byte for left_byte, right_byte in zip(stored[_BLOCK:], encrypted[::_BLOCK], strict=True)
    )


_METHODS: Mapping[str, Callable[[bytes, str], bytes]] = {
    "cryptography_decrypt_v1": _fernet,
    "oslo_decrypt_v1": _cbc,
    "heat_decrypt": _cfb,
}
"""The methods by the names that are stored with the values."""
