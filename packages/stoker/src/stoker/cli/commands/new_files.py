"""Files that a command writes and that must not exist before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from stoker.cli.terminal.errors import CommandFailed


def free_files(out: Path, names: Iterable[str]) -> dict[str, Path]:
    """Return the paths of files in a directory by name. Raises CommandFailed if one exists."""
    files = {name: out / name for name in names}
    if existing := [str(file) for file in files.values() if os.path.lexists(file)]:
        raise CommandFailed(
            f"{' and '.join(existing)} {'exists' if len(existing) == 1 else 'exist'} already, and nothing is "
            "overwritten: choose another directory."
        )
    return files


def write_files(files: Mapping[str, Path], texts: Mapping[str, str]) -> None:
    """Write the files. Raises CommandFailed, also if one of them has come to be meanwhile."""
    try:
        for name, file in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as written:
                written.write(texts[name].encode())
    except OSError as error:
        raise CommandFailed(f"{error.filename}: {error.strerror}") from error


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `2 imports`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
