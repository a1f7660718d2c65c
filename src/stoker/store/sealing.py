"""Encryption of what is secret at rest, with rotation of keys.

`auth_encryption_key` (heat.conf) may be a list: the first key seals, all of them open. A key of 32 characters is
what heat.conf holds; any other text is stretched to the same size.
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
    """Turns plain JSON data into sealed text and back."""

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise Bug("no encryption key is configured (auth_encryption_key)")
        raw = [_key_bytes(key) for key in keys]
        fernets = [Fernet(base64.urlsafe_b64encode(key)) for key in raw]
        self._first, self._fernet = fernets[0], MultiFernet(fernets)
        self._digest_key = hashlib.blake2b(raw[0], person=b"stoker.digest").digest()

    def seal(self, data: Any) -> str:
        """`data` as a text that only a holder of the key can read."""
        return self._fernet.encrypt(dumps(data, orjson.OPT_NON_STR_KEYS)).decode("ascii")

    def open(self, text: str) -> Any:
        """What was sealed. Raises Bug when no configured key fits."""
        try:
            return loads(self._fernet.decrypt(text.encode("ascii")))
        except InvalidToken as error:
            raise Bug("stored data cannot be decrypted with the configured keys (auth_encryption_key)") from error

    def renew(self, text: str) -> str:
        """What was sealed, sealed with the first key; the same text when it is already. Raises Bug as `open` does."""
        sealed = text.encode("ascii")
        try:
            self._first.decrypt(sealed)
        except InvalidToken:
            self.open(text)
            return self._fernet.rotate(sealed).decode("ascii")
        return text

    def digest(self, data: Any) -> str:
        """A keyed fingerprint of JSON data: equal for equal data, telling nothing without the key."""
        body = dumps(data, orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, repr)
        return hashlib.blake2b(body, digest_size=32, key=self._digest_key).hexdigest()


def _key_bytes(key: str) -> bytes:
    raw = key.encode("utf-8")
    return raw if len(raw) == 32 else hashlib.sha256(raw).digest()
