"""Data that several operations return: stacks, resources, events. Times are seconds since the epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypeAlias, TypedDict

JSONObject: TypeAlias = Mapping[str, Any]
"""A JSON object that is passed through, or whose content is a user's."""


NO_REASON = "state changed"
"""The reason of a state that has none of its own: a constant of Heat's API, which clients compare."""


class FailureView(TypedDict):
    """Why something has failed: the class of the error, the names from the stack down to the resource, and the message.

    `path` is empty if an operation failed for another reason than a resource's failure.
    """

    kind: str
    path: Sequence[str]
    message: str


class StackIdentity(TypedDict):
    """Which stack it is."""

    id: str
    name: str
    project_id: str


class LockView(TypedDict):
    """Who has locked a tree of stacks, since when, and why."""

    reason: str
    user_id: str | None
    user_name: str | None
    since: float


class StackView(StackIdentity):
    """A stack without what only its template says. `owner` and `parent_id` are the ID of the stack that contains it.

    In lists and descriptions, `imported` is true if the last creation or update was an import change set. `locked` is
    the lock of a root stack. `operation` is the ID of the operation that a request for it has begun.
    """

    description: str
    owner: str | None
    user_name: str | None
    action: str
    status: str
    status_reason: str
    created_at: float | None
    updated_at: float | None
    deleted_at: float | None
    disable_rollback: bool
    timeout_mins: int | None
    parent_id: str | None
    root_id: str
    stack_user_project_id: str | None
    tags: Sequence[str] | None
    imported: NotRequired[bool]
    locked: NotRequired[LockView | None]
    operation: NotRequired[str]


class SettingsView(TypedDict):
    """The settings of a tree of stacks."""

    protected: bool
    policy: JSONObject | None
    notification_topics: Sequence[str]
    capabilities: Sequence[str]


class TreeSettings(SettingsView):
    """The settings of a tree of stacks, with its lock."""

    locked: NotRequired[LockView | None]


class StackSummary(StackView, SettingsView):
    """A stack with what its template and its parameters say."""

    template_description: str
    parameters: JSONObject


class LastDetection(TypedDict):
    """The drift status of a stack when it was last compared with the cloud, and the time."""

    status: str
    time: float


class StackDetails(StackSummary):
    """A stack in full; `outputs` only if they were asked for. `exports` has the name of each exported output.

    `failure` is that of the operation which has left the stack in its state, `last_look` the drift when it was last
    compared with the cloud.
    """

    exports: Mapping[str, str]
    failure: NotRequired[FailureView | None]
    outputs: NotRequired[Sequence[JSONObject] | None]
    last_look: NotRequired[LastDetection | None]


class StackLocation(TypedDict):
    """Where the resources of a stack are. `parent_resource` is the resource that contains the stack."""

    stack_id: str
    stack_name: str
    project_id: str
    parent_resource: str | None
    root_stack_id: str


class ResourceRow(TypedDict):
    """A resource in a list; `nested_id` and `nested_name` are those of the stack nested behind it."""

    name: str
    type: str
    action: str
    status: str
    status_reason: str
    physical_id: str | None
    created_at: float | None
    updated_at: float | None
    required_by: Sequence[str]
    stack_id: str
    nested_id: str | None
    nested_name: str | None
    failure: NotRequired[FailureView | None]
    attributes: NotRequired[JSONObject]
    description: NotRequired[str]
    metadata: NotRequired[JSONObject]
    properties: NotRequired[JSONObject]


class ResourceView(ResourceRow, StackLocation):
    """A resource with its place."""


class DriftSummary(TypedDict):
    """Whether a stack has drifted, and the time of the last detection."""

    status: str
    time: float | None


class EventView(TypedDict):
    """An event; with the properties of the resource at that time if they were asked for.

    `within` are the names of the resources whose nested stacks contain the event's stack, from the stack that was asked
    for; None if they are not known. `cause` are the names from the event's stack down to the resource whose failure the
    event reports. `hook` is the hook that the event is about, `hook_held` whether it holds the resource from then on.
    `reason_code` is an `EventCode`.
    """

    id: str
    stack_id: str
    stack_name: str
    project_id: str
    resource_name: str
    resource_type: str
    action: str
    status: str
    status_reason: str
    physical_id: str | None
    time: float
    root_stack_id: str
    root_stack_name: str
    within: NotRequired[Sequence[str] | None]
    cause: NotRequired[Sequence[str] | None]
    hook: NotRequired[str | None]
    hook_held: NotRequired[bool | None]
    reason_code: NotRequired[str | None]
    resource_properties: NotRequired[JSONObject]
