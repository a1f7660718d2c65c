"""Sealed strings are Fernet tokens, as the library of that name makes and opens them."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.fernet import Fernet

from stoker.base.errors import Bug
from stoker.store.sealing import Sealer

KEY, OTHER = "k" * 32, "o" * 32
SIZES = (0, 1, 14, 15, 16, 17, 31, 32, 1000, 100_000)
BLOCKS = slice(9, -32)
"""The part of a token between its time and its signature: the initialization vector, and what is encrypted."""


def library(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(key.encode()))


def test_the_library_opens_what_is_sealed() -> None:
    sealer = Sealer([KEY, OTHER])
    for size in SIZES:
        text = b"x" * size
        assert library(KEY).decrypt(sealer.seal_text(text)) == text, size


def test_what_the_library_has_made_is_opened_with_any_key() -> None:
    sealer = Sealer([KEY, OTHER])
    for key in (KEY, OTHER):
        for size in SIZES:
            assert sealer.open(library(key).encrypt(b'"' + b"x" * size + b'"').decode()) == "x" * size, (key, size)


def test_no_block_of_a_sealed_text_occurs_twice() -> None:
    sealer, seen = Sealer([KEY]), set[bytes]()
    for _ in range(500):
        blocks = base64.urlsafe_b64decode(sealer.seal_text(b"the same text, again and again"))[BLOCKS]
        seen |= {blocks[start : start + 16] for start in range(0, len(blocks), 16)}
    assert len(seen) == 500 * 3


def test_a_text_with_any_changed_byte_is_refused() -> None:
    sealer = Sealer([KEY])
    raw = base64.urlsafe_b64decode(sealer.seal({"password": "secret"}))
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1
        with pytest.raises(Bug):
            sealer.open(base64.urlsafe_b64encode(changed).decode())


def test_what_is_no_token_or_has_another_key_is_refused() -> None:
    sealer = Sealer([KEY])
    for text in ("", "x", "gAAAAA", "{}", Sealer([OTHER]).seal({}), sealer.seal({})[:-4]):
        with pytest.raises(Bug):
            sealer.open(text)


def test_renewing_changes_only_what_another_key_has_sealed() -> None:
    old, both = Sealer([OTHER]).seal([1]), Sealer([KEY, OTHER])
    new = both.renew(old)
    assert new != old
    assert Sealer([KEY]).open(new) == [1]
    assert both.renew(new) == new


def test_threads_seal_and_open_at_the_same_time() -> None:
    sealer = Sealer([KEY])
    sealed_first = [sealer.seal([number]) for number in range(50)]

    def work(start: int) -> list[object]:
        opened: list[object] = []
        for number in range(start, start + 200):
            opened.append(sealer.open(sealed_first[number % 50]))
            assert sealer.open(sealer.seal({"number": number})) == {"number": number}
        return opened

    with ThreadPoolExecutor(4) as threads:
        for start, opened in zip(range(0, 800, 200), threads.map(work, range(0, 800, 200)), strict=True):
            assert opened == [[number % 50] for number in range(start, start + 200)]
