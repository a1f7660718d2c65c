"""Zun: single containers."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.zun.container import Container

TYPES: tuple[type[ResourceType], ...] = (Container,)
