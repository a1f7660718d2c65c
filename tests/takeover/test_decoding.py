"""Values that releases of Heat have encrypted are decrypted."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.decrepit.ciphers.modes import CFB8
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from stoker.base.errors import Invalid
from stoker.takeover.decoding import Decoder, Undecipherable

KEY, OTHER = "0123456789abcdef0123456789abcdef-and-more", "f" * 32
VECTOR = bytes(range(16))


def fernet(value: bytes) -> bytes:
    return Fernet(base64.urlsafe_b64encode(KEY[:32].encode())).encrypt(value)


def cbc(value: bytes) -> bytes:
    number = 15 - len(value) % 16
    return encrypted(modes.CBC(VECTOR), value + b"\0" * number + bytes([number]))


def cfb(value: bytes) -> bytes:
    return encrypted(CFB8(VECTOR), value)


def encrypted(mode: modes.CBC | CFB8, value: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(KEY[:32].encode()), mode).encryptor()
    return base64.b64encode(VECTOR + encryptor.update(value) + encryptor.finalize())


METHODS = {"cryptography_decrypt_v1": fernet, "oslo_decrypt_v1": cbc, "heat_decrypt": cfb}


@pytest.mark.parametrize("method", METHODS)
def test_each_method_with_former_keys(method: str) -> None:
    encrypt: Callable[[bytes], bytes] = METHODS[method]
    for text in ("", "x", "fifteen letters", "sixteen letters.", "a longer text with umlauts: äöü " * 20):
        assert Decoder([KEY]).plain(method, encrypt(text.encode()).decode()) == text
    decoder = Decoder([OTHER, KEY])
    stored = encrypt(b'{"deep": [1, "\xc3\xa4"]}').decode()
    assert decoder.properties({"name": [method, stored]}) == {"name": {"deep": [1, "ä"]}}
    for keys, value in (([OTHER], stored), ([KEY], "no Base64!"), ([KEY], "c2hvcnQ="), ([], stored)):
        with pytest.raises(Undecipherable):
            Decoder(keys).plain(method, value)


def test_values_without_a_method_and_short_keys() -> None:
    assert Decoder([]).plain("", "clear") == Decoder([]).plain(None, "clear") == "clear"
    with pytest.raises(Undecipherable, match="'rot13'"):
        Decoder([KEY]).plain("rot13", "pyrne")
    with pytest.raises(Invalid, match="32 characters"):
        Decoder(["short"])
