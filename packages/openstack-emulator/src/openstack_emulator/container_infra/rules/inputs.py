"""What requests want to be created, with values that were checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class NewCluster:
    """A cluster; `overriding` are fields that are the template's, unless they are given here.

    references: the fields of the request, some of which name objects of other services.
    """

    name: str | None
    keypair: str | None
    discovery_url: str | None
    create_timeout: int
    labels: dict[str, str] | None
    merge_labels: bool
    masters: int
    workers: int
    overriding: Mapping[str, Any]
    references: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class NewNodeGroup:
    """A node group that is no master; the cluster and its template have the rest. references: see `NewCluster`."""

    name: str
    role: str
    node_count: int
    min_node_count: int
    max_node_count: int | None
    flavor_id: str | None
    image_id: str | None
    docker_volume_size: int | None
    labels: dict[str, str] | None
    merge_labels: bool
    references: Mapping[str, object]


def merged_labels(inherited: Mapping[str, str], own: Mapping[str, str] | None, merge: bool) -> dict[str, str]:
    """The labels of a new object: its own, if it has any, or those that it inherits, or both."""
    if merge:
        return {**inherited, **(own or {})}
    return dict(inherited if own is None else own)
