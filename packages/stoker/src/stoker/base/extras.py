"""The optional parts of the distribution (its extras), and whether the packages that they need are installed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from stoker.base.errors import StokerError

DISTRIBUTION = "stoker"
PARTS: Mapping[str, str] = {"engine": "the engine", "emulator": "the emulator"}
"""The extras that most commands need, and what each contains."""
_ALL_PARTS: Mapping[str, str] = {
    **PARTS,
    "lsp": "the language server",
    "mcp": "the server of the Model Context Protocol",
    "testing": "Hypothesis, which chooses given values",
}

_NAME = re.compile(r"[\w.-]+")


class PartMissing(StokerError):
    """Parts of Stoker that a command needs are not installed; the message says how to install them."""

    def __init__(self, command: str, extras: Iterable[str]) -> None:
        found = list(extras)
        what = " and ".join(_ALL_PARTS[extra] for extra in found)
        super().__init__(f"`{command}` needs {what}: pip install '{DISTRIBUTION}[{','.join(found)}]'")


def missing_parts(extras: Iterable[str] = PARTS) -> list[str]:
    """Return the extras of which a package is not installed."""
    return [extra for extra in extras if any(not _installed(name) for name in _packages(extra))]


def require_parts(command: str, extras: Iterable[str]) -> None:
    """Raise PartMissing if one of the extras that the command needs is not installed."""
    missing = missing_parts(extras)
    if missing:
        raise PartMissing(command, missing)


def _packages(extra: str) -> Iterator[str]:
    """Yield the distributions that an extra adds; none if Stoker runs from sources that are not installed."""
    from importlib import metadata  # takes longer to import than a command's help takes

    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return
    for requirement in requirements:
        _, _, condition = requirement.partition(";")
        if re.search(rf"""extra == ["']{extra}["']""", condition) and (name := _NAME.match(requirement)):
            yield name[0]


def _installed(name: str) -> bool:
    from importlib import metadata

    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True
