"""Rows for tests, with arbitrary values unless given."""

from __future__ import annotations

from typing import Any

from stoker.base.ids import new_id
from stoker.store.records import EngineRecord, Event, Operation, Stack


def stack(name: str = "web", **changes: Any) -> Stack:
    identifier = new_id()
    values: dict[str, Any] = {
        "id": identifier, "name": name, "live_name": name, "project_id": "p", "user_id": "u", "user_name": "demo",
        "parent_id": None, "parent_resource": None, "root_id": identifier, "depth": 0, "action": "CREATE",
        "status": "IN_PROGRESS", "reason": "", "description": "", "created_at": 1.0, "updated_at": None,
        "deleted_at": None, "timeout_minutes": None, "disable_rollback": True, "inputs": "i", "good_inputs": None,
        "operation": None, "credential": None, "user_project_id": None,
    }  # fmt: skip
    return Stack(**{**values, **changes})


def operation(stack_id: str, **changes: Any) -> Operation:
    values: dict[str, Any] = {
        "id": new_id(), "stack_id": stack_id, "parent_operation": None, "parent_resource": None, "round": 0,
        "action": "CREATE", "status": "RUNNING", "reason": "", "inputs": "i", "request_id": None, "user_id": None,
        "created_at": 1.0, "started_at": None, "finished_at": None, "deadline": None, "owner": "me", "epoch": 1,
        "plan": None,
    }  # fmt: skip
    return Operation(**{**values, **changes})


def event(stack_id: str, reason: str, time: float = 1.0) -> Event:
    return Event(new_id(), stack_id, "r", "T", None, "CREATE", "COMPLETE", reason, None, time)


def engine(identifier: str, seen_at: float, **changes: Any) -> EngineRecord:
    values: dict[str, Any] = {
        "id": identifier, "host": "h", "process": 1, "version": "1", "started_at": 0.0, "seen_at": seen_at,
        "lease": 15.0, "stopped_at": None,
    }  # fmt: skip
    return EngineRecord(**{**values, **changes})
