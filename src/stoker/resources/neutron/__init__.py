"""Networks, and what is attached to them (facts: behaviour/neutron.yaml)."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.subnet import Subnet

TYPES: tuple[type[ResourceType], ...] = (
    Net,
    Subnet,
)
