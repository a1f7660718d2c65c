"""Previews: what a request would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from stoker.contract.request import ADDED, OfStack, Request
from stoker.contract.stacks import NewStack, PatchRequest, UpdateRequest
from stoker.contract.views import (
    JSONObject,
    ResourceView,
    StackSummary,
)


class StackPreview(StackSummary):
    """A stack that a request would create. The resources of a nested stack are a list."""

    resources: Sequence[ResourceView | Sequence[Any]]
    plan: JSONObject


class JointDeployment(TypedDict, total=False):
    """What the other stacks of a deployment of several will have done before the stack of a preview.

    The values of `parameters` come from outputs that are not known yet, and `exports` will be there, without a known
    value. Exports that are `released` are no longer imported or exported by others. The stacks with the names `earlier`
    are deployed before, and have taken the resources that entries move to them.
    """

    parameters: Sequence[str]
    exports: Sequence[str]
    released: Sequence[str]
    earlier: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class PreviewStack(NewStack, Request[StackPreview]):
    """Show the stack that a request would create; `joint_deployment` says with which others.

    `plan_policies` are policies to try, as YAML by the names of their files.
    """

    method = "stack_preview"
    joint_deployment: JointDeployment | None = field(default=None, metadata=ADDED)
    plan_policies: Mapping[str, str] | None = field(default=None, metadata=ADDED)


class ChangesPreview(TypedDict):
    """What an update would do: the resources by kind of change, and the plan."""

    resource_changes: Mapping[str, Sequence[ResourceView]]
    plan: JSONObject


@dataclass(frozen=True, kw_only=True)
class PreviewUpdate(UpdateRequest[ChangesPreview]):
    """Show what `UpdateStack` would do; `plan_policies` are those of `PreviewStack`."""

    method = "stack_update_preview"
    show_nested: bool = False
    joint_deployment: JointDeployment | None = field(default=None, metadata=ADDED)
    plan_policies: Mapping[str, str] | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class PreviewPatch(PatchRequest[ChangesPreview]):
    """Show what `PatchStack` would do. What a `detection` of drift of the stack has found is not read again."""

    method = "stack_patch_preview"
    show_nested: bool = False
    detection: str | None = field(default=None, metadata=ADDED)


class SnapshotName(TypedDict):
    """A snapshot that is deleted with its stack."""

    id: str
    name: str | None


class ActionPreview(TypedDict):
    """What an action would do: the plan, and the snapshots that a deletion deletes."""

    plan: JSONObject
    snapshots: Sequence[SnapshotName]


@dataclass(frozen=True, kw_only=True)
class PreviewAction(OfStack[ActionPreview]):
    """Show what `delete`, `rollback`, `cancel_update`, `retry` or `restore` (of `snapshot_id`) would do.

    `retain` and `force` are those of `DeleteStack`, `skip` is that of `ActOnStack`; `refresh` says which objects the
    cloud is asked for (`Refresh`), None means those that the action changes or deletes, and those that they depend on.
    """

    method = "stack_action_preview"
    action: str
    snapshot_id: str | None = None
    retain: Sequence[str] = field(default=(), metadata=ADDED)
    force: bool = field(default=False, metadata=ADDED)
    refresh: str | None = field(default=None, metadata=ADDED)
    skip: Sequence[str] = field(default=(), metadata=ADDED)
