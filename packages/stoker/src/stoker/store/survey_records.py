"""Records of what a project looks at later: comparisons, scans, templates, and changes that are not made yet."""

from __future__ import annotations

from dataclasses import dataclass

from stoker.store.records import Record


@dataclass(slots=True)
class ChangeSet(Record):
    """A set of changes to a stack for review before execution. `kind` is CREATE for a stack that does not exist yet.

    `base` is the stack's operation at the time of creation: if the stack has another one, the change set is outdated.
    `operation` is the one that executed the changes. `body` is sealed JSON: the request, and the changes.
    """

    id: str
    project_id: str
    name: str
    kind: str
    stack_id: str
    stack_name: str
    description: str
    status: str
    reason: str
    base: str | None
    operation: str | None
    body: str
    created_at: float


@dataclass(slots=True)
class DriftDetection(Record):
    """A drift detection: the differences between a stack's objects and their records (`body`: sealed JSON).

    `engine` is the one that carries it out; `status` is IN_PROGRESS until it has finished. `result` is the drift status
    of the whole stack; None before, and in rows of earlier releases.
    """

    id: str
    stack_id: str
    project_id: str
    engine: str
    status: str
    reason: str
    body: str
    created_at: float
    result: str | None = None


@dataclass(slots=True)
class ResourceScan(Record):
    """A scan of a project's objects. `scanning` is the project until it has ended, None afterwards.

    `engine` is the one that reads the objects. `types` is the JSON list of the types that are scanned, `filtered` that
    of the patterns that chose them, None for all. `body` is sealed JSON: what was found, None before the scan has ended
    and after it has expired.
    """

    id: str
    project_id: str
    scanning: str | None
    engine: str
    status: str
    reason: str
    types: str
    filtered: str | None
    types_read: int
    objects_read: int
    body: str | None
    created_at: float
    ended_at: float | None


@dataclass(slots=True)
class GeneratedTemplate(Record):
    """A template that is generated from objects of a project, by name.

    `engine` is the one that generates it; `status` is CREATE_IN_PROGRESS or UPDATE_IN_PROGRESS until it has finished.
    `number` counts its resources. `body` is sealed JSON: what was asked for, and the template.
    """

    id: str
    project_id: str
    name: str
    engine: str
    status: str
    reason: str
    number: int
    body: str
    created_at: float
    updated_at: float


@dataclass(slots=True)
class StackRefactor(Record):
    """A refactoring of stacks: moves of resources between stacks, which are examined first, and carried out later.

    `status` is CREATE_COMPLETE, or CREATE_FAILED with a `reason` if it would do more than move. `body` is sealed JSON:
    the definitions, the moves, and the record that they were made from.
    """

    id: str
    project_id: str
    description: str
    status: str
    reason: str
    executed_at: float | None
    body: str
    created_at: float


@dataclass(slots=True)
class ChangeRequest(Record):
    """A change of a stack that was refused until it is approved. `stack_id` is the root, None for a new stack.

    `digest` is that of its plan. `pending` identifies stack and plan, uniquely, while the request is open. `emergency`
    is JSON: who has used break-glass, when, and why. `operation` is the operation that has used it. `body` is sealed
    JSON: the plan, and what it needs.
    """

    id: str
    project_id: str
    stack_id: str | None
    stack_name: str
    action: str
    digest: str
    pending: str | None
    user_id: str | None
    user_name: str | None
    created_at: float
    expires_at: float
    body: str
    emergency: str | None = None
    operation: str | None = None
