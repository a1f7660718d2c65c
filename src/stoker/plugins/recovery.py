"""How a type finds what an interrupted creation made: by what, and why nothing is made twice or forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FoundBy(Enum):
    """What tells an object of ours from others; the values are for people."""

    NAME = "its name"
    MARK = "a mark of ours"
    IDENTIFIER = "an id that is chosen beforehand"
    LIKENESS = "what it is"
    RECORD = "Stoker's own record"
    NOTHING = "nothing, which does no harm"


@dataclass(frozen=True, slots=True)
class Recovery:
    """`by` is the method, `why` says in a sentence or two what makes it sure."""

    by: FoundBy
    why: str


OWN_RECORD = Recovery(FoundBy.RECORD, "It lives in the record: there is nothing outside that could be lost.")
"""That of types that are local."""
