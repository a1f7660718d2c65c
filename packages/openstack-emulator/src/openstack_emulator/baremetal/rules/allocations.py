"""Allocations: requests for a node with a resource class and traits."""

from __future__ import annotations

from collections.abc import Collection

from openstack_emulator.baremetal.records import Allocation, Node
from openstack_emulator.baremetal.rules.access import may_see_allocation
from openstack_emulator.baremetal.rules.nodes import Nodes
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.error_bodies import CONDUCTOR
from openstack_emulator.core.errors import conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules

SECONDS_TO_ALLOCATE = 2.0


class Allocations(Rules):
    """All allocations."""

    def __init__(self, records: Records, nodes: Nodes) -> None:
        super().__init__(records)
        self._nodes = nodes
        self.rows = records.table(
            "allocations",
            Allocation,
            "name",
            "node_uuid",
            missing=lambda key: not_found(f"Allocation {key} could not be found."),
        )
        records.deferrable(self.finish_allocation)

    def reach(self, caller: Context, key: str) -> Allocation:
        """An allocation, by UUID or name, that the caller may see. Raises ApiError 404."""
        found = self.rows.get(key) or self.rows.first(name=key)
        if found is None or not may_see_allocation(caller, found):
            raise self.rows.missing(key)
        return found

    def require_free_name(self, name: str | None, own: Allocation | None = None) -> None:
        """Raise ApiError 409 for a name that another allocation than `own` has."""
        other = self.rows.first(name=name) if name else None
        if other is not None and other is not own:
            raise conflict(f"An allocation with name {name} already exists.", CONDUCTOR)

    def create(self, allocation: Allocation, node: Node | None) -> Allocation:
        """Add an allocation, for a node that was deployed without one, or for any."""
        self.rows.add(allocation)
        if node is None:
            self.after(SECONDS_TO_ALLOCATE, self.finish_allocation, allocation.uuid)
        else:
            self._assign(allocation, node)
        return allocation

    def finish_allocation(self, key: str) -> None:
        """Choose the node of an allocation; called later for a new one."""
        allocation = self.rows.get(key)
        if allocation is None:
            return
        node = self._nodes.free_for(allocation.resource_class, set(allocation.traits), allocation.candidate_nodes)
        self._assign(allocation, node)

    def _assign(self, allocation: Allocation, node: Node | None) -> None:
        """Give an allocation a node, or set it to error when there is none or a fault rule demands it."""
        fault = allocation.take_fault()
        allocation.updated_at = self._nodes.now()
        if node is None or fault is not None:
            reason = fault or "no available nodes match the resource class and traits"
            allocation.state = "error"
            allocation.last_error = f"Failed to process allocation {allocation.uuid}: {reason}."
        else:
            node.allocation_uuid = node.instance_uuid = allocation.uuid
            self._nodes.save(node)
            allocation.state, allocation.node_uuid = "active", node.uuid
        self.rows.save(allocation)

    def remove(self, allocation: Allocation) -> None:
        """Remove an allocation and free its node. Raises ApiError 409 while the node is in use or locked."""
        node = self._nodes.rows.get(allocation.node_uuid or "")
        if node is not None and node.allocation_uuid == allocation.uuid:
            if node.reservation is not None or (node.provision_state == "active" and not node.maintenance):
                raise conflict(f"Cannot delete allocation {allocation.uuid} because its node is in use.")
            node.allocation_uuid = node.instance_uuid = None
            self._nodes.save(node)
        self.rows.remove(allocation)


def require_fit(node: Node, resource_class: str, traits: Collection[str], candidates: Collection[str]) -> None:
    """Raise ApiError 409 for a deployed node that cannot be that of an allocation.

    resource_class, traits, candidates: those of the allocation; without candidates, it may be any node.
    """
    matches = node.resource_class == resource_class and set(traits) <= set(node.traits)
    is_candidate = not candidates or node.uuid in candidates
    is_free = node.instance_uuid is None and node.reservation is None
    if not (matches and is_candidate and is_free and node.provision_state == "active"):
        raise conflict(f"Node {node.uuid} is not active, has an instance, or does not match the allocation.")
