"""Encryption of secrets at rest, with key rotation.

`auth_encryption_key` (heat.conf) may be a list: the first key seals, all of them open. A key of 32 characters is used
as it is; from any other string a key of that size is derived.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from stoker.base.errors import Bug
from stoker.base.json_text import dumps, loads


class Sealer:
    """Encrypts plain JSON data to strings, and decrypts them."""

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise Bug("no encryption key is configured (auth_encryption_key)")
        raw = [_key_bytes(key) for key in keys]
        fernets = [Fernet(base64.urlsafe_b64encode(key)) for key in raw]
        self._first, self._fernet = fernets[0], MultiFernet(fernets)
        self._digest_key = hashlib.blake2b(raw[0], person=b"stoker.digest").digest()

    def seal(self, data: object) -> str:
        """Return `data` as an encrypted string."""
        return self.seal_text(dumps(data, orjson.OPT_NON_STR_KEYS))

    def seal_text(self, text: bytes) -> str:
        """Return data that `dumps` has serialized as the encrypted string that `seal` returns for it."""
        return self._first.encrypt(text).decode("ascii")

    def open(self, text: str) -> Any:
        """Return the data of a sealed string. Raises Bug when no configured key can decrypt it."""
        try:
            return loads(self._fernet.decrypt(text.encode("ascii")))
        except InvalidToken as error:
            raise Bug("stored data cannot be decrypted with the configured keys (auth_encryption_key)") from error

    def renew(self, text: str) -> str:
        """Seal with the first key; the string is returned unchanged if it already is. Raises Bug like `open`."""
        sealed = text.encode("ascii")
        try:
            self._first.decrypt(sealed)
        except InvalidToken:
            self.open(text)
            return self._fernet.rotate(sealed).decode("ascii")
        return text

    def digest(self, data: object) -> str:
        """Return a keyed digest of JSON data: equal for equal data, and without the key no clue to the data."""
        return self.digest_of_text(comparable(data))

    def digest_of_text(self, text: bytes) -> str:
        """Return the digest of data that `comparable` has serialized."""
        return hashlib.blake2b(text, digest_size=32, key=self._digest_key).hexdigest()


def comparable(data: object) -> bytes:
    """Return JSON text that is equal for equal data."""
    return dumps(data, orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, repr)


def _key_bytes(key: str) -> bytes:
    raw = key.encode("utf-8")
    return raw if len(raw) == 32 else hashlib.sha256(raw).digest()
