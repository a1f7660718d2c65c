"""Nodes: machines, their drivers, and the states that they pass through.

While something is done to a node it is locked: changes of it and its ports are refused with 409.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from openstack_emulator.baremetal.http import ADMINISTRATORS, TIMESTAMP, new_key, observes, require
from openstack_emulator.baremetal.kinds import INTERFACES, NODE
from openstack_emulator.baremetal.provisioning import (
    ACTIONS,
    AVAILABLE,
    CLEAN,
    DELETABLE,
    ENROLL,
    POWER,
    SINCE,
    STEPS,
    Step,
)
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.error_bodies import CONDUCTOR
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request
from openstack_emulator.core.store import Collection, Record

SECONDS_PER_STATE = 5.0
SECONDS_TO_POWER = {"fake": 0.0}
"""How long a change of the power state takes, by the node's power interface; with others SECONDS_PER_STATE."""
PROTECTABLE = ("active", "rescue")
"""Provision states in which a node can be protected."""
PRESETS = ("node-0", "node-1")
"""The nodes of a new cloud, which are available."""
HOST = "conductor-1"
"""The conductor that manages all nodes, and holds their locks."""
_NETWORK, _STORAGE = ("noop", "flat", "neutron"), ("noop", "cinder")
DRIVERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "fake-hardware": {
        **{name: ("fake", f"no-{name}") for name in ("bios", "console", "inspect", "raid", "rescue", "vendor")},
        **dict.fromkeys(("boot", "deploy", "management", "power"), ("fake",)),
        "network": _NETWORK, "storage": (*_STORAGE, "fake"),
    },
    "ipmi": {
        "bios": ("no-bios",), "boot": ("ipxe", "pxe"), "console": ("no-console", "ipmitool-socat"),
        "deploy": ("direct", "ramdisk"), "inspect": ("no-inspect",), "management": ("ipmitool", "noop"),
        "network": _NETWORK, "power": ("ipmitool",), "raid": ("no-raid", "agent"), "rescue": ("no-rescue", "agent"),
        "storage": _STORAGE, "vendor": ("ipmitool", "no-vendor"),
    },
    "redfish": {
        "bios": ("redfish", "no-bios"), "boot": ("redfish-virtual-media", "ipxe", "pxe"), "console": ("no-console",),
        "deploy": ("direct", "ramdisk"), "inspect": ("redfish", "no-inspect"), "management": ("redfish",),
        "network": _NETWORK, "power": ("redfish",), "raid": ("redfish", "agent", "no-raid"),
        "rescue": ("no-rescue", "agent"), "storage": _STORAGE, "vendor": ("redfish", "no-vendor"),
    },
}  # fmt: skip
"""Drivers (hardware types), and the implementations of each interface that their nodes can have, the default first."""


class Nodes(Component):
    """All nodes."""

    def __init__(self, records: Records, chassis: Collection) -> None:
        super().__init__(records)
        self._chassis = chassis
        self.rows = records.collection(
            "nodes",
            ("name", "instance_uuid", "chassis_uuid"),
            lambda key: not_found(f"Node {key} could not be found."),
        )
        records.deferrable(self.finish_provisioning, self.finish_power)

    def seed(self) -> None:
        for name in PRESETS:
            values = {field: copy.deepcopy(one.default) for field, one in NODE.fields.items() if one.check is not None}
            self.add(
                new_id(), {**values, "name": name, "driver": "fake-hardware", "resource_class": "baremetal"}, AVAILABLE
            )

    def find(self, key: str) -> Record | None:
        """A node, by its UUID or name."""
        return self.rows.get(key) or (self.rows.first(name=key) if key else None)

    def reach(self, request: Request, key: str) -> Record:
        """A node that the caller may see. Raises ApiError 404."""
        node = self.find(key)
        if node is None or not may_see(request, node):
            raise self.rows.missing(key)
        return node

    def managed(self, request: Request, key: str, policy: str) -> Record:
        """A node that the caller does not only read. Raises ApiError 403 and 404."""
        node = self.reach(request, key)
        if request.context.project_id != node["owner"] or "member" not in request.context.roles:
            require(request, policy, *ADMINISTRATORS)
        return node

    def changeable(self, request: Request, key: str, policy: str) -> Record:
        """A node that the caller may change. Raises ApiError 403, 404, and 409 while it is locked."""
        node = self.managed(request, key, policy)
        require_unlocked(node)
        return node

    def create(self, request: Request) -> Record:
        """Add a node as a request describes it. Raises ApiError 400, 406 and 409."""
        values = NODE.values(request)
        if values["owner"] is None and not request.context.system:
            values["owner"] = request.context.project_id
        key = new_key(request, self.rows)
        self.check({**values, "uuid": key}, values)
        return self.add(key, values, ENROLL if request.version >= (1, 11) else AVAILABLE)

    def add(self, key: str, values: Record, state: str) -> Record:
        """Add a node in a provision state; interfaces without a value get the defaults of the driver."""
        driver = DRIVERS[values["driver"]]
        interfaces = {f"{name}_interface": values[f"{name}_interface"] or driver[name][0] for name in INTERFACES}
        return self.rows.add(
            {
                **values,
                **interfaces,
                "uuid": key,
                "id": key,
                "driver_internal_info": {},
                "power_state": None if state == ENROLL else "power off",
                "target_power_state": None,
                "provision_state": state,
                "target_provision_state": None,
                "provision_updated_at": None,
                "last_error": None,
                "reservation": None,
                "maintenance_reason": None,
                "console_enabled": False,
                "inspection_finished_at": None,
                "inspection_started_at": None,
                "clean_step": {},
                "deploy_step": {},
                "raid_config": {},
                "target_raid_config": {},
                "traits": [],
                "fault": None,
                "conductor": HOST,
                "allocation_uuid": None,
                "boot_mode": None,
                "secure_boot": None,
                "created_at": self.now(),
                "updated_at": None,
                "_boot_device": {"boot_device": "pxe", "persistent": False},
            }
        )

    def check(self, node: Record, changes: dict[str, Any]) -> None:
        """Refuse values that a node cannot have, and normalize booleans in `changes`. Raises ApiError 400 and 409."""
        for name in ("maintenance", "automated_clean", "protected", "retired"):
            if changes.get(name) is not None:
                changes[name] = node[name] = fields.as_boolean(changes[name])
        for name in ("protected", "retired"):
            if changes.get(f"{name}_reason") and not node[name]:
                raise bad_request(f"{name}_reason cannot be set when {name} is False.")
            if name in changes and not node[name]:
                changes[f"{name}_reason"] = None
        if changes.get("protected") and (state := node.get("provision_state", ENROLL)) not in PROTECTABLE:
            raise conflict(f"Node {node['uuid']} can only be protected in the provision states "
                           f"{' and '.join(PROTECTABLE)}, and it is in {state}.")  # fmt: skip
        if changes.get("name"):
            other = self.rows.first(name=changes["name"])
            if other is not None and other["uuid"] != node["uuid"]:
                raise conflict(f"A node with name {changes['name']} already exists.", CONDUCTOR)
        if changes.get("instance_uuid"):
            other = self.rows.first(instance_uuid=changes["instance_uuid"])
            if other is not None and other["uuid"] != node["uuid"]:
                raise conflict(f"Instance {changes['instance_uuid']} is already associated with a node.")
        if changes.get("chassis_uuid") and changes["chassis_uuid"] not in self._chassis:
            raise bad_request(f"Chassis {changes['chassis_uuid']} could not be found.")
        if "driver" in changes and changes["driver"] not in DRIVERS:
            raise bad_request(
                f"No valid host was found. Reason: No conductor service registered which supports driver "
                f'{changes["driver"]} for conductor group "{node["conductor_group"]}". Ensure the driver is valid and '
                "enabled."
            )
        _check_interfaces(node)

    def update(self, node: Record, changes: Mapping[str, Any]) -> None:
        """Set fields of a node; an interface that is removed gets the driver's default."""
        after = dict(changes)
        driver = DRIVERS[str(after.get("driver", node["driver"]))]
        for name in INTERFACES:
            if f"{name}_interface" in after and not after[f"{name}_interface"]:
                after[f"{name}_interface"] = driver[name][0]
        self.rows.update(node, **after, updated_at=self.now())

    def delete(self, node: Record) -> None:
        """Remove a node. Raises ApiError 409 in a state that does not allow it."""
        if node["instance_uuid"] is not None and not node["maintenance"]:
            raise conflict(f"Node {node['uuid']} is associated with instance {node['instance_uuid']}.", CONDUCTOR)
        if node["provision_state"] not in DELETABLE and not node["maintenance"]:
            raise conflict(
                f'Can not delete node "{node["uuid"]}" while it is in provision state "{node["provision_state"]}".'
            )
        if node["protected"]:
            raise ApiError(403, f"Node {node['uuid']} is protected and cannot be undeployed, rebuilt or deleted.")
        self.rows.remove(node)

    def now(self) -> str:
        return self.records.timestamp(TIMESTAMP)

    # -- states ---------------------------------------------------------------------------------------------------

    def provision(self, request: Request, node: Record, action: str) -> None:
        """Begin an action of the state machine. Raises ApiError 400, 403, 406 and 409."""
        if action not in ACTIONS and action != "abort":
            raise bad_request(
                f'The requested action "{action}" can not be performed on node "{node["uuid"]}" while it is in state '
                f'"{node["provision_state"]}".'
            )
        if request.version < SINCE.get(action, (1, 1)):
            raise ApiError(406, f"Request not acceptable. The action {action} needs a newer API version.")
        state = node["provision_state"]
        step = ACTIONS.get(action, {}).get(state)
        if step is None:
            raise bad_request(
                f'The requested action "{action}" can not be performed on node "{node["uuid"]}" while it is in state '
                f'"{state}".'
            )
        if node["protected"] and action in ("deleted", "rebuild"):
            raise ApiError(403, f"Node {node['uuid']} is protected and cannot be undeployed, rebuilt or deleted.")
        if node["maintenance"] and action in ("active", "rebuild"):
            raise bad_request(f"The provisioning operation can't be performed on node {node['uuid']} because it is in "
                              "maintenance mode.")  # fmt: skip
        if not step.during:
            self.rows.update(node, provision_state=step.then, target_provision_state=None, last_error=None,
                             provision_updated_at=self.now())  # fmt: skip
            return
        self._enter(node, step)

    def _enter(self, node: Record, step: Step) -> None:
        target = "available" if step.during == "deleting" else step.then
        now = self.now()
        self.rows.update(
            node,
            provision_state=step.during,
            target_provision_state=target,
            provision_updated_at=now,
            reservation=HOST,
            last_error=None,
        )
        if step.during == "inspecting":
            self.rows.update(node, inspection_started_at=now, inspection_finished_at=None)
        self.after(SECONDS_PER_STATE, self.finish_provisioning, node["uuid"], step.during)

    def finish_provisioning(self, key: str, during: str) -> None:
        """End a state that takes time; a node that a fault rule dooms fails.

        The power interface `fake` does not know the power state of a node before somebody has set it.
        """
        node = self.rows.get(key)
        if node is None or node["provision_state"] != during:
            return
        failed = STEPS[during].failed if during in STEPS else CLEAN.failed
        fault = node.pop("_fault", None)
        now = self.now()
        if fault is not None:
            self.rows.update(node, provision_state=failed, target_provision_state=None, reservation=None,
                             last_error=fault, provision_updated_at=now)  # fmt: skip
            if during == "cleaning":
                self.rows.update(node, maintenance=True, maintenance_reason=fault, fault="clean failure")
            return
        if during == "deleting":
            self.rows.update(node, instance_uuid=None, instance_info={}, power_state="power off")
            self._enter(node, CLEAN)
            return
        after: dict[str, Any] = {}
        if node["power_state"] is None and node["power_interface"] != "fake":
            after["power_state"] = "power off"
        if during in ("deploying", "rescuing", "unrescuing"):
            after["power_state"] = "power on"
        if during == "inspecting":
            after["inspection_finished_at"] = now
            after["properties"] = {"cpu_arch": "x86_64", "cpus": "4", "memory_mb": "8192", "local_gb": "100",
                                   **node["properties"]}  # fmt: skip
        then = node["target_provision_state"]
        self.rows.update(node, **after, provision_state=then, target_provision_state=None, reservation=None,
                         provision_updated_at=now)  # fmt: skip

    def set_power(self, request: Request, node: Record, target: Any) -> None:
        """Begin a change of the power state. Raises ApiError 400 and 406."""
        if not isinstance(target, str) or target not in POWER:
            raise bad_request(
                f'The requested action "{target}" can not be performed on node "{node["uuid"]}" while it is in state '
                f'"{node["power_state"]}".'
            )
        after, since = POWER[target]
        if request.version < since:
            raise ApiError(406, f"Request not acceptable. The target {target} needs a newer API version.")
        if node["power_state"] == target:
            self.rows.update(node, last_error=None)
            return
        self.rows.update(node, target_power_state=after, reservation=HOST, last_error=None)
        seconds = SECONDS_TO_POWER.get(node["power_interface"], SECONDS_PER_STATE)
        self.after(seconds, self.finish_power, node["uuid"], after)

    def finish_power(self, key: str, after: str) -> None:
        """End a change of the power state."""
        node = self.rows.get(key)
        if node is None or node["target_power_state"] != after:
            return
        fault = node.pop("_fault", None)
        state = node["power_state"] if fault is not None else after
        self.rows.update(node, power_state=state, target_power_state=None, reservation=None, last_error=fault)

    def free_for(self, resource_class: str, traits: set[str], candidates: list[str]) -> Record | None:
        """An available node that an allocation can have."""
        for node in self.rows:
            wanted = not candidates or node["uuid"] in candidates or node["name"] in candidates
            fits = node["resource_class"] == resource_class and traits <= set(node["traits"])
            idle = node["provision_state"] == "available" and not node["maintenance"] and not node["retired"]
            if wanted and fits and idle and node["instance_uuid"] is None and node["reservation"] is None:
                return node
        return None


def _check_interfaces(node: Mapping[str, Any]) -> None:
    """Refuse an implementation of an interface that no driver has, or not the driver of the node. ApiError 400."""
    driver = DRIVERS[node["driver"]]
    for name in INTERFACES:
        chosen = node[f"{name}_interface"]
        if not chosen or chosen in driver[name]:
            continue
        enabled = sorted({one for interfaces in DRIVERS.values() for one in interfaces[name]})
        if chosen not in enabled:
            raise bad_request(
                f"Could not find the following interface in the 'ironic.hardware.interfaces.{name}' entrypoint: "
                f"{chosen}. Valid interfaces are {enabled}.",
                CONDUCTOR,
            )
        raise bad_request(
            f"{name} interface implementation '{chosen}' is not supported by hardware type {node['driver']}.",
            CONDUCTOR,
        )


def may_see(request: Request, node: Mapping[str, Any]) -> bool:
    """Whether the caller may see a node: administrators and observers see all, others those that they own or lease."""
    caller = request.context
    if observes(caller):
        return True
    return caller.project_id is not None and caller.project_id in (node["owner"], node["lessee"])


def require_unlocked(node: Mapping[str, Any]) -> None:
    """Raise ApiError 409 for a node that something is being done to."""
    if node["reservation"] is not None:
        raise conflict(
            f"Node {node['uuid']} is locked by host {node['reservation']}, please retry after the current operation "
            "is completed."
        )
