"""The check that services of the emulated cloud define nothing again that its core defines."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tools.checks.single_definitions import check
from tools.checks.source_tree import load


def found(source: Path, text: str, name: str = "image/glance") -> list[str]:
    """The report on a package with one module."""
    path = source / "openstack_emulator" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text))
    return check(load(source))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def body(error): ...\nS = Service(error_body=body)", 2),
        ("S = Service(\n  token_error_body=lambda error: {})", 2),
        ("from openstack_emulator.image.errors import body\nS = Service(error_body=body)", 2),
        ("from openstack_emulator.image import error_bodies\nS = Service(error_body=error_bodies.glance)", 2),
        ('V = {"id": "v1", "status": "CURRENT", "links": []}', 1),
        ('V = {**known, "links": [], "status": "SUPPORTED"}', 1),
        ("import jsonpatch", 1),
        ("def read():\n  from jsonpointer import JsonPointer", 2),
        ('KNOWN = ("remove", "add", "replace")', 1),
        ('def read(op):\n  return op in {"add", "replace", "remove", "test"}', 2),
    ],
)
def test_a_second_definition_is_reported_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    (reported,) = found(tmp_path, text)

    assert reported.startswith(f"openstack_emulator.image.glance:{line} ")


@pytest.mark.parametrize(
    "text",
    [
        "from openstack_emulator.core import error_bodies\nS = Service(error_body=error_bodies.glance)",
        "from openstack_emulator.core.errors import fault_body as body\nS = Service(error_body=body)",
        'V = ApiVersion("v1", (), status="CURRENT")',
        'ROW = {"status": "ACTIVE", "links": []}\nOTHER = {"status": "CURRENT"}',
        'ADDED = ("add", "remove")',
        "from openstack_emulator.core.json_patch import OPERATIONS",
    ],
)
def test_uses_of_the_definitions_of_the_core_are_accepted(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


def test_definitions_in_the_core_are_accepted(tmp_path: Path) -> None:
    assert found(tmp_path, 'import jsonpatch\nOPERATIONS = ("add", "replace", "remove")', "core/json_patch") == []
    assert found(tmp_path, 'V = {"id": "v1", "status": "CURRENT", "links": []}', "core/versions") == []
