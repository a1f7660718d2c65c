"""The example of the page on emulated services validates as the page says."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.errors import ApiError

PAGE = Path(__file__).parents[2] / "docs" / "contributing" / "emulated-services.md"
SECTION = PAGE.read_text().split("## Validation of bodies")[1].split("\n## ")[0]
CLAIM = re.search(r"`create\((.+?)\)` raises the 400 \*(.+?)\*", SECTION, re.DOTALL)


def example() -> dict[str, Any]:
    """The names that the blocks of the section define."""
    names: dict[str, Any] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)), names)
    return names


def refusal(body: object) -> str:
    with pytest.raises(ApiError) as caught:
        example()["create"](body)
    assert caught.value.status == 400
    return str(caught.value)


def test_example_message_is_raised() -> None:
    assert CLAIM is not None
    assert refusal(ast.literal_eval(CLAIM[1])) == " ".join(CLAIM[2].split())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "Invalid input for field/attribute name. Mandatory field missing."),
        ({"name": None}, "Invalid input for field/attribute name. Mandatory field missing."),
        ({"name": "tea", "enabled": "perhaps"}, "Invalid input for field/attribute enabled. Value should be a boolean"),
    ],
)
def test_dialect_reports_first_problem(body: object, message: str) -> None:
    assert refusal(body) == message


def test_valid_body_is_accepted() -> None:
    assert example()["create"]({"name": "tea", "enabled": "yes", "volume": None}) is None


def test_converter_returns_normal_form() -> None:
    given = example()["given"]
    assert given({"name": " port "}) == "port"
    assert given({}) is None
    with pytest.raises(ApiError, match="exceeds maximum length of 255"):
        given({"name": "x" * 256})
