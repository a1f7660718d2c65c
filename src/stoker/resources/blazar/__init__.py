"""Blazar: hosts that can be reserved, and leases."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.blazar.host import Host
from stoker.resources.blazar.lease import Lease

TYPES: tuple[type[ResourceType], ...] = (Host, Lease)
