"""Requests of test files: the paths of resources in braces stand for the IDs of their objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.base.diagnostics import Path

_NAME = re.compile(r"\{([^{}\s]+)\}")


class NoObject(Exception):
    """A name in braces stands for nothing. `path` leads to the string that has it."""

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name)
        self.name = name
        self.path = path


def filled(content: object, ids: Mapping[str, str], path: Path = ()) -> Any:
    """Return JSON data with the ID for each name in braces. Raises NoObject.

    `path` is the place of the content.
    """
    if isinstance(content, Mapping):
        return {key: filled(value, ids, (*path, key)) for key, value in content.items()}
    if isinstance(content, list):
        return [filled(value, ids, (*path, number)) for number, value in enumerate(content)]
    if not isinstance(content, str):
        return content
    for name in _NAME.findall(content):
        if name not in ids:
            raise NoObject(name, path)
    return _NAME.sub(lambda match: ids[match[1]], content)
