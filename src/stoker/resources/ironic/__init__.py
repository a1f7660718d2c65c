"""Ironic: ports of bare-metal machines."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.ironic.port import Port

TYPES: tuple[type[ResourceType], ...] = (Port,)
