"""Real templates load. Set STOKER_TEMPLATE_CORPUS to a folder of them; without it these tests are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stoker.template.document import Document
from stoker.template.environment import Environment
from stoker.template.formats import VERSION_KEYS
from stoker.template.template import Template

_FOLDER = os.environ.get("STOKER_TEMPLATE_CORPUS", "")
_SUFFIXES = {".yaml", ".yml", ".template", ".json"}


def _files() -> Iterator[Any]:
    for path in sorted(Path(_FOLDER).rglob("*")) if _FOLDER else ():
        if path.suffix in _SUFFIXES and "invalid" not in path.parts:
            yield pytest.param(path, id=str(path.relative_to(_FOLDER)))


@pytest.mark.skipif(not _FOLDER, reason="STOKER_TEMPLATE_CORPUS is not set")
@pytest.mark.parametrize("path", list(_files()))
def test_loads(path: Path) -> None:
    document = Document.parse(path.read_text(), source=path.name)
    if any(key in document.data for key in VERSION_KEYS):
        template = Template.load(document)
        assert template.resources or template.outputs or template.parameters
    elif path.stem.endswith("_env"):
        Environment.from_data(document.data)
    else:
        pytest.skip("neither a template nor an environment")
