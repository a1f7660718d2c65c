"""Recorded answers without what differs each time: IDs, times, names and addresses become fixed ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from socket import gethostname
from typing import Any

BASE = "https://orchestration.example.com"
_PROJECT = "5c9a2a1e3f0d4d0f8b7f6a1f9d2c4e11"
_SHORT = 2
_ID = re.compile(r"\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})\b")
_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?")
_SEALED = re.compile(r"\bgAAAAA[\w=-]+")
_NAME = re.compile(r"\b(web|other)-(\w+)-[a-z2-7]{12}\b")


class Anonymizer:
    """Replaces values in the order in which they appear; `addresses` maps addresses to those that the manual shows."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self._addresses = addresses
        self._ids: dict[str, str] = {}

    def project(self, project_id: str) -> None:
        """Show a project with the ID that all examples have."""
        self._ids[project_id] = _PROJECT

    def plain(self, value: Any) -> Any:
        """Return a value with fixed IDs and times, and with lists shortened to two items."""
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, list):
            return [self.plain(item) for item in value[:_SHORT]]
        if isinstance(value, dict):
            return {key: self.plain(item) for key, item in value.items()}
        return value

    def _string(self, value: str) -> str:
        for address, shown in self._addresses.items():
            value = value.replace(address, shown)
        value = _SEALED.sub("gAAAAAB…", value.replace(gethostname(), "controller1"))
        value = _NAME.sub(r"\1-\2-7r5ua2kmzp3q", value)
        return _TIME.sub("2026-01-31T12:00:00", _ID.sub(lambda found: self._fixed(found[0]), value))

    def _fixed(self, found: str) -> str:
        if found == _PROJECT:
            return found
        made = f"{len(self._ids):08x}-6c1f-4f3e-9d2b-0a7c5e8b4d10"
        return self._ids.setdefault(found, made if "-" in found else made.replace("-", ""))
