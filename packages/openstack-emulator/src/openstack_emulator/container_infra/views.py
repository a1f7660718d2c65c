"""Cluster templates, clusters, node groups and quotas as clients see them; `base` is the URL of the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.container_infra.records import Cluster, ClusterTemplate, NodeGroup, Quota
from openstack_emulator.container_infra.rules.composition import ContainerClusters
from openstack_emulator.container_infra.rules.drivers import DRIVERS
from openstack_emulator.container_infra.rules.nodegroups import addresses_of, count_of
from openstack_emulator.core.objects import links
from openstack_emulator.core.typed import TypedRecord

View = dict[str, Any]
_HIDDEN = frozenset({"id", "faults"})


def _shown(record: TypedRecord) -> View:
    return {name: value for name, value in record.to_json().items() if name not in _HIDDEN and name[0] != "_"}


def template_view(base: str, template: ClusterTemplate) -> View:
    """A cluster template."""
    driver = DRIVERS[template.server_type, template.cluster_distro, template.coe]
    return {**_shown(template), "driver": driver, "links": links(base, "clustertemplates", template.id)}


def cluster_view(service: ContainerClusters, base: str, cluster: Cluster) -> View:
    """A cluster."""
    masters, workers = service.groups.masters(cluster), service.groups.workers(cluster)
    return {
        **_shown(cluster),
        "node_count": count_of(workers),
        "master_count": count_of(masters),
        "node_addresses": addresses_of(workers),
        "master_addresses": addresses_of(masters),
        **_compared(cluster.labels, service.clusters.template_of(cluster).labels),
        "links": links(base, "clusters", cluster.id),
    }


def _compared(labels: Mapping[str, str], inherited: Mapping[str, str]) -> View:
    """How labels differ from those that might be inherited."""
    return {
        "labels_overridden": {name: value for name, value in inherited.items() if labels.get(name, value) != value},
        "labels_added": {name: value for name, value in labels.items() if name not in inherited},
        "labels_skipped": {name: value for name, value in inherited.items() if name not in labels},
    }


def group_view(base: str, group: NodeGroup) -> View:
    """A node group."""
    return {
        **_shown(group),
        "id": group.number,
        "labels_added": {},
        "labels_overridden": {},
        "labels_skipped": {},
        "node_labels": {},
        "node_taints": [],
        "links": links(base, f"clusters/{group.cluster_id}/nodegroups", group.id),
    }


def quota_view(base: str, quota: Quota) -> View:
    """A quota."""
    return {**_shown(quota), "id": quota.number}


def certificate_view(base: str, cluster: Cluster, pem: str) -> View:
    """A certificate of a cluster, or of its authority."""
    return {"cluster_uuid": cluster.id, "pem": pem, "links": links(base, "certificates", cluster.id)}
