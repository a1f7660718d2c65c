"""The community's templates load. Skipped where they are absent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stoker.template.document import VERSION_KEYS, Document
from stoker.template.environment import Environment
from stoker.template.template import Template
from testing import corpus

_FOLDER = corpus.folder()
_SUFFIXES = {".yaml", ".yml", ".template", ".json"}


def _files() -> Iterator[Any]:
    if _FOLDER is None:
        return
    for path in sorted(_FOLDER.rglob("*")):
        if path.suffix in _SUFFIXES and not corpus.is_invalid(str(path)):
            yield pytest.param(path, id=str(path.relative_to(_FOLDER)))


@pytest.mark.skipif(_FOLDER is None, reason=corpus.ABSENT)
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
