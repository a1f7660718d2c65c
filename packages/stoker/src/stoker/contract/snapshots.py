"""Requests about snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from stoker.contract.request import ADDED, OfStack
from stoker.contract.views import JSONObject


class SnapshotView(TypedDict):
    """A snapshot; `data` is the document of the stack once it is complete."""

    id: str
    name: str | None
    stack_id: str
    action: str
    status: str
    status_reason: str
    data: JSONObject | None
    created_at: float


@dataclass(frozen=True, kw_only=True)
class CreateSnapshot(OfStack[SnapshotView]):
    """Start to take a snapshot."""

    method = "snapshot_create"
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class ListSnapshots(OfStack[Sequence[SnapshotView]]):
    """List the stack's snapshots, oldest first."""

    method = "snapshot_list"


@dataclass(frozen=True, kw_only=True)
class ShowSnapshot(OfStack[SnapshotView]):
    """Show a snapshot with its data."""

    method = "snapshot_show"
    snapshot_id: str


@dataclass(frozen=True, kw_only=True)
class DeleteSnapshot(OfStack[None]):
    """Start to delete a snapshot."""

    method = "snapshot_delete"
    snapshot_id: str


@dataclass(frozen=True, kw_only=True)
class RestoreSnapshot(OfStack[None]):
    """Start to restore a snapshot; with the digest of a plan, only as the plan says.

    `refresh` is that of `ActOnStack`.
    """

    method = "snapshot_restore"
    snapshot_id: str
    plan_digest: str | None = field(default=None, metadata=ADDED)
    refresh: str | None = field(default=None, metadata=ADDED)
