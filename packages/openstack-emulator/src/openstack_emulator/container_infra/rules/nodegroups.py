"""Node groups: the masters and workers of clusters."""

from __future__ import annotations

from collections.abc import Sequence

from openstack_emulator.container_infra.records import Cluster, NodeGroup, Nodes
from openstack_emulator.container_infra.rules.inputs import NewNodeGroup
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.objects import TIMESTAMP, by_name_or_id, missing
from openstack_emulator.core.rules import Rules

MASTER, WORKER = "master", "worker"
FIRST_ADDRESS = 4
ADDRESSES_IN_A_ROW = 250


class NodeGroups(Rules):
    """The node groups of all clusters. No servers are created for their nodes: they only have addresses."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("nodegroups", NodeGroup, "cluster_id", missing=missing("nodegroup"))

    def of(self, cluster: Cluster) -> list[NodeGroup]:
        """Return the node groups of a cluster, the default ones first."""
        return self.rows.select(cluster_id=cluster.id)

    def find(self, cluster: Cluster, key: str) -> NodeGroup:
        """Return a node group by ID or name. Raises ApiError 404."""
        return by_name_or_id(self.rows, "nodegroup", key, lambda row: row.cluster_id == cluster.id)

    def default(self, cluster: Cluster, role: str) -> NodeGroup:
        """Return the masters, or the first workers, of a cluster."""
        return next(group for group in self.of(cluster) if group.is_default and group.role == role)

    def masters(self, cluster: Cluster) -> list[NodeGroup]:
        """Return the node groups with masters."""
        return [group for group in self.of(cluster) if group.role == MASTER]

    def workers(self, cluster: Cluster) -> list[NodeGroup]:
        """Return the node groups with workers."""
        return [group for group in self.of(cluster) if group.role != MASTER]

    def add(
        self, cluster: Cluster, new: NewNodeGroup, image_id: str, labels: dict[str, str], is_default: bool = False
    ) -> NodeGroup:
        """Add a node group that is being created. Raises ApiError 409 for a name that the cluster has already."""
        if any(group.name == new.name for group in self.of(cluster)):
            raise conflict(f"A node group with name {new.name} already exists in the cluster {cluster.name}.")
        identifier, now = new_id(), self.records.timestamp(TIMESTAMP)
        group = NodeGroup(
            id=identifier,
            number=1 + max((row.number for row in self.rows), default=0),
            uuid=identifier,
            name=new.name,
            cluster_id=cluster.id,
            project_id=cluster.project_id,
            stack_id=cluster.stack_id,
            role=new.role,
            is_default=is_default,
            node_count=new.node_count,
            node_addresses=[],
            min_node_count=new.min_node_count,
            max_node_count=new.max_node_count,
            flavor_id=new.flavor_id,
            image_id=image_id,
            docker_volume_size=new.docker_volume_size,
            labels=labels,
            merge_labels=new.merge_labels,
            version=None,
            status="CREATE_IN_PROGRESS",
            status_reason=None,
            created_at=now,
            updated_at=None if is_default else now,
            before=None,
        )
        check_range(group, new.min_node_count, new.max_node_count)
        return self.rows.add(group)

    def set_status(self, group: NodeGroup, status: str) -> None:
        """Set the status of a node group."""
        group.status = status
        self.rows.save(group)

    def resize(self, group: NodeGroup, count: int, remove: Sequence[str] = ()) -> None:
        """Begin to give a node group this number of nodes; `remove` are addresses or indexes of nodes that must go.

        Raises: ApiError 400.
        """
        self.check_size(group, count)
        nodes = group.node_addresses
        gone = {nodes[int(node)] if node.isdecimal() and int(node) < len(nodes) else node for node in remove}
        if unknown := sorted(gone - set(nodes)):
            raise bad_request(f"Node {unknown[0]} is not in the nodegroup {group.name}.")
        group.node_count = count
        group.node_addresses = [address for address in nodes if address not in gone][:count]
        group.updated_at = self.records.timestamp(TIMESTAMP)
        self.set_status(group, "UPDATE_IN_PROGRESS")

    def check_size(self, group: NodeGroup, count: int) -> None:
        """Refuse a number of nodes for masters, or outside of the limits of a node group. Raises ApiError 400."""
        if group.role == MASTER:
            raise bad_request("Resizing the master nodegroup is not supported by this driver.")
        least, most = group.min_node_count, group.max_node_count
        if count < least or (most is not None and count > most):
            raise bad_request(
                f"Resizing {group.name} outside the allowed range: min_node_count = {least}, max_node_count = {most}"
            )

    def end(self, cluster: Cluster, group: NodeGroup, result: str, reason: str | None) -> None:
        """End the change of a node group, if there is one, with a result such as COMPLETE."""
        if group.status == "DELETE_IN_PROGRESS" and reason is None:
            self.rows.remove(group)
        elif group.status.endswith("_IN_PROGRESS"):
            group.status = f"{group.status.partition('_')[0]}_{result}"
            group.status_reason = reason
            if result == "COMPLETE":
                self._complete(cluster, group)
            group.updated_at = self.records.timestamp(TIMESTAMP)
            self.rows.save(group)

    def _complete(self, cluster: Cluster, group: NodeGroup) -> None:
        """Give all nodes of a node group an address."""
        used = {address for other in self.of(cluster) for address in other.node_addresses}
        addresses, number = list(group.node_addresses), FIRST_ADDRESS
        while len(addresses) < group.node_count:
            row, place = divmod(number, ADDRESSES_IN_A_ROW)
            if (address := f"10.0.{row}.{place}") not in used:
                addresses.append(address)
            number += 1
        group.node_addresses = addresses

    def restore_nodes(self, group: NodeGroup, nodes: Nodes) -> None:
        """Give a node group the nodes that it had before a change."""
        group.node_count, group.node_addresses = nodes.node_count, nodes.node_addresses


def count_of(groups: Sequence[NodeGroup]) -> int:
    """Return the number of nodes."""
    return sum(group.node_count for group in groups)


def addresses_of(groups: Sequence[NodeGroup]) -> list[str]:
    """Return the addresses of nodes."""
    return [address for group in groups for address in group.node_addresses]


def check_range(group: NodeGroup, least: int, most: int | None) -> None:
    """Refuse limits that contradict each other, or the number of nodes. Raises ApiError 409."""
    name, count = group.name, group.node_count
    if most is not None and least > most:
        raise conflict(
            f"max_node_count for {name} is invalid (min_node_count ({least}) should be less or equal to max_node_count "
            f"({most}))."
        )
    if least > count:
        raise conflict(
            f"min_node_count for {name} is invalid (min_node_count ({least}) should be less or equal to node_count "
            f"({count}))."
        )
    if most is not None and count > most:
        raise conflict(
            f"max_node_count for {name} is invalid (max_node_count ({most}) should be greater or equal to node_count "
            f"({count}))."
        )
