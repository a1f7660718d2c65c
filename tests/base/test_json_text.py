"""JSON that users wrote is read so far as it can be walked and written again, and refused otherwise."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoker.base.json_text import MAX_DEPTH, dumps, read_json

REFUSED = {
    "one level too many": "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
    "levels beyond Python's own limit": "[" * 100_000 + "]" * 100_000,
    "many levels of maps": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "levels without an end": "[" * 100_000,
    "infinite": "1e400",
    "minus infinite": "[-1e400]",
    "NaN": "NaN",
    "Infinity": "[-Infinity]",
    "digits": "9" * 5000,
    "lone surrogate": '"\\ud800"',
    "lone surrogate in a key": '{"\\udfff": 1}',
    "lone surrogate as it is": '"\ud800"',
    "not JSON": "{",
    "nothing": "",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=list(REFUSED))
def test_refused_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as raised:
        read_json(text)
    assert "sys." not in str(raised.value)


def test_bytes_that_are_not_utf_8() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        read_json(b'"\xff"')


@pytest.mark.parametrize(
    ("text", "data"),
    [("-0", 0), ("-0.0", 0.0), ("1e308", 1e308), ('"\\ud83d\\ude00"', "\U0001f600"), ("9" * 40, int("9" * 40))],
)
def test_unusual_json_is_read(text: str, data: Any) -> None:
    assert read_json(text) == data


def test_the_deepest_json() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json.dumps(read_json(text)) == text


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.sampled_from(["\0", "\ud800", "[" * 101]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(VALUES, st.booleans())
def test_data_that_is_read_can_be_written(value: Any, ascii_only: bool) -> None:
    try:
        data = read_json(json.dumps(value, ensure_ascii=ascii_only))
    except ValueError:
        return
    assert data == value
    dumps(data)


@given(st.text(st.sampled_from('[]{}",:\\u0189dENa-+. '), max_size=30) | st.binary(max_size=20))
def test_random_strings_raise_only_value_error(text: str | bytes) -> None:
    with contextlib.suppress(ValueError):
        data = read_json(text)
        assert read_json(dumps(data)) == data
