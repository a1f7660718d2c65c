"""The status of an object of the kind Stack: conditions as kubectl, Flux and Argo CD read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Data = dict[str, Any]

_LONGEST = 4096
"""Characters of a message."""


class Reason(StrEnum):
    """How a stack stands, for programs."""

    DEPLOYED = "Deployed"
    PROGRESSING = "Progressing"
    """An operation on the stack is in progress."""
    APPROVAL_REQUIRED = "ApprovalRequired"
    """The plan waits for the annotation, or for approvals in Stoker."""
    WAITING = "Waiting"
    """For a change window, or the end of a lock."""
    SUSPENDED = "Suspended"
    DATA_LOSS = "DataLoss"
    """The plan would lose data, and that is not allowed."""
    INVALID = "Invalid"
    """The object, or one that it refers to, cannot be used as it is."""
    PLAN_FAILED = "PlanFailed"
    """The template has mistakes, or the plan is known to fail."""
    DEPLOYMENT_FAILED = "DeploymentFailed"
    NOT_OWNED = "NotOwned"
    """The stack is not that of this object."""
    UNAVAILABLE = "Unavailable"
    """The cloud refuses the login, or does not answer."""


PROGRESS = frozenset({Reason.PROGRESSING})
STALLED = frozenset({Reason.DATA_LOSS, Reason.INVALID, Reason.PLAN_FAILED, Reason.DEPLOYMENT_FAILED, Reason.NOT_OWNED})
"""The reasons that do not end without a change by people."""


@dataclass(frozen=True, slots=True)
class StackCondition:
    """How a stack stands after a reconciliation, with the fields of the status that it sets.

    `outputs` are those of a stack that is as it should be.
    """

    reason: Reason
    message: str
    fields: Mapping[str, Any]
    outputs: Mapping[str, Any] = field(default_factory=dict)


def conditions(before: Sequence[Data], standing: StackCondition, generation: int, now: str) -> list[Data]:
    """Return the conditions Ready, Reconciling and Stalled, as the tool kstatus of Kubernetes reads them.

    `before` are those until now, of which unchanged ones keep their time; `now` is a time as in RFC 3339.
    """
    reason = standing.reason
    ready = {True: "True", False: "Unknown" if reason in PROGRESS else "False"}[reason is Reason.DEPLOYED]
    states = {"Ready": ready, "Reconciling": _word(reason in PROGRESS), "Stalled": _word(reason in STALLED)}
    earlier = {each["type"]: each for each in before}
    return [
        {
            "type": kind,
            "status": status,
            "reason": reason.value,
            "message": _shortened(standing.message),
            "observedGeneration": generation,
            "lastTransitionTime": _since(earlier.get(kind), status, now),
        }
        for kind, status in states.items()
    ]


def _word(value: bool) -> str:
    return "True" if value else "False"


def _since(before: Data | None, status: str, now: str) -> str:
    return str(before["lastTransitionTime"]) if before is not None and before["status"] == status else now


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def reason_in(status: Mapping[str, Any]) -> Reason | None:
    """Return the reason of the condition Ready of a status, if it has one that is known."""
    found = [each["reason"] for each in status.get("conditions", ()) if each["type"] == "Ready"]
    return Reason(found[0]) if found and found[0] in set(Reason) else None
