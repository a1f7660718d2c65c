"""Sentences about objects without an owner, for the terminal and the console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_REASONS = {
    "left": "its resource, or its stack, does not exist any more, or has left it",
    "second": "its resource has another object",
    "in-progress": "an operation is in progress that may get it; try again afterwards",
    "unproven": "its name has the form of those that Stoker chooses, but no record of this project names it",
    "unreadable": "the service did not list these objects",
}


def orphan_reason(orphan: Mapping[str, Any]) -> str:
    """Return why an object is listed as one without an owner, or as one of which that is not known."""
    text = _REASONS.get(orphan["why"], orphan["why"])
    return f"{text}: {orphan['detail']}" if orphan["detail"] else text
