"""Magnum: container clusters and their templates."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.magnum.cluster import Cluster
from stoker.resources.magnum.cluster_template import BayModel, ClusterTemplate

TYPES: tuple[type[ResourceType], ...] = (Cluster, ClusterTemplate, BayModel)
