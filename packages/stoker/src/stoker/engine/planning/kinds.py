"""Kinds of steps of a plan."""

from __future__ import annotations

from enum import StrEnum


class StepKind(StrEnum):
    """The effect of a step; REFUSE is a change that the resource does not support, with which the update fails.

    USE begins to use an existing object, that of an `external_id`; nothing is created in the cloud. FORGET removes a
    resource from the record only: its object stays.
    """

    CREATE = "create"
    USE = "use"
    UPDATE = "update"
    REPLACE = "replace"
    REFUSE = "refuse"
    DELETE = "delete"
    FORGET = "forget"
    KEEP = "keep"
    VERB = "act"
