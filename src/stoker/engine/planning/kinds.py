"""Kinds of steps of a plan."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The effect of a step; REFUSE is a change that the resource does not support, with which the update fails."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    REFUSE = "refuse"
    DELETE = "delete"
    KEEP = "keep"
    VERB = "act"
