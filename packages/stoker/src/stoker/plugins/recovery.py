"""How a type finds the object of an interrupted creation, and why no object is created twice or lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, EnumMeta
from typing import TYPE_CHECKING

from stoker.plugins.former_names import former_name


class _FormerMembers(EnumMeta):
    """Accepts the name `LIKENESS` of 0.1.0 for one release."""

    if not TYPE_CHECKING:  # so that type checkers refuse the former name

        def __getattr__(cls, name: str) -> object:
            members = {"LIKENESS": "MATCHING_PROPERTIES"}
            return former_name(f"{cls.__module__}.{cls.__name__}", name, {k: cls[v] for k, v in members.items()})


class RecoveryMethod(Enum, metaclass=_FormerMembers):
    """How the object is identified; the values are shown in the documentation."""

    NAME = "its name"
    MARK = "a mark set by Stoker"
    IDENTIFIER = "an ID that is chosen in advance"
    MATCHING_PROPERTIES = "its properties"
    RECORD = "Stoker's own record"
    NOTHING = "not identified, which is harmless"


@dataclass(frozen=True, slots=True)
class Recovery:
    """`by` is the method, `why` explains in one or two sentences why it is reliable.

    Unless the property `own_name_without` is given, the object has a name, or a mark, that Stoker has chosen for the
    resource: no other object can have it. None if that is not known.
    """

    by: RecoveryMethod
    why: str
    own_name_without: str | None = None

    def has_own_name(self, properties: Mapping[str, object]) -> bool:
        """Return whether an object with these properties has a name that no other object can have."""
        return self.own_name_without is not None and not properties.get(self.own_name_without)


OWN_RECORD = Recovery(RecoveryMethod.RECORD, "It exists only in Stoker's database: no external object can be lost.")
"""The recovery of local types."""


def __getattr__(name: str) -> object:
    return former_name(__name__, name, {"FoundBy": RecoveryMethod})
