"""The name that is meant by a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

_SIMILARITY = 0.6
_LONGEST = 60
_FEW, _MANY = 20, 200


class Suggestion(str):
    """The hint `did you mean 'x'?`; `wrong` is the name that was written, and `meant` the one that is to replace it.

    `what` stands before the name, with a space behind it.
    """

    wrong: str
    meant: str

    def __new__(cls, wrong: str, meant: str, what: str = "") -> Suggestion:
        suggestion = super().__new__(cls, f"did you mean {what}{meant!r}?")
        suggestion.wrong, suggestion.meant = wrong, meant
        return suggestion

    def __deepcopy__(self, _memo: object) -> str:
        """Return the hint alone, as part of plain data."""
        return str(self)


def closest(name: str, known: Iterable[str], similarity: float = _SIMILARITY) -> str | None:
    """Return the known name that differs least from a misspelt one, whatever the case of its letters.

    The result is None if all differ too much: `similarity` is a number between 0 and 1. Comparing takes time, so only
    the beginnings of names are compared, and of many names only some that are about as long or begin with the name.
    """
    from difflib import get_close_matches  # only for a mistake

    by_start = {choice[:_LONGEST].lower(): choice for choice in _candidates(name, list(known))}
    found = get_close_matches(name[:_LONGEST].lower(), by_start, n=1, cutoff=similarity)
    return by_start[found[0]] if found else None


def _candidates(name: str, known: list[str]) -> Iterable[str]:
    if len(known) <= _FEW:
        return known
    start = name.lower()
    near = (
        candidate for candidate in known if abs(len(candidate) - len(name)) <= 2 or candidate.lower().startswith(start)
    )
    return islice(near, _MANY)
