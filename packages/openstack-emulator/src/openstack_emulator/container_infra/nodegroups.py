"""Node groups: the masters and workers of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.container_infra.http import COUNT, NUMBER, TEXT, Check, flag, labels, text
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.objects import TIMESTAMP, by_name_or_id, missing
from openstack_emulator.core.store import Record

KNOWN: Mapping[str, Check] = {
    "name": text(shortest=1),
    "node_count": COUNT,
    "min_node_count": COUNT,
    "max_node_count": NUMBER,
    "role": TEXT,
    "flavor_id": TEXT,
    "image_id": TEXT,
    "docker_volume_size": NUMBER,
    "labels": labels,
    "merge_labels": flag,
}
MASTER, WORKER = "master", "worker"
CHANGEABLE = ("min_node_count", "max_node_count")
FIRST_ADDRESS = 4
ADDRESSES_IN_A_ROW = 250


class NodeGroups(Component):
    """The node groups of all clusters. No servers are created for their nodes: they only have addresses."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection("nodegroups", ("cluster_id",), missing("nodegroup"))

    def of(self, cluster: Record) -> list[Record]:
        """Return the node groups of a cluster, the default ones first."""
        return self.rows.select(cluster_id=cluster["id"])

    def find(self, cluster: Record, key: str) -> Record:
        """Return a node group by ID or name. Raises ApiError 404."""
        return by_name_or_id(self.rows, "nodegroup", key, lambda row: row["cluster_id"] == cluster["id"])

    def default(self, cluster: Record, role: str) -> Record:
        """Return the masters, or the first workers, of a cluster."""
        return next(group for group in self.of(cluster) if group["is_default"] and group["role"] == role)

    def count(self, cluster: Record, masters: bool) -> int:
        """Return the number of masters or of workers."""
        return sum(group["node_count"] for group in self.of(cluster) if (group["role"] == MASTER) is masters)

    def addresses(self, cluster: Record, masters: bool) -> list[str]:
        """Return the addresses of masters or of workers."""
        chosen = [group for group in self.of(cluster) if (group["role"] == MASTER) is masters]
        return [address for group in chosen for address in group["node_addresses"]]

    def add(self, cluster: Record, **values: Any) -> Record:
        """Add a node group that is being created. Raises ApiError 409 for a name that the cluster has already."""
        if any(group["name"] == values["name"] for group in self.of(cluster)):
            raise conflict(f"A node group with name {values['name']} already exists in the cluster {cluster['name']}.")
        identifier = new_id()
        group: Record = {
            "id": identifier,
            "_number": 1 + max((row["_number"] for row in self.rows), default=0),
            "uuid": identifier,
            "cluster_id": cluster["id"],
            "project_id": cluster["project_id"],
            "stack_id": cluster["stack_id"],
            "is_default": False,
            "node_addresses": [],
            "min_node_count": 0,
            "max_node_count": None,
            "version": None,
            "status": "CREATE_IN_PROGRESS",
            "status_reason": None,
            "created_at": self.records.timestamp(TIMESTAMP),
            "updated_at": None,
            **values,
        }
        check_range(group, group["node_count"])
        return self.rows.add(group)

    def resize(self, group: Record, count: int, remove: Sequence[str] = ()) -> None:
        """Begin to give a node group this number of nodes; `remove` are addresses or indexes of nodes that must go.

        Raises: ApiError 400.
        """
        self.check_size(group, count)
        nodes = group["node_addresses"]
        named = {nodes[int(one)] if one.isdecimal() and int(one) < len(nodes) else one for one in remove}
        if unknown := sorted(named - set(nodes)):
            raise bad_request(f"Node {unknown[0]} is not in the nodegroup {group['name']}.")
        kept = [address for address in nodes if address not in named]
        self.rows.update(
            group,
            node_count=count,
            node_addresses=kept[:count],
            status="UPDATE_IN_PROGRESS",
            updated_at=self.records.timestamp(TIMESTAMP),
        )

    def check_size(self, group: Record, count: int) -> None:
        """Refuse a number of nodes for masters, or outside of the limits of a node group. Raises ApiError 400."""
        if group["role"] == MASTER:
            raise bad_request("Resizing the master nodegroup is not supported by this driver.")
        least, most = group["min_node_count"], group["max_node_count"]
        if count < least or (most is not None and count > most):
            raise bad_request(
                f"Resizing {group['name']} outside the allowed range: min_node_count = {least}, max_node_count = {most}"
            )

    def settle(self, cluster: Record, group: Record, status: str, reason: str | None) -> None:
        """Set the status of a node group whose change has ended; nodes of a complete one all have an address."""
        addresses = list(group["node_addresses"])
        if status.endswith("_COMPLETE"):
            used = {address for other in self.of(cluster) for address in other["node_addresses"]}
            number = FIRST_ADDRESS
            while len(addresses) < group["node_count"]:
                row, place = divmod(number, ADDRESSES_IN_A_ROW)
                if (address := f"10.0.{row}.{place}") not in used:
                    addresses.append(address)
                number += 1
        self.rows.update(
            group, status=status, status_reason=reason, node_addresses=addresses,
            updated_at=self.records.timestamp(TIMESTAMP),
        )  # fmt: skip


def check_range(group: Record, count: int) -> None:
    """Refuse limits that contradict each other, or the number of nodes. Raises ApiError 409."""
    name, least, most = group["name"], group["min_node_count"], group["max_node_count"]
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
