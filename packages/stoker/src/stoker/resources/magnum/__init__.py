"""Magnum: container clusters and their templates."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Magnum::Cluster": "cluster:Cluster",
        "OS::Magnum::ClusterTemplate": "cluster_template:ClusterTemplate",
        "OS::Magnum::BayModel": "cluster_template:BayModel",
    },
)
