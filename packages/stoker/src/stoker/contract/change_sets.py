"""Requests about change sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

from stoker.contract.request import ADDED, Request, sent_as
from stoker.contract.stacks import SettingsChange, StackPatch
from stoker.contract.views import JSONObject


class ChangeSetIdentity(TypedDict):
    """Which change set it is."""

    id: str
    name: str
    stack_id: str
    stack_name: str
    project_id: str


class ChangeSetView(ChangeSetIdentity):
    """A change set in a list; `kind` is CREATE, UPDATE or IMPORT."""

    kind: str
    description: str
    status: str
    status_reason: str
    execution_status: str
    created_at: float


REVERT_DRIFT = "REVERT_DRIFT"
"""The deployment mode of change sets that bring what differs in the cloud back to the template."""


KNOWN_AFTER_APPLY = "{{changeSet:KNOWN_AFTER_APPLY}}"
"""A value that is only known when the change set is executed, as AWS writes it."""


class ChangeSetDetails(ChangeSetView):
    """A change set with its plan and the `costs` of that.

    `physical_ids` has the objects that its steps change, by the steps' keys. `values` has the values of each resource,
    by the keys of the steps (see `operations.change_set_values`), `looked_at` when the cloud was asked for them.
    `drift` is the drift status of the stack, None unless all of it was looked at.
    """

    plan: JSONObject
    physical_ids: Mapping[str, str | None]
    parameters: JSONObject
    tags: Sequence[str]
    template: JSONObject
    settings: JSONObject
    nested: bool
    deployment_mode: NotRequired[str | None]
    drift: NotRequired[str | None]
    values: NotRequired[JSONObject]
    looked_at: NotRequired[float | None]
    costs: NotRequired[JSONObject | None]


class FutureStack(TypedDict):
    """A stack that has change sets and was never created."""

    id: str
    name: str
    project_id: str
    created_at: float


@dataclass(frozen=True, kw_only=True)
class CreateChangeSet(Request[ChangeSetIdentity]):
    """Plan a new stack (`kind` CREATE) or a change of a stack (UPDATE), and keep that under `name`.

    A change set of the kind IMPORT creates the stack, or changes it if it exists, and does nothing but the imports of
    its environment. `settings` are those that the stack will have. With `nested`, the plan includes nested stacks. The
    `deployment_mode` REVERT_DRIFT is for changes: the whole stack is compared with the cloud, and what differs is
    brought back; the change set is executed only as long as that is what happens. With `import_existing`, existing
    objects with the names of new resources are imported as these.
    """

    method = "change_set_create"
    stack_name: str
    name: str
    kind: str
    description: str | None
    body: StackPatch
    settings: SettingsChange = field(metadata=sent_as("laid_down"))
    nested: bool = False
    deployment_mode: str | None = field(default=None, metadata=ADDED)
    import_existing: bool = field(default=False, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class ShowChangeSet(Request[ChangeSetDetails]):
    """Show a change set, by its name and that of its stack, or by its ID or ARN."""

    method = "change_set_show"
    name: str
    stack: str | None = None


@dataclass(frozen=True, kw_only=True)
class ListChangeSets(Request[Sequence[ChangeSetView]]):
    """List a stack's change sets, oldest first."""

    method = "change_set_list"
    stack: str


@dataclass(frozen=True, kw_only=True)
class ExecuteChangeSet(Request[None]):
    """Start what a change set contains."""

    method = "change_set_execute"
    name: str
    stack: str | None = None
    disable_rollback: bool | None = None


@dataclass(frozen=True, kw_only=True)
class DeleteChangeSet(Request[None]):
    """Delete a change set."""

    method = "change_set_delete"
    name: str
    stack: str | None = None


@dataclass(frozen=True, kw_only=True)
class ListFutureStacks(Request[Sequence[FutureStack]]):
    """List the stacks that have change sets and were never created: all, or the one of this name or ID."""

    method = "stack_to_be"
    stack: str | None = None


@dataclass(frozen=True, kw_only=True)
class ForgetFutureStack(Request[None]):
    """Delete all change sets of a stack that was never created."""

    method = "stack_to_be_forget"
    stack: str
