"""The service for container clusters: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.container_infra.records import Cluster
from openstack_emulator.container_infra.rules.certificates import Certificates
from openstack_emulator.container_infra.rules.clusters import Clusters
from openstack_emulator.container_infra.rules.nodegroups import NodeGroups
from openstack_emulator.container_infra.rules.quotas import Quotas
from openstack_emulator.container_infra.rules.templates import Templates
from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.core.objects import missing


class ContainerClusters(Records):
    """Cluster templates, clusters with their node groups and certificate authorities, and quotas."""

    service = "magnum"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        rows = self.table("clusters", Cluster, "project_id", "cluster_template_id", missing=missing("cluster"))
        self.quotas = Quotas(self)
        self.templates = Templates(self, rows)
        self.groups = NodeGroups(self)
        self.clusters = Clusters(self, rows, self.templates, self.groups, self.quotas)
        self.certificates = Certificates(self, rows)
