"""Requests about drift: differences between the recorded and the actual state of a stack's objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from stoker.contract.request import OfStack, Request
from stoker.contract.resources import StackId
from stoker.contract.views import JSONObject


@dataclass(frozen=True, kw_only=True)
class DetectDrift(OfStack[StackId]):
    """Start to detect drift of a stack, or of the resources with these names; the ID is that of the detection."""

    method = "drift_detect"
    names: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class DetectResourceDrift(OfStack[JSONObject]):
    """Detect the drift of one resource."""

    method = "drift_detect_resource"
    name: str


class DriftProgress(TypedDict):
    """How far a detection is: the numbers of objects and of compared ones, also in nested stacks, and the resources
    that differ (`path`, `type` and `status`), in the order in which they were found.
    """

    resources: int
    compared: int
    differing: Sequence[JSONObject]


class DriftStatus(TypedDict):
    """A detection; `drift` and the number of `drifted` resources are known once `status` is COMPLETE.

    `progress` is None before the first objects are read, and of detections that engines of earlier releases carry out.
    """

    id: str
    stack_id: str
    stack_name: str
    project_id: str
    status: str
    reason: str
    drift: str | None
    drifted: int
    time: float
    progress: NotRequired[DriftProgress | None]


@dataclass(frozen=True, kw_only=True)
class ShowDriftDetection(Request[DriftStatus]):
    """Show the progress or the result of a detection."""

    method = "drift_status"
    detection_id: str


@dataclass(frozen=True, kw_only=True)
class ListDrift(OfStack[Sequence[JSONObject]]):
    """List what the last detection found, in the order in which the resources are created."""

    method = "drift_list"


@dataclass(frozen=True, kw_only=True)
class AcceptDrift(OfStack[Sequence[JSONObject]]):
    """Record the live values of resources that differ from the cloud as those with which they were deployed.

    `resources` are paths such as `group.0.server`; None is the whole stack with its nested stacks.
    """

    method = "drift_accept"
    resources: Sequence[str] | None = None


class DriftWatch(TypedDict):
    """What engines do about the drift of a stack by themselves, and what the last look has found.

    `mode` is what applies, `chosen` what the stack has chosen, None for the operator's default. `interval` are the
    seconds between two looks, 0 for none. `status` and `time` are those of the last look, None before the first one,
    `age` the seconds since then. `drifted` and `uncompared` are the names of resources. `repair` is the outcome of the
    repair after that look, None without one.
    """

    mode: str
    chosen: str | None
    interval: int
    status: str | None
    time: float | None
    age: float | None
    drifted: Sequence[str]
    uncompared: Sequence[str]
    repair: str | None


@dataclass(frozen=True, kw_only=True)
class ShowDriftWatch(OfStack[DriftWatch]):
    """Show what engines do about drift by themselves, and the last look; no service is asked."""

    method = "drift_watch_show"


@dataclass(frozen=True, kw_only=True)
class ChangeDriftWatch(OfStack[DriftWatch]):
    """Choose what engines do about drift by themselves; None for the operator's default."""

    method = "drift_watch_change"
    mode: str | None
