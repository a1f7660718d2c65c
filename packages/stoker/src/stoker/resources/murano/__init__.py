"""Murano: environments and packages. These types are Stoker's own."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Murano::Environment": "environment:Environment",
        "OS::Murano::Package": "package:Package",
    },
)
