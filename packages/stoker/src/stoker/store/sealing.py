"""Encryption of secrets at rest, with key rotation.

`auth_encryption_key` (heat.conf) may be a list: the first key seals, all of them open. A key of 32 characters is used
as it is; from any other string a key of that size is derived.

Sealed strings are Fernet tokens (https://github.com/fernet/spec): the base64 text of a version, a time, an
initialization vector, data encrypted with AES-128-CBC, and their HMAC-SHA256. `cryptography.fernet` makes the same,
but sets up a cipher for each of them, which takes several times as long as encrypting the values of a resource.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import threading
import time
from collections.abc import Sequence
from typing import Any

import orjson
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from stoker.base.errors import Bug
from stoker.base.json_text import dumps, loads


class Sealer:
    """Encrypts plain JSON data to strings, and decrypts them."""

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise Bug("no encryption key is configured (auth_encryption_key)")
        raw = [_key_bytes(key) for key in keys]
        self._keys = [_Key(key) for key in raw]
        self._first = self._keys[0]
        self._digest_key = hashlib.blake2b(raw[0], person=b"stoker.digest").digest()

    def seal(self, data: object) -> str:
        """Return `data` as an encrypted string."""
        return self.seal_text(dumps(data, orjson.OPT_NON_STR_KEYS))

    def seal_text(self, text: bytes) -> str:
        """Return data that `dumps` has serialized as the encrypted string that `seal` returns for it."""
        return self._first.token(text).decode("ascii")

    def open(self, text: str) -> Any:
        """Return the data of a sealed string. Raises Bug when no configured key can decrypt it."""
        return loads(self._opened(text.encode("ascii")))

    def _opened(self, token: bytes) -> bytes:
        for key in self._keys:
            text = key.opened(token)
            if text is not None:
                return text
        raise Bug("stored data cannot be decrypted with the configured keys (auth_encryption_key)")

    def renew(self, text: str) -> str:
        """Seal with the first key; the string is returned unchanged if it already is. Raises Bug like `open`."""
        token = text.encode("ascii")
        return text if self._first.opened(token) is not None else self.seal_text(self._opened(token))

    def digest(self, data: object) -> str:
        """Return a keyed digest of JSON data: equal for equal data, and without the key no clue to the data."""
        body = dumps(data, orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, repr)
        return hashlib.blake2b(body, digest_size=32, key=self._digest_key).hexdigest()


def _key_bytes(key: str) -> bytes:
    raw = key.encode("utf-8")
    return raw if len(raw) == 32 else hashlib.sha256(raw).digest()


_VERSION = b"\x80"
_TIME_SIZE, _BLOCK, _SIGNATURE_SIZE = 8, 16, 32
_HEAD = len(_VERSION) + _TIME_SIZE
_SMALLEST = _HEAD + 2 * _BLOCK + _SIGNATURE_SIZE


class _Key:
    """Makes and opens tokens with one key of 32 bytes: 16 that sign, and 16 that encrypt.

    Each thread has one cipher for all tokens that it makes, and one for those that it opens. In CBC mode, a block is
    combined with the encrypted block before it. A token's data follow those of the token before, with a random block
    between them: that block, encrypted, is unpredictable, and is the initialization vector of the new token. A token is
    decrypted from its initialization vector on: only this first block, which is dropped, comes out wrong.
    """

    def __init__(self, key: bytes) -> None:
        self._unsigned = HMAC(key[:16], SHA256())
        self._cipher = key[16:]
        self._contexts = threading.local()

    def token(self, text: bytes) -> bytes:
        """Return content as a token."""
        padding = _BLOCK - len(text) % _BLOCK
        padded = b"".join((os.urandom(_BLOCK), text, bytes((padding,)) * padding))
        content = b"".join((_VERSION, int(time.time()).to_bytes(_TIME_SIZE), self._encryptor().update(padded)))
        return base64.urlsafe_b64encode(content + self._signature(content))

    def opened(self, token: bytes) -> bytes | None:
        """Return the content of a token; None if it was made with another key, or is no token."""
        try:
            raw = base64.urlsafe_b64decode(token)
        except binascii.Error:
            return None
        content = raw[:-_SIGNATURE_SIZE]
        if len(raw) < _SMALLEST or not hmac.compare_digest(self._signature(content), raw[-_SIGNATURE_SIZE:]):
            return None
        padded = self._decryptor().update(content[_HEAD:])
        return padded[_BLOCK : -padded[-1]]

    def _signature(self, content: bytes) -> bytes:
        signing = self._unsigned.copy()
        signing.update(content)
        return signing.finalize()

    def _encryptor(self) -> CipherContext:
        found: CipherContext | None = getattr(self._contexts, "encryptor", None)
        if found is None:
            found = self._contexts.encryptor = self._new_cipher().encryptor()
        return found

    def _decryptor(self) -> CipherContext:
        found: CipherContext | None = getattr(self._contexts, "decryptor", None)
        if found is None:
            found = self._contexts.decryptor = self._new_cipher().decryptor()
        return found

    def _new_cipher(self) -> Cipher[modes.CBC]:
        return Cipher(algorithms.AES128(self._cipher), modes.CBC(os.urandom(_BLOCK)))
