"""How a type finds the object of an interrupted creation, and why no object is created twice or lost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FoundBy(Enum):
    """How the object is identified; the values are shown in the documentation."""

    NAME = "its name"
    MARK = "a mark set by Stoker"
    IDENTIFIER = "an ID that is chosen in advance"
    LIKENESS = "its properties"
    RECORD = "Stoker's own record"
    NOTHING = "not identified, which is harmless"


@dataclass(frozen=True, slots=True)
class Recovery:
    """`by` is the method, `why` explains in one or two sentences why it is reliable."""

    by: FoundBy
    why: str


OWN_RECORD = Recovery(FoundBy.RECORD, "It exists only in Stoker's database: no external object can be lost.")
"""The recovery of local types."""
