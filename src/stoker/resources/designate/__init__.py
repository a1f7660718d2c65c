"""Designate: zones, and the record sets in them."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.designate.record_set import RecordSet
from stoker.resources.designate.zone import Zone

TYPES: tuple[type[ResourceType], ...] = (RecordSet, Zone)
