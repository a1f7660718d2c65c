"""Blazar: hosts that can be reserved, and leases."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Blazar::Host": "host:Host",
        "OS::Blazar::Lease": "lease:Lease",
    },
)
