"""Trove: database servers, alone and in clusters."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.trove.cluster import Cluster
from stoker.resources.trove.instance import Instance

TYPES: tuple[type[ResourceType], ...] = (Cluster, Instance)
