"""Records as clients of the alarming service see them."""

from __future__ import annotations

from openstack_emulator.alarming.records import Alarm, HistoryEntry
from openstack_emulator.alarming.rules.alarms import shown_actions


def alarm_view(alarm: Alarm) -> dict[str, object]:
    """An alarm; its rule is named after its type."""
    shown = {name: value for name, value in alarm.to_json().items() if name not in ("id", "rule")}
    return {"alarm_id": alarm.id, **shown, **shown_actions(alarm), f"{alarm.type}_rule": alarm.rule}


def entry_view(entry: HistoryEntry) -> dict[str, object]:
    """An entry of the history; only those of evaluations have a severity."""
    shown = {name: value for name, value in entry.to_json().items() if name != "id"}
    if entry.severity is None:
        del shown["severity"]
    return {"event_id": entry.id, **shown}


def quotas_view(project: str, limit: int) -> dict[str, object]:
    """The quotas of a project."""
    return {"project_id": project, "quotas": [{"resource": "alarms", "limit": limit}]}
