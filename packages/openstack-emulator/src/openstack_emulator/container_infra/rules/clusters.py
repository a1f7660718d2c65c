"""Clusters and their states: what begins with a request ends some seconds later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from openstack_emulator.container_infra.records import Cluster, ClusterTemplate, NodeGroup, Nodes
from openstack_emulator.container_infra.rules.drivers import API_PORTS, VERSIONS, check_docker_volume
from openstack_emulator.container_infra.rules.inputs import NewCluster, NewNodeGroup, merged_labels
from openstack_emulator.container_infra.rules.nodegroups import (
    MASTER,
    WORKER,
    NodeGroups,
    addresses_of,
    check_range,
    count_of,
)
from openstack_emulator.container_infra.rules.quotas import Quotas
from openstack_emulator.container_infra.rules.references import check_reference
from openstack_emulator.container_infra.rules.templates import Templates
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.objects import TIMESTAMP, by_name_or_id
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table

SECONDS_TO_CREATE = 10.0
SECONDS_TO_UPDATE = 5.0
SECONDS_TO_DELETE = 3.0
INHERITED = (
    "docker_volume_size", "flavor_id", "master_flavor_id", "fixed_network", "fixed_subnet", "floating_ip_enabled",
    "master_lb_enabled",
)  # fmt: skip
"""Fields whose values are the template's, unless the request has one."""
READY = ("_COMPLETE", "UPDATE_FAILED")
"""The ends of statuses in which a cluster can be changed."""


class Clusters(Rules):
    """The clusters of all projects."""

    def __init__(
        self, records: Records, rows: Table[Cluster], templates: Templates, groups: NodeGroups, quotas: Quotas
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self._templates, self._groups, self._quotas = templates, groups, quotas
        records.deferrable(self.finish_create, self.finish_update, self.finish_delete)

    def find(self, context: Context, key: str) -> Cluster:
        """Return a cluster by ID or name. Raises ApiError 404 and 409."""
        return by_name_or_id(self.rows, "cluster", key, context.may_see)

    def template_of(self, cluster: Cluster) -> ClusterTemplate:
        """Return the template of a cluster."""
        return self._templates.rows.require(cluster.cluster_template_id)

    def _now(self) -> str:
        return self.records.timestamp(TIMESTAMP)

    # -- creation -----------------------------------------------------------------------------------------------

    def create(self, request: Request, template: ClusterTemplate, new: NewCluster) -> Cluster:
        """Begin to create a cluster. Raises ApiError 400, 403 and 404."""
        project_id = request.context.project
        cluster = self._new_cluster(request.context, template, new)
        if new.masters % 2 == 0:
            raise bad_request(f"master nodegroup size of {new.masters} is invalid, size cannot be an even number.")
        check_docker_volume(template.docker_storage_driver, cluster.docker_volume_size)
        self._check_references(request, new.references)
        self._quotas.admit(project_id, len(self.rows.select(project_id=project_id)))
        self.rows.add(cluster)
        for role, size, flavor_id in (
            (MASTER, new.masters, cluster.master_flavor_id),
            (WORKER, new.workers, cluster.flavor_id),
        ):
            group = NewNodeGroup(
                name=f"default-{role}",
                role=role,
                node_count=size,
                min_node_count=0,
                max_node_count=None,
                flavor_id=flavor_id,
                image_id=None,
                docker_volume_size=cluster.docker_volume_size,
                labels=None,
                merge_labels=False,
                references={},
            )
            self._groups.add(cluster, group, template.image_id, cluster.labels, is_default=True)
        self.after(SECONDS_TO_CREATE, self.finish_create, cluster.id)
        return cluster

    def _new_cluster(self, context: Context, template: ClusterTemplate, new: NewCluster) -> Cluster:
        identifier = new_id()
        return Cluster(
            **{name: new.overriding.get(name, template.get(name)) for name in INHERITED},
            id=identifier,
            uuid=identifier,
            name=new.name or f"{identifier[:8]}-cluster",
            cluster_template_id=template.id,
            keypair=new.keypair or template.keypair_id,
            discovery_url=new.discovery_url,
            create_timeout=new.create_timeout,
            labels=merged_labels(template.labels, new.labels, new.merge_labels),
            merge_labels=False,
            stack_id=new_id(),
            status="CREATE_IN_PROGRESS",
            status_reason=None,
            health_status=None,
            health_status_reason={},
            api_address=None,
            coe_version=None,
            container_version=None,
            faults={},
            project_id=context.project,
            user_id=context.user_id,
            created_at=self._now(),
            updated_at=None,
        )

    def _check_references(self, request: Request, references: Mapping[str, Any]) -> None:
        for name, value in references.items():
            check_reference(self.cloud, request, name, value)

    def finish_create(self, cluster_id: str) -> None:
        """End the creation of a cluster, unless it is being deleted."""
        cluster = self.rows.get(cluster_id)
        if cluster is None or cluster.status != "CREATE_IN_PROGRESS":
            return
        self._end(cluster, "CREATE")
        if cluster.status != "CREATE_COMPLETE":
            return
        template = self.template_of(cluster)
        scheme = "http" if template.tls_disabled else "https"
        master = addresses_of(self._groups.masters(cluster))[0]
        cluster.api_address = f"{scheme}://{master}:{template.apiserver_port or API_PORTS[template.coe]}"
        cluster.coe_version, cluster.container_version = VERSIONS[template.coe]
        cluster.health_status, cluster.health_status_reason = "HEALTHY", {"api": "ok"}
        self.rows.save(cluster)

    # -- changes ------------------------------------------------------------------------------------------------

    def require_ready(self, cluster: Cluster) -> None:
        """Refuse a change while another one is in progress, or after a failed creation. Raises ApiError 400."""
        if not is_ready(cluster):
            raise bad_request(f'Updating a cluster when status is "{cluster.status}" is not supported.')

    def resize(self, cluster: Cluster, group: NodeGroup, count: int, remove: Sequence[str] = ()) -> None:
        """Begin to give a node group another number of nodes. Raises ApiError 400.

        Magnum accepts the request at any time, and ignores it later if the cluster cannot be changed then.
        """
        if not is_ready(cluster):
            self._groups.check_size(group, count)
            return
        self._groups.resize(group, count, remove)
        self.begin_update(cluster)

    def resize_or_roll_back(self, cluster: Cluster, group: NodeGroup, count: int) -> None:
        """Like `resize`; if that fails, the node group gets its nodes back. Raises ApiError 400."""
        if not is_ready(cluster):
            return
        before = Nodes(node_count=group.node_count, node_addresses=group.node_addresses)
        self.resize(cluster, group, count)
        group.before = before
        self._groups.rows.save(group)

    def upgrade(self, cluster: Cluster, template: ClusterTemplate, group: NodeGroup | None, batch_size: int) -> None:
        """Make a cluster, or one of its further node groups, use another template, some nodes at a time.

        Raises: ApiError 400 and 409.
        """
        before = self.template_of(cluster)
        if template.coe != before.coe:
            raise bad_request(f"A cluster of {before.coe} cannot be upgraded to {template.coe}.")
        if group is not None and not group.is_default and template is not before:
            raise conflict(f"Nodegroup {group.name} can be upgraded only to match cluster's template ({before.name}).")
        self.require_ready(cluster)
        nodes = count_of(self._groups.workers(cluster) if group is None else [group])
        for node_group in self._groups.of(cluster) if group is None else [group]:
            node_group.image_id = template.image_id
            self._groups.set_status(node_group, "UPDATE_IN_PROGRESS")
        cluster.cluster_template_id = template.id
        self.begin_update(cluster, SECONDS_TO_UPDATE * (ceil(nodes / batch_size) or 1))

    def add_group(self, request: Request, cluster: Cluster, new: NewNodeGroup) -> NodeGroup:
        """Begin to create a node group. Raises ApiError 400, 404 and 409."""
        self._check_references(request, new.references)
        image_id = new.image_id or self.template_of(cluster).image_id
        labels = merged_labels(cluster.labels, new.labels, new.merge_labels)
        group = self._groups.add(cluster, new, image_id, labels)
        self.begin_update(cluster)
        return group

    def limit_group(self, cluster: Cluster, group: NodeGroup, least: int, most: int | None) -> None:
        """Change the limits of a node group's size, without the status, which `begin_group_update` sets.

        Raises: ApiError 400 and 409.
        """
        check_range(group, least, most)
        self.require_ready(cluster)
        group.min_node_count, group.max_node_count = least, most
        self._groups.rows.save(group)

    def begin_group_update(self, cluster: Cluster, group: NodeGroup) -> None:
        """Put a node group into the status UPDATE_IN_PROGRESS, and its cluster too."""
        self._groups.set_status(group, "UPDATE_IN_PROGRESS")
        self.begin_update(cluster)

    def delete_group(self, cluster: Cluster, group: NodeGroup) -> None:
        """Begin to delete a node group. Raises ApiError 400."""
        if group.is_default:
            raise bad_request("Deleting a default nodegroup is not supported.")
        self.require_ready(cluster)
        self._groups.set_status(group, "DELETE_IN_PROGRESS")
        self.begin_update(cluster)

    def begin_update(self, cluster: Cluster, seconds: float = SECONDS_TO_UPDATE) -> None:
        """Put a cluster into the status UPDATE_IN_PROGRESS for some seconds."""
        self._begin(cluster, "UPDATE")
        self.after(seconds, self.finish_update, cluster.id)

    def finish_update(self, cluster_id: str) -> None:
        """End a change of a cluster, unless it is being deleted."""
        cluster = self.rows.get(cluster_id)
        if cluster is not None and cluster.status == "UPDATE_IN_PROGRESS":
            self._end(cluster, "UPDATE")

    # -- deletion -----------------------------------------------------------------------------------------------

    def begin_delete(self, cluster: Cluster) -> None:
        """Begin to delete a cluster. Raises ApiError 409 if that has begun already."""
        if cluster.status == "DELETE_IN_PROGRESS":
            raise conflict(f"Cluster {cluster.name} already has an operation in progress.")
        self._begin(cluster, "DELETE")
        self.after(SECONDS_TO_DELETE, self.finish_delete, cluster.id)

    def finish_delete(self, cluster_id: str) -> None:
        """Remove a cluster, or let it fail if a fault rule demands it."""
        cluster = self.rows.get(cluster_id)
        if cluster is None:
            return
        if cluster.fault is not None:
            self._end(cluster, "DELETE")
            return
        for group in self._groups.of(cluster):
            self._groups.rows.remove(group)
        self.rows.remove(cluster)

    def _begin(self, cluster: Cluster, action: str) -> None:
        cluster.status, cluster.status_reason, cluster.updated_at = f"{action}_IN_PROGRESS", None, self._now()
        self.rows.save(cluster)

    def _end(self, cluster: Cluster, action: str) -> None:
        reason = cluster.take_fault()
        status = f"{action}_COMPLETE" if reason is None else f"{action}_FAILED"
        for group in self._groups.of(cluster):
            group.take_fault()
            before, group.before = group.before, None
            if before is not None and reason is not None:
                status = "ROLLBACK_COMPLETE"
                self._groups.restore_nodes(group, before)
            self._groups.end(cluster, group, status.partition("_")[2], reason)
        cluster.status, cluster.status_reason, cluster.updated_at = status, reason, self._now()
        cluster.faults = {} if reason is None else {"default-master": reason}
        self.rows.save(cluster)


def is_ready(cluster: Cluster) -> bool:
    """Whether a cluster can be changed: no change is in progress, and its creation has not failed."""
    return cluster.status.endswith(READY)
