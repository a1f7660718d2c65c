"""Where documents and the files that they name come from."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from stoker.authoring.sources import read

_MOST = 200


class Files(Protocol):
    """Files by their absolute path."""

    def read(self, path: str) -> str:
        """Return the text of a file. Raises OSError or UnicodeDecodeError."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; hidden ones are left out."""


class FilesOnDisk:
    """The files of this machine."""

    def read(self, path: str) -> str:
        """Return the text of a file. Raises OSError or UnicodeDecodeError."""
        return read(path)

    def names(self, folder: str) -> list[str]:
        """Return the names of the first files in a folder; hidden ones are left out."""
        try:
            found = sorted(Path(folder).iterdir())[:_MOST]
            return [path.name for path in found if not path.name.startswith(".") and path.is_file()]
        except (OSError, ValueError):
            return []


class GivenFiles:
    """The files of a request, and no others."""

    def __init__(self, contents: Mapping[str, str]) -> None:
        """`contents` are the files by absolute path."""
        self._contents = contents

    def read(self, path: str) -> str:
        """Return the text of a file. Raises FileNotFoundError for a file that was not given."""
        if path not in self._contents:
            raise FileNotFoundError(path)
        return self._contents[path]

    def names(self, folder: str) -> list[str]:
        """Return the names of the first files in a folder; hidden ones are left out."""
        split = (posixpath.split(path) for path in sorted(self._contents))
        return [name for parent, name in split if parent == folder and not name.startswith(".")][:_MOST]
