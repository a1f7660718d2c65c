"""Ironic: ports of bare-metal machines."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Ironic::Port": "port:Port",
    },
)
