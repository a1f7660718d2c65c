"""Inventories of Manila's types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ROWS: Mapping[str, Mapping[str, Any]] = {}
