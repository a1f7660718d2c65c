"""The values in configuration files, each with its file and line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from oslo_config import cfg, iniparser

_MOST_PROBLEMS = 20
"""The file is read once more for each line that is not understood."""


@dataclass(frozen=True, slots=True)
class Written:
    """A value as it is written in the file at `path`; `line` counts from 1."""

    group: str
    name: str
    value: str
    path: str
    line: int

    @property
    def place(self) -> str:
        """The file and the line, as editors and compilers write them."""
        return f"{self.path}:{self.line}"


def written_values(config: cfg.ConfigOpts) -> list[Written]:
    """Return the values of the files of a configuration, in the order in which later ones override."""
    return [value for path in _files(config) for value in _read(path).values]


def syntax_problems(paths: Iterable[str]) -> list[str]:
    """Return a sentence for each line of the files that is not understood. Lines may have secrets and are not shown."""
    return [problem for path in paths if Path(path).is_file() for problem in _read(Path(path)).problems]


def _files(config: cfg.ConfigOpts) -> Iterator[Path]:
    yield from (Path(name) for name in config.config_file or ())
    for directory in config.config_dir or ():
        yield from sorted(Path(directory).glob("*.conf"))


@dataclass(frozen=True, slots=True)
class _File:
    """What a file has: its `values`, and a sentence for each line that is not understood."""

    values: list[Written]
    problems: list[str]


def _read(path: Path) -> _File:
    # With an empty line at the end, each assignment is reported at the line behind it.
    lines, problems = [*path.read_text(encoding="utf-8").split("\n"), ""], list[str]()
    while True:
        reader = _Reader(str(path))
        try:
            reader.parse(lines)
        except iniparser.ParseError as error:
            problems.append(f"{path}:{error.lineno}: {error.msg[0].lower()}{error.msg[1:]}")
            lines[error.lineno - 1] = "#"
            if len(problems) < _MOST_PROBLEMS:
                continue
        return _File(reader.values, problems)


class _Reader(iniparser.BaseParser):
    """Collects the `values` of a file. The parser raises ParseError at the first line that it does not understand."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.values: list[Written] = []
        self._path = path
        self._section: str | None = None

    def new_section(self, section: str) -> None:
        self._section = section

    def assignment(self, key: str, value: list[str]) -> None:
        line = self.lineno - len(value)
        if self._section is None:
            raise iniparser.ParseError("Section must be started before assignment", line, "")
        self.values.append(Written(self._section, key, "\n".join(value), self._path, line))
