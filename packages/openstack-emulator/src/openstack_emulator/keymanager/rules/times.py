"""Rules whose times have the form of the key manager."""

from __future__ import annotations

from openstack_emulator.core.rules import Rules

SECONDS = "%Y-%m-%dT%H:%M:%S"


class KeyManagerRules(Rules):
    """Rules of the key manager."""

    def moment(self) -> str:
        """The time of day as the service writes it."""
        return self.records.timestamp(SECONDS)
