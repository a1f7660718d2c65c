"""Trove: database servers, alone and in clusters."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Trove::Cluster": "cluster:Cluster",
        "OS::Trove::Instance": "instance:Instance",
    },
)
