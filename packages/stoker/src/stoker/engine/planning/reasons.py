"""The reasons for the steps of a plan: a code for programs, and a sentence rendered from it for users.

All behavior depends on the codes. The sentences can be reworded freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from stoker.engine.planning.kinds import StepKind


class ReasonCode(StrEnum):
    """The code of a reason; stable names, part of the plan's JSON."""

    NEW = "new"
    NEVER_CREATED = "never-created"
    EXTERNAL = "external"
    EXTERNAL_GONE = "external-gone"
    IMPORTED = "imported"
    TYPE_CHANGES = "type-changes"
    IMMUTABLE = "immutable"
    CHECK_FAILED = "check-failed"
    ACTION_FAILED = "action-failed"
    DELETED_OUTSIDE = "deleted-outside"
    CHANGED_OUTSIDE = "changed-outside"
    UPDATE_UNFINISHED = "update-unfinished"
    ACTION_UNFINISHED = "action-unfinished"
    SUSPENDED = "suspended"
    REPLACED_WITH_STACK = "replaced-with-stack"
    UPDATED_WITH_STACK = "updated-with-stack"
    CHANGES = "changes"
    CHANGES_REQUIRE_REPLACEMENT = "changes-require-replacement"
    MAY_CHANGE = "may-change"
    TYPE_REQUIRES_REPLACEMENT = "type-requires-replacement"
    DELETED_FIRST = "deleted-first"
    RESTORED = "restored"
    NESTED_MAY_CHANGE = "nested-may-change"
    NESTED_CHANGES = "nested-changes"
    SUPERSEDED_BY_REPLACEMENT = "replaced"
    NOT_IN_TEMPLATE = "not-in-template"
    STACK_DELETED = "stack-deleted"
    CREATION_ROLLED_BACK = "creation-rolled-back"
    NESTED_STACK_DELETED = "nested-stack-deleted"
    OBJECT_RETAINED = "object-retained"
    SNAPSHOT_RETAINED = "snapshot-retained"
    OBJECT_EXTERNAL = "object-external"
    OBJECT_OF_ANOTHER = "object-of-another"
    FORGOTTEN = "forgotten"
    OBJECT_ABANDONED = "object-abandoned"
    RETAINED_BY_REQUEST = "retained-by-request"
    POLICY = "policy"
    DATA_LOST = "data-lost"
    SKIPPED = "skipped"


RETENTION = frozenset(
    {
        ReasonCode.OBJECT_RETAINED,
        ReasonCode.SNAPSHOT_RETAINED,
        ReasonCode.OBJECT_EXTERNAL,
        ReasonCode.OBJECT_OF_ANOTHER,
        ReasonCode.OBJECT_ABANDONED,
        ReasonCode.RETAINED_BY_REQUEST,
    }
)
"""Codes of reasons why a removal keeps objects in the cloud."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A resource that an unknown value depends on, and the plan's decision about it, if there is one.

    `why` is the first reason for the decision.
    """

    resource: str
    kind: StepKind | None = None
    why: Reason | None = None

    def phrase(self) -> str:
        """Return a phrase such as `net, which is replaced because the value of cidr changes`."""
        if self.kind is None or self.kind is StepKind.KEEP:
            return self.resource
        if self.kind in (StepKind.CREATE, StepKind.USE):
            return f"{self.resource}, which is new"
        because = f" because {self.why.cause()}" if self.why is not None else ""
        return f"{self.resource}, which is {_PARTICIPLES[self.kind]}{because}"


_PARTICIPLES = {
    StepKind.UPDATE: "updated",
    StepKind.REPLACE: "replaced",
    StepKind.REFUSE: "refused",
    StepKind.DELETE: "deleted",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason. `subject` is the property, action or type that it is about, `detail` an explanation from a service or
    a type. `awaited` are the resources that an unknown value depends on.
    """

    code: ReasonCode
    subject: str = ""
    detail: str = ""
    awaited: tuple[Requirement, ...] = ()

    def cause(self) -> str:
        """Return the reason as part of a longer sentence."""
        if self.code is ReasonCode.CHANGES_REQUIRE_REPLACEMENT:
            return f"the value of {self.subject} changes"
        return self.sentence()

    def sentence(self) -> str:
        """Return the reason as a sentence."""
        text = _SENTENCES[self.code].format(subject=self.subject, detail=self.detail)
        if self.code in _WITH_DETAIL and self.detail:
            text += f": {self.detail}"
        if self.awaited:
            text += f" with {' and '.join(each.phrase() for each in self.awaited)}"
        return text

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"code": self.code.value, "subject": self.subject or None, "message": self.sentence()}


_WITH_DETAIL = frozenset({ReasonCode.CHECK_FAILED, ReasonCode.ACTION_FAILED, ReasonCode.IMPORTED})

_SENTENCES = {
    ReasonCode.NEW: "it is new",
    ReasonCode.NEVER_CREATED: "it was never created",
    ReasonCode.EXTERNAL: "the existing object {subject} is used, and neither changed nor deleted (external_id)",
    ReasonCode.EXTERNAL_GONE: "it is not created again, as it does not belong to this stack (external_id)",
    ReasonCode.IMPORTED: "the existing object {subject} is imported",
    ReasonCode.TYPE_CHANGES: "its type changes from {subject} to {detail}",
    ReasonCode.IMMUTABLE: "{subject} cannot be changed",
    ReasonCode.CHECK_FAILED: "its check failed",
    ReasonCode.ACTION_FAILED: "its {subject} failed",
    ReasonCode.DELETED_OUTSIDE: "its object was deleted outside Stoker",
    ReasonCode.CHANGED_OUTSIDE: "{subject} changed outside Stoker",
    ReasonCode.UPDATE_UNFINISHED: "its update failed",
    ReasonCode.ACTION_UNFINISHED: "its {subject} is resumed",
    ReasonCode.SUSPENDED: "it is suspended",
    ReasonCode.REPLACED_WITH_STACK: "it is replaced whenever its stack is updated",
    ReasonCode.UPDATED_WITH_STACK: "it is updated whenever its stack is",
    ReasonCode.CHANGES: "the value of {subject} changes",
    ReasonCode.CHANGES_REQUIRE_REPLACEMENT: "the value of {subject} changes, which needs a new resource",
    ReasonCode.MAY_CHANGE: "{subject} may change",
    ReasonCode.TYPE_REQUIRES_REPLACEMENT: "{detail}",
    ReasonCode.DELETED_FIRST: "the old object is deleted first, since its service allows only one of them",
    ReasonCode.RESTORED: "it keeps the {subject} that a snapshot restored, as long as it is not replaced, although the "
    "template has another value",
    ReasonCode.NESTED_MAY_CHANGE: "its template, files or environment may change",
    ReasonCode.NESTED_CHANGES: "its nested stack changes",
    ReasonCode.SUPERSEDED_BY_REPLACEMENT: "it is replaced",
    ReasonCode.NOT_IN_TEMPLATE: "it is no longer in the template",
    ReasonCode.STACK_DELETED: "the stack is deleted",
    ReasonCode.CREATION_ROLLED_BACK: "the creation of the stack is rolled back",
    ReasonCode.NESTED_STACK_DELETED: "its stack is deleted",
    ReasonCode.OBJECT_RETAINED: "its object is retained ({detail} {subject})",
    ReasonCode.SNAPSHOT_RETAINED: "a snapshot of its object is retained ({detail} {subject})",
    ReasonCode.FORGOTTEN: "its object stays, and belongs to no resource any more (`removed`)",
    ReasonCode.POLICY: "the update policy {subject} forbids it: {detail}",
    ReasonCode.DATA_LOST: "data loss: {subject}",
    ReasonCode.SKIPPED: "it is skipped, as requested",
    ReasonCode.OBJECT_EXTERNAL: "its object is retained, as it does not belong to this stack (external_id)",
    ReasonCode.OBJECT_OF_ANOTHER: "its object is retained, as it belongs to another resource, too",
    ReasonCode.OBJECT_ABANDONED: "its object is retained, as the resource is abandoned",
    ReasonCode.RETAINED_BY_REQUEST: "its object is retained, as requested",
}
