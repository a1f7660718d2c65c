"""The examples of the template guide, checked as `stoker lint` checks them."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from stoker.authoring.lint import lint
from stoker.authoring.workspace import Workspace
from stoker.plugins.registry import Registry
from stoker.template.document import VERSION_KEYS
from stoker.template.environment import Environment

_BLOCK = re.compile(
    r"^```(?:yaml|\{code-block\} yaml\n:caption: (?P<name>\S+)\n)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def test_the_linter_finds_nothing_in_the_guide(docs: Path, tmp_path: Path) -> None:
    templates, environments = [], 0
    for page in sorted((docs / "guide").glob("*.md")):
        (tmp_path / page.stem).mkdir()
        for number, block in enumerate(_BLOCK.finditer(page.read_text())):
            text = block["text"]
            if not any(text.startswith(f"{key}:") for key in VERSION_KEYS):
                Environment.from_data(yaml.safe_load(text))
                environments += 1
                continue
            path = tmp_path / page.stem / (block["name"] or f"{number}.yaml")
            path.write_text(text)
            templates.append(str(path))
    assert len(templates) >= 15
    assert environments == 2
    found = lint(Workspace(Registry.from_entry_points()), templates)
    assert [one.text() for one in found] == []
