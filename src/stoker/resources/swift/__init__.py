"""Swift: containers of the object store."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.swift.container import Container

TYPES: tuple[type[ResourceType], ...] = (Container,)
