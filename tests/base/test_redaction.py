"""Secrets in what is shown: which strings are found, and what the search costs with secrets made to be expensive."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoker.base.redaction import REDACTED, Redactor
from stoker_foundation.processor_time import processor_time

FORMS: tuple[Callable[[str], str], ...] = (
    str,
    lambda secret: json.dumps(secret)[1:-1],
    lambda secret: json.dumps(json.dumps(secret)[1:-1])[1:-1],
    lambda secret: b64encode(secret.encode()).decode(),
    lambda secret: quote(secret, safe=""),
)

SECRETS = st.sets(st.text('ab"é\n', min_size=4, max_size=8), max_size=4)


@given(secrets=SECRETS, text=st.text('ab"é\n', max_size=40))
def test_redaction_removes_secrets_only(secrets: set[str], text: str) -> None:
    shown = Redactor(secrets).redact(text)
    assert not any(form(secret) in shown for secret in secrets for form in FORMS)
    if not any(form(secret) in text for secret in secrets for form in FORMS):
        assert shown == text
    assert Redactor(secrets).finds(text) == (shown != text)
    kept = iter(text)
    assert all(character in kept for character in shown.replace(REDACTED, "")), "what is left stands in its order"


@pytest.mark.parametrize("form", FORMS)
def test_forms_inside_other_strings(form: Callable[[str], str]) -> None:
    secret = 'se"cret/é\n1'
    assert Redactor({secret}).redact(f"<{form(secret)}>") == f"<{REDACTED}>"


def test_longest_and_overlapping_secrets_are_redacted_as_one() -> None:
    assert Redactor({"abcd", "abcdef"}).redact("xabcdefx") == f"x{REDACTED}x"
    assert Redactor({"abcd"}).redact("abcdabcdx") == f"{REDACTED}{REDACTED}x"


def test_prefix_of_long_secret_is_redacted() -> None:
    secret = "0123456789" * 10
    assert Redactor({secret}).redact(f"at {secret[:60]}... in x") == f"at {REDACTED} in x"


def test_keys_numbers_and_short_secrets() -> None:
    redactor = Redactor({"1234", "key1", "x"})
    assert redactor.redact({"key1": 1234, "a": [12345, True, None, "x"]}) == {
        REDACTED: REDACTED, "a": [12345, True, None, "x"]
    }  # fmt: skip
    assert redactor.redact_values(["x", "xy"]) == [REDACTED, "xy"]


def test_lone_surrogates_are_unchanged() -> None:
    assert Redactor({"abcd"}).redact("\ud800abcd\udfff") == f"\ud800{REDACTED}\udfff"


def test_secrets_that_are_too_large_together_redact_whole_strings() -> None:
    large = "".join(f"{number:x} " for number in range(200_000))
    redactor = Redactor({large, "small secret"})
    assert redactor.redact(["a small secret", f"x{large}", large[:100], "another"]) == [REDACTED] * 3 + ["another"]


HOSTILE = {
    "many": [f"{number:08x}" for number in range(100_000)],
    "one that JSON and URLs write far longer": ['é"\\/' * 100_000],
    "many with one beginning": ["a" * 60 + f"{number:06x}" for number in range(10_000)],
    "each the beginning of the next": ["a" * length for length in range(4, 1_000)],
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_redaction_of_hostile_secrets_is_bounded(kind: str) -> None:
    """Memory is limited, and a search takes about the time of one for a single secret, times a small factor."""
    text = "a" * 60 + "".join(f"{number:x}" for number in range(150_000))
    hostile, harmless = Redactor(HOSTILE[kind]), Redactor(["a harmless secret"])
    assert hostile._search.size <= 4 * 1024 * 1024

    def seconds(redactor: Redactor) -> float:
        began = processor_time()
        redactor.finds(text)
        redactor.redact(text)
        return processor_time() - began

    assert min(seconds(hostile) for _ in range(3)) < 0.01 + 100 * min(seconds(harmless) for _ in range(3))
