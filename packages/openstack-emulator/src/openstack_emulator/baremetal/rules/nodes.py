"""Nodes: machines, and the rules for their values.

While something is done to a node it is locked: changes of it and its ports are refused with 409.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from openstack_emulator.baremetal.records import BootDevice, Chassis, Node
from openstack_emulator.baremetal.rules.access import ADMINISTRATORS, may_see_node, require, require_unlocked
from openstack_emulator.baremetal.rules.drivers import DRIVERS, HOST, check_interfaces, default_interfaces
from openstack_emulator.baremetal.rules.kinds import NODE, TIMESTAMP
from openstack_emulator.baremetal.rules.provisioning import AVAILABLE, DELETABLE, ENROLL
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.error_bodies import CONDUCTOR
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation.conversions import as_boolean

PROTECTABLE = ("active", "rescue")
"""Provision states in which a node can be protected."""
PRESETS = ("node-0", "node-1")
"""The nodes of a new cloud, which are available."""
_FLAGS = ("maintenance", "automated_clean", "protected", "retired")
_REASONS = ("protected_reason", "retired_reason")


class Nodes(Rules):
    """All nodes."""

    def __init__(self, records: Records, chassis: Table[Chassis]) -> None:
        super().__init__(records)
        self._chassis = chassis
        self.rows = records.table(
            "nodes",
            Node,
            "name",
            "instance_uuid",
            "chassis_uuid",
            missing=lambda key: not_found(f"Node {key} could not be found."),
        )

    def seed(self) -> None:
        """Add the nodes of a new cloud."""
        for name in PRESETS:
            node = {"name": name, "driver": "fake-hardware", "resource_class": "baremetal"}
            self._add(self._new(new_id(), {**NODE.defaults(), **node}, AVAILABLE))

    def find(self, key: str) -> Node | None:
        """A node, by its UUID or name."""
        return self.rows.get(key) or (self.rows.first(name=key) if key else None)

    def reach(self, request: Request, key: str) -> Node:
        """A node that the caller may see. Raises ApiError 404."""
        node = self.find(key)
        if node is None or not may_see_node(request.context, node):
            raise self.rows.missing(key)
        return node

    def managed(self, request: Request, key: str, policy: str) -> Node:
        """A node that the caller does not only read. Raises ApiError 403 and 404."""
        node = self.reach(request, key)
        if request.context.project_id != node.owner or "member" not in request.context.roles:
            require(request, policy, *ADMINISTRATORS)
        return node

    def changeable(self, request: Request, key: str, policy: str) -> Node:
        """A node that the caller may change. Raises ApiError 403, 404, and 409 while it is locked."""
        node = self.managed(request, key, policy)
        require_unlocked(node)
        return node

    def create(self, caller: Context, key: str, values: Mapping[str, Any], state: str) -> Node:
        """Add a node with the fields of a request, in a provision state. Raises ApiError 400 and 409."""
        node = self._new(key, values, state)
        if node.owner is None and not caller.system:
            node.owner = caller.project_id
        self._check(node, values.keys())
        return self._add(node)

    def _new(self, key: str, values: Mapping[str, Any], state: str) -> Node:
        return Node(
            **values,
            uuid=key,
            id=key,
            driver_internal_info={},
            power_state=None if state == ENROLL else "power off",
            target_power_state=None,
            provision_state=state,
            target_provision_state=None,
            provision_updated_at=None,
            last_error=None,
            reservation=None,
            maintenance_reason=None,
            console_enabled=False,
            inspection_finished_at=None,
            inspection_started_at=None,
            clean_step={},
            deploy_step={},
            raid_config={},
            target_raid_config={},
            traits=[],
            recorded_fault=None,
            conductor=HOST,
            allocation_uuid=None,
            boot_mode=None,
            secure_boot=None,
            created_at=self.now(),
            updated_at=None,
            boot_device=BootDevice(boot_device="pxe", persistent=False),
        )

    def _add(self, node: Node) -> Node:
        defaults: dict[str, Any] = {**default_interfaces(node.driver, node)}
        return self.rows.add(replace(node, **defaults))

    def _check(self, node: Node, changed: Collection[str]) -> None:
        """Refuse values that a node cannot have, and normalize those that a request changes.

        Raises: ApiError 400 and 409.
        """
        for name in _FLAGS:
            if name in changed and node.get(name) is not None:
                setattr(node, name, as_boolean(node.get(name)))
        for name in ("protected", "retired"):
            if f"{name}_reason" in changed and node.get(f"{name}_reason") and not node.get(name):
                raise bad_request(f"{name}_reason cannot be set when {name} is False.")
            if name in changed and not node.get(name):
                setattr(node, f"{name}_reason", None)
        if "protected" in changed and node.protected and node.provision_state not in PROTECTABLE:
            raise conflict(f"Node {node.uuid} can only be protected in the provision states "
                           f"{' and '.join(PROTECTABLE)}, and it is in {node.provision_state}.")  # fmt: skip
        if "name" in changed and node.name:
            other = self.rows.first(name=node.name)
            if other is not None and other.uuid != node.uuid:
                raise conflict(f"A node with name {node.name} already exists.", CONDUCTOR)
        if "instance_uuid" in changed and node.instance_uuid:
            other = self.rows.first(instance_uuid=node.instance_uuid)
            if other is not None and other.uuid != node.uuid:
                raise conflict(f"Instance {node.instance_uuid} is already associated with a node.")
        if "chassis_uuid" in changed and node.chassis_uuid and node.chassis_uuid not in self._chassis:
            raise bad_request(f"Chassis {node.chassis_uuid} could not be found.")
        if "driver" in changed and node.driver not in DRIVERS:
            raise bad_request(
                f"No valid host was found. Reason: No conductor service registered which supports driver "
                f'{node.driver} for conductor group "{node.conductor_group}". Ensure the driver is valid and '
                "enabled."
            )
        check_interfaces(node)

    def change(self, node: Node, changes: Mapping[str, Any]) -> None:
        """Set fields of a node as a request wants them; an interface that is removed gets the driver's default.

        Raises: ApiError 400 and 409.
        """
        after = replace(node, **changes)
        self._check(after, changes.keys())
        values = {name: after.get(name) for name in (*changes, *_REASONS)}
        self.rows.update(node, **{**values, **default_interfaces(after.driver, after)})
        self.save(node)

    def save(self, node: Node) -> None:
        """Note that a user has changed a node."""
        node.updated_at = self.now()
        self.rows.save(node)

    def delete(self, node: Node) -> None:
        """Remove a node. Raises ApiError 409 in a state that does not allow it."""
        if node.instance_uuid is not None and not node.maintenance:
            raise conflict(f"Node {node.uuid} is associated with instance {node.instance_uuid}.", CONDUCTOR)
        if node.provision_state not in DELETABLE and not node.maintenance:
            raise conflict(f'Can not delete node "{node.uuid}" while it is in provision state '
                           f'"{node.provision_state}".')  # fmt: skip
        require_unprotected(node)
        self.rows.remove(node)

    def now(self) -> str:
        """The time of day as Ironic writes it."""
        return self.records.timestamp(TIMESTAMP)

    def free_for(self, resource_class: str, traits: set[str], candidates: list[str]) -> Node | None:
        """An available node that an allocation can have."""
        for node in self.rows:
            is_candidate = not candidates or node.uuid in candidates or node.name in candidates
            fits = node.resource_class == resource_class and traits <= set(node.traits)
            idle = node.provision_state == AVAILABLE and not node.maintenance and not node.retired
            if is_candidate and fits and idle and node.instance_uuid is None and node.reservation is None:
                return node
        return None


def require_unprotected(node: Node) -> None:
    """Raise ApiError 403 for a node that is protected."""
    if node.protected:
        raise ApiError(403, f"Node {node.uuid} is protected and cannot be undeployed, rebuilt or deleted.")
