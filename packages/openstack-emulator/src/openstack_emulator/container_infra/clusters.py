"""Clusters and their states: what begins with a request ends some seconds later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.container_infra.drivers import API_PORTS, VERSIONS, check_docker_volume
from openstack_emulator.container_infra.http import COUNT, NUMBER, TEXT, Check, flag, given, labels, text
from openstack_emulator.container_infra.nodegroups import MASTER, WORKER, NodeGroups
from openstack_emulator.container_infra.quotas import Quotas
from openstack_emulator.container_infra.templates import Templates, check_reference
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Context, Request, Version
from openstack_emulator.core.objects import TIMESTAMP, by_name_or_id
from openstack_emulator.core.store import Collection, Record

SECONDS_TO_CREATE = 10.0
SECONDS_TO_UPDATE = 5.0
SECONDS_TO_DELETE = 3.0
NAME = r"[a-zA-Z][a-zA-Z0-9_.-]*"
NO_NODES: Version = (1, 10)
"""From this microversion on, clusters may have no workers."""
KNOWN: Mapping[str, Check] = {
    "name": text(NAME, longest=242),
    "cluster_template_id": text(shortest=1),
    "keypair": TEXT,
    "node_count": COUNT,
    "master_count": NUMBER,
    "discovery_url": TEXT,
    "create_timeout": COUNT,
    "labels": labels,
    "merge_labels": flag,
    "docker_volume_size": NUMBER,
    "flavor_id": TEXT,
    "master_flavor_id": TEXT,
    "fixed_network": TEXT,
    "fixed_subnet": TEXT,
    "floating_ip_enabled": flag,
    "master_lb_enabled": flag,
}
INHERITED = (
    "docker_volume_size", "flavor_id", "master_flavor_id", "fixed_network", "fixed_subnet", "floating_ip_enabled",
    "master_lb_enabled",
)  # fmt: skip
"""Fields whose values are the template's, unless the request has one."""
READY = ("_COMPLETE", "UPDATE_FAILED")
"""The ends of statuses in which a cluster can be changed."""


class Clusters(Component):
    """The clusters of all projects."""

    def __init__(
        self, records: Records, rows: Collection, templates: Templates, groups: NodeGroups, quotas: Quotas
    ) -> None:
        super().__init__(records)
        self.rows, self.templates, self.groups, self.quotas = rows, templates, groups, quotas
        records.deferrable(self.finish_create, self.finish_update, self.finish_delete)

    def find(self, context: Context, key: str) -> Record:
        """Return a cluster by ID or name. Raises ApiError 404 and 409."""
        return by_name_or_id(self.rows, "cluster", key, context.may_see)

    def template_of(self, cluster: Record) -> Record:
        """Return the template of a cluster."""
        return self.templates.rows.require(cluster["cluster_template_id"])

    # -- creation -----------------------------------------------------------------------------------------------

    def create(self, request: Request) -> Record:
        """Begin to create the cluster that a request describes. Raises ApiError 400, 403 and 404."""
        context = request.context
        wanted = given(request, "cluster", KNOWN, ("cluster_template_id",))
        template = self.templates.find(context, wanted["cluster_template_id"])
        if wanted.get("node_count") == 0:
            require_workers(request)
        cluster = self._new(context, wanted, template)
        if (masters := wanted.get("master_count", 1)) % 2 == 0:
            raise bad_request(f"master nodegroup size of {masters} is invalid, size cannot be an even number.")
        check_docker_volume({**template, "docker_volume_size": cluster["docker_volume_size"]})
        for name, value in wanted.items():
            check_reference(self.cloud, request, name, value)
        self.quotas.admit(context.project, len(self.rows.select(project_id=context.project)))
        self.rows.add(cluster)
        for role, size, flavor in (
            (MASTER, masters, "master_flavor_id"),
            (WORKER, wanted.get("node_count", 1), "flavor_id"),
        ):
            self.groups.add(
                cluster,
                name=f"default-{role}",
                role=role,
                is_default=True,
                node_count=size,
                min_node_count=0,
                flavor_id=cluster[flavor],
                image_id=template["image_id"],
                docker_volume_size=cluster["docker_volume_size"],
                labels=cluster["labels"],
                merge_labels=False,
            )
        self.after(SECONDS_TO_CREATE, self.finish_create, cluster["id"])
        return cluster

    def _new(self, context: Context, wanted: Mapping[str, Any], template: Record) -> Record:
        identifier = new_id()
        own = wanted.get("labels")
        merged = {**template["labels"], **(own or {})} if wanted.get("merge_labels") else own
        return {
            **{name: wanted.get(name, template[name]) for name in INHERITED},
            "id": identifier,
            "uuid": identifier,
            "name": wanted.get("name") or f"{identifier[:8]}-cluster",
            "cluster_template_id": template["id"],
            "keypair": wanted.get("keypair") or template["keypair_id"],
            "discovery_url": wanted.get("discovery_url"),
            "create_timeout": wanted.get("create_timeout", 60),
            "labels": template["labels"] if merged is None else merged,
            "merge_labels": False,
            "stack_id": new_id(),
            "status": "CREATE_IN_PROGRESS",
            "status_reason": None,
            "health_status": None,
            "health_status_reason": {},
            "api_address": None,
            "coe_version": None,
            "container_version": None,
            "faults": {},
            "project_id": context.project,
            "user_id": context.user_id,
            "created_at": self.records.timestamp(TIMESTAMP),
            "updated_at": None,
        }

    def finish_create(self, cluster_id: str) -> None:
        """End the creation of a cluster, unless it is being deleted."""
        cluster = self.rows.get(cluster_id)
        if cluster is None or cluster["status"] != "CREATE_IN_PROGRESS":
            return
        self._end(cluster, "CREATE")
        if cluster["status"] != "CREATE_COMPLETE":
            return
        template = self.template_of(cluster)
        coe, scheme = template["coe"], "http" if template["tls_disabled"] else "https"
        master = self.groups.addresses(cluster, masters=True)[0]
        version, runtime = VERSIONS[coe]
        self.rows.update(
            cluster,
            api_address=f"{scheme}://{master}:{template['apiserver_port'] or API_PORTS[coe]}",
            coe_version=version,
            container_version=runtime,
            health_status="HEALTHY",
            health_status_reason={"api": "ok"},
        )

    # -- changes ------------------------------------------------------------------------------------------------

    def require_ready(self, cluster: Record) -> None:
        """Refuse a change while another one is in progress, or after a failed creation. Raises ApiError 400."""
        if not is_ready(cluster):
            raise bad_request(f'Updating a cluster when status is "{cluster["status"]}" is not supported.')

    def resize(self, cluster: Record, group: Record, count: int, remove: Sequence[str] = ()) -> None:
        """Begin to give a node group another number of nodes. Raises ApiError 400.

        Magnum accepts the request at any time, and ignores it later if the cluster cannot be changed then.
        """
        if not is_ready(cluster):
            self.groups.check_size(group, count)
            return
        self.groups.resize(group, count, remove)
        self.begin_update(cluster)

    def resize_or_roll_back(self, cluster: Record, group: Record, count: int) -> None:
        """Like `resize`; if that fails, the node group gets its nodes back. Raises ApiError 400."""
        if not is_ready(cluster):
            return
        before = {"node_count": group["node_count"], "node_addresses": group["node_addresses"]}
        self.resize(cluster, group, count)
        self.groups.rows.update(group, _before=before)

    def begin_update(self, cluster: Record, seconds: float = SECONDS_TO_UPDATE) -> None:
        """Put a cluster into the status UPDATE_IN_PROGRESS for some seconds."""
        self._begin(cluster, "UPDATE")
        self.after(seconds, self.finish_update, cluster["id"])

    def finish_update(self, cluster_id: str) -> None:
        """End a change of a cluster, unless it is being deleted."""
        cluster = self.rows.get(cluster_id)
        if cluster is not None and cluster["status"] == "UPDATE_IN_PROGRESS":
            self._end(cluster, "UPDATE")

    # -- deletion -----------------------------------------------------------------------------------------------

    def begin_delete(self, cluster: Record) -> None:
        """Begin to delete a cluster. Raises ApiError 409 if that has begun already."""
        if cluster["status"] == "DELETE_IN_PROGRESS":
            raise conflict(f"Cluster {cluster['name']} already has an operation in progress.")
        self._begin(cluster, "DELETE")
        self.after(SECONDS_TO_DELETE, self.finish_delete, cluster["id"])

    def finish_delete(self, cluster_id: str) -> None:
        """Remove a cluster, or let it fail if a fault rule demands it."""
        cluster = self.rows.get(cluster_id)
        if cluster is None:
            return
        if "_fault" in cluster:
            self._end(cluster, "DELETE")
            return
        for group in self.groups.of(cluster):
            self.groups.rows.remove(group)
        self.rows.remove(cluster)

    def _begin(self, cluster: Record, action: str) -> None:
        self.rows.update(
            cluster, status=f"{action}_IN_PROGRESS", status_reason=None, updated_at=self.records.timestamp(TIMESTAMP)
        )

    def _end(self, cluster: Record, action: str) -> None:
        reason = cluster.pop("_fault", None)
        status = f"{action}_COMPLETE" if reason is None else f"{action}_FAILED"
        for group in self.groups.of(cluster):
            group.pop("_fault", None)
            before = group.pop("_before", None)
            if before is not None and reason is not None:
                status = "ROLLBACK_COMPLETE"
                group.update(before)
            if group["status"] == "DELETE_IN_PROGRESS" and reason is None:
                self.groups.rows.remove(group)
            elif group["status"].endswith("_IN_PROGRESS"):
                ended = f"{group['status'].partition('_')[0]}_{status.partition('_')[2]}"
                self.groups.settle(cluster, group, ended, reason)
        self.rows.update(
            cluster,
            status=status,
            status_reason=reason,
            faults={} if reason is None else {"default-master": reason},
            updated_at=self.records.timestamp(TIMESTAMP),
        )


def is_ready(cluster: Record) -> bool:
    """Whether a cluster can be changed: no change is in progress, and its creation has not failed."""
    return str(cluster["status"]).endswith(READY)


def require_workers(request: Request) -> None:
    """Refuse a cluster without workers in older microversions. Raises ApiError 400."""
    if request.version < NO_NODES:
        raise bad_request("Resizing a nodegroup to zero is not supported in the provided microversion.")
