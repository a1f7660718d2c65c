"""Notifications on the operator's message bus: `orchestration.stack.*`, `orchestration.autoscaling.*`.

They have the format of Heat's notifications; docs/how-to/listen.md describes it. The state is the recorded one; the
stack's name, owner, tags and times are those of the time of sending.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.base.ids import arn
from stoker.plugins.resource import ScalingNotice
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, STACK_TYPE, Event, Stack
from stoker.template.template import NO_DESCRIPTION
from stoker_foundation.clock import isoformat

_PHASES = {IN_PROGRESS: "start", COMPLETE: "end", FAILED: "error"}


def notification_of(event: Event) -> dict[str, object] | None:
    """Return the notification to record about a stack's own event; None for events of resources."""
    if event.resource_type != STACK_TYPE or event.physical_id != event.stack_id:
        return None
    return {
        "event_type": f"orchestration.stack.{event.action.lower()}.{_PHASES[event.status]}",
        "error": event.status == FAILED,
        "state": f"{event.action}_{event.status}",
        "state_reason": event.reason,
    }


def scaling_notification(stack: Stack, notice: ScalingNotice) -> dict[str, object]:
    """Return the notification to record about a scaling group in a stack."""
    return {
        "event_type": f"orchestration.autoscaling.{notice.phase}",
        "error": notice.phase == "error",
        "state": f"{stack.action}_{stack.status}",
        "state_reason": stack.reason,
        "facts": dict(notice.facts),
    }


def drift_notification(stack: Stack, status: str, drifted: Sequence[str]) -> dict[str, object]:
    """Return the notification to record that a look has found drift of a stack, or none any more.

    `status` is the drift status, `drifted` are the names of the stack's resources that differ.
    """
    return {
        "event_type": f"orchestration.stack.drift.{'start' if drifted else 'end'}",
        "error": False,
        "state": f"{stack.action}_{stack.status}",
        "state_reason": stack.reason,
        "facts": {"drift_status": status, "drifted": list(drifted)},
    }


def payload_of(stack: Stack, tags: Sequence[str], recorded: Mapping[str, Any]) -> dict[str, object]:
    """Return the payload of a recorded notification. As in Heat, `user_id` is a name."""
    return {
        "tenant_id": stack.project_id,
        "user_id": stack.user_name,
        "user_identity": stack.user_id,
        "username": stack.user_name,
        "stack_identity": arn(stack.project_id, stack.name, stack.id),
        "stack_name": stack.name,
        "state": recorded["state"],
        "state_reason": recorded["state_reason"],
        "create_at": isoformat(stack.created_at),
        "description": stack.description or NO_DESCRIPTION,
        "updated_at": isoformat(stack.updated_at) if stack.updated_at is not None else None,
        "tags": list(tags),
        **recorded.get("facts", {}),
    }
