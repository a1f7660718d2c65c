"""Requests about scans of the objects of a project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from stoker.contract.request import Request


class ScanIdentity(TypedDict):
    """Which scan it is."""

    id: str


class ScanView(TypedDict):
    """A scan. `status` is IN_PROGRESS, COMPLETE, FAILED or EXPIRED; `types_read` of the `types` are done.

    `filters` are the patterns that chose the types, null for all. `objects` counts what the scan lists, 0 before it has
    ended. Times are seconds since the epoch.
    """

    id: str
    project_id: str
    status: str
    reason: str
    filters: Sequence[str] | None
    types: Sequence[str]
    types_read: int
    objects_read: int
    objects: int
    started_at: float
    ended_at: float | None


class ScannedObjectView(TypedDict):
    """An object that a scan has found; `managed` tells whether a stack owns it."""

    resource_type: str
    physical_resource_id: str
    managed: bool


class ScannedObjects(TypedDict):
    """A page of the objects of a scan; `total` counts those of all pages."""

    objects: Sequence[ScannedObjectView]
    total: int


@dataclass(frozen=True, kw_only=True)
class StartScan(Request[ScanIdentity]):
    """Start to scan the caller's project for objects of all types, or of those that fit one of the patterns."""

    method = "resource_scan_start"
    filters: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class ShowScan(Request[ScanView]):
    """Show the progress and the result of a scan."""

    method = "resource_scan_show"
    scan_id: str


@dataclass(frozen=True, kw_only=True)
class ListScans(Request[Sequence[ScanView]]):
    """List the scans of the project, newest first; their `objects` are not counted."""

    method = "resource_scan_list"


@dataclass(frozen=True, kw_only=True)
class ListScannedObjects(Request[ScannedObjects]):
    """List `limit` objects of a completed scan, from the number `start` on.

    `tag_key` and `tag_value` are those of one tag. With `related_to`, types with IDs, only objects that refer to one of
    these, or that one of these refers to.
    """

    method = "resource_scan_objects"
    scan_id: str
    start: int
    limit: int
    identifier: str | None = None
    type_prefix: str | None = None
    tag_key: str | None = None
    tag_value: str | None = None
    related_to: Sequence[tuple[str, str]] | None = None
