"""Names of attributes in the database of a Heat, whose content nobody has checked."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.takeover.resources import _attribute

HOSTILE = (
    "tuple:" + "(" * 100_000,
    "tuple:" + "-" * 900 + "1",
    "tuple:" + "(" * 400 + ")" * 400,
    "tuple:('a'," * 200_000,
    "tuple:__import__('os').system('true')",
    "tuple:{}",
    "tuple:()",
    "tuple:1",
    "tuple:([],)",
    "tuple:({'a': 1},)",
    "tuple:('a', None)",
    "tuple:(b'a',)",
    "tuple:(1e999,)",
    "tuple:",
    "tuple:'\0'",
)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("show", ("show",)),
        ("tuple:('outputs_list', 'value')", ("outputs_list", "value")),
        ("tuple:('networks', 'a\\'b', 0)", ("networks", "a'b", 0)),
        ("x tuple:('a',)", ("x tuple:('a',)",)),
    ],
)
def test_names_and_paths(name: str, key: tuple[Any, ...]) -> None:
    assert _attribute(name) == key


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: name[:30])
def test_a_string_without_a_path_is_a_name(name: str) -> None:
    assert _attribute(name) == (name,)
