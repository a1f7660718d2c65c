"""Rules that write the time into records."""

from __future__ import annotations

from openstack_emulator.core.rules import Rules

SECONDS = "%Y-%m-%dT%H:%M:%S"


class TimedRules(Rules):
    """Rules with the time of day as the database service writes it."""

    def now(self) -> str:
        """The time of day, in whole seconds."""
        return self.records.timestamp(SECONDS)
