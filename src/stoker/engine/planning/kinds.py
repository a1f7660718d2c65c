"""What steps of a plan do."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What a step does; REFUSE is a change that the resource cannot make, with which the update will fail."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    REFUSE = "refuse"
    DELETE = "delete"
    KEEP = "keep"
    VERB = "act"
