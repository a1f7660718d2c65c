"""What the alarming service keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.typed import TypedRecord


@dataclass(slots=True, kw_only=True, eq=False)
class Alarm(TypedRecord):
    """An alarm.

    rule, time_constraints: as requests have them, with defaults; rules.kinds has what they mean. The actions are URLs,
    with the trusts that they need: see rules.notifications.
    """

    project_id: str
    user_id: str
    state: str
    state_timestamp: str
    state_reason: str
    timestamp: str
    evaluate_timestamp: str
    name: str
    type: str
    description: str
    enabled: bool
    repeat_actions: bool
    severity: str
    time_constraints: list[dict[str, Any]]
    ok_actions: list[str]
    alarm_actions: list[str]
    insufficient_data_actions: list[str]
    rule: dict[str, Any]

    @property
    def actions(self) -> Mapping[str, list[str]]:
        """The actions by the state that they are called in."""
        return {
            "ok": self.ok_actions,
            "alarm": self.alarm_actions,
            "insufficient data": self.insufficient_data_actions,
        }

    @property
    def all_actions(self) -> list[str]:
        """The actions of all states."""
        return [url for urls in self.actions.values() for url in urls]


@dataclass(slots=True, kw_only=True, eq=False)
class HistoryEntry(TypedRecord):
    """What happened to an alarm; `detail` is JSON.

    project_id, user_id: who did it; no user, if it was an evaluation, whose entries have the alarm's severity.
    on_behalf_of: the alarm's project.
    """

    alarm_id: str
    type: str
    detail: str
    user_id: str | None
    project_id: str | None
    on_behalf_of: str
    timestamp: str
    severity: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Limit(TypedRecord):
    """How many alarms the project with this id may have; -1 for any number."""

    alarms: int


@dataclass(slots=True, kw_only=True, eq=False)
class Marker(TypedRecord):
    """Something is as the id says: `scheduled`, there will be an evaluation."""
