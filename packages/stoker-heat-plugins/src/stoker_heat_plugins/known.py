"""The classes of plug-ins that have been loaded, by the name of the type."""

from __future__ import annotations

from typing import Any

CLASSES: dict[str, Any] = {}
