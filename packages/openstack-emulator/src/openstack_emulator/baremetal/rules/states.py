"""The provision states and power states that nodes pass through."""

from __future__ import annotations

from openstack_emulator.baremetal.records import Node
from openstack_emulator.baremetal.rules.drivers import HOST
from openstack_emulator.baremetal.rules.nodes import Nodes, require_unprotected
from openstack_emulator.baremetal.rules.provisioning import ACTIONS, CLEAN, POWER, SINCE, STEPS, Step
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Version
from openstack_emulator.core.rules import Rules

SECONDS_PER_STATE = 5.0
SECONDS_TO_POWER = {"fake": 0.0}
"""How long a change of the power state takes, by the node's power interface; with others SECONDS_PER_STATE."""
_FOUND = {"cpu_arch": "x86_64", "cpus": "4", "memory_mb": "8192", "local_gb": "100"}
"""What an inspection finds."""


class States(Rules):
    """The state machine of nodes."""

    def __init__(self, records: Records, nodes: Nodes) -> None:
        super().__init__(records)
        self._nodes = nodes
        records.deferrable(self.finish_provisioning, self.finish_power)

    def provision(self, version: Version, node: Node, action: str) -> None:
        """Begin an action of the state machine. Raises ApiError 400, 403, 406 and 409."""
        if action not in ACTIONS and action != "abort":
            raise _impossible(node, action, node.provision_state)
        if version < SINCE.get(action, (1, 1)):
            raise ApiError(406, f"Request not acceptable. The action {action} needs a newer API version.")
        step = ACTIONS.get(action, {}).get(node.provision_state)
        if step is None:
            raise _impossible(node, action, node.provision_state)
        if action in ("deleted", "rebuild"):
            require_unprotected(node)
        if node.maintenance and action in ("active", "rebuild"):
            raise bad_request(f"The provisioning operation can't be performed on node {node.uuid} because it is in "
                              "maintenance mode.")  # fmt: skip
        if step.during:
            self._enter(node, step)
            return
        node.last_error = None
        self._leave(node, step.then)

    def _enter(self, node: Node, step: Step) -> None:
        node.provision_state = step.during
        node.target_provision_state = "available" if step.during == "deleting" else step.then
        node.provision_updated_at = self._nodes.now()
        node.reservation = HOST
        node.last_error = None
        if step.during == "inspecting":
            node.inspection_started_at, node.inspection_finished_at = node.provision_updated_at, None
        self._nodes.rows.save(node)
        self.after(SECONDS_PER_STATE, self.finish_provisioning, node.uuid, step.during)

    def _leave(self, node: Node, state: str) -> None:
        """Put a node into a state that lasts."""
        node.provision_state = state
        node.target_provision_state = None
        node.provision_updated_at = self._nodes.now()
        self._nodes.rows.save(node)

    def finish_provisioning(self, key: str, during: str) -> None:
        """End a state that takes time; a node with an injected fault fails.

        The power interface `fake` does not know the power state of a node before somebody has set it.
        """
        node = self._nodes.rows.get(key)
        if node is None or node.provision_state != during:
            return
        fault = node.take_fault()
        if fault is not None:
            self._fail(node, during, fault)
            return
        if during == "deleting":
            node.instance_uuid, node.instance_info, node.power_state = None, {}, "power off"
            self._enter(node, CLEAN)
            return
        if node.power_state is None and node.power_interface != "fake":
            node.power_state = "power off"
        if during in ("deploying", "rescuing", "unrescuing"):
            node.power_state = "power on"
        if during == "inspecting":
            node.inspection_finished_at = self._nodes.now()
            node.properties = {**_FOUND, **node.properties}
        node.reservation = None
        self._leave(node, node.target_provision_state or during)

    def _fail(self, node: Node, during: str, reason: str) -> None:
        node.reservation, node.last_error = None, reason
        if during == "cleaning":
            node.maintenance, node.maintenance_reason, node.recorded_fault = True, reason, "clean failure"
        self._leave(node, STEPS[during].failed if during in STEPS else CLEAN.failed)

    def set_power(self, version: Version, node: Node, target: object) -> None:
        """Begin a change of the power state. Raises ApiError 400 and 406."""
        if not isinstance(target, str) or target not in POWER:
            raise _impossible(node, target, node.power_state)
        after, since = POWER[target]
        if version < since:
            raise ApiError(406, f"Request not acceptable. The target {target} needs a newer API version.")
        node.last_error = None
        if node.power_state == target:
            self._nodes.rows.save(node)
            return
        node.target_power_state, node.reservation = after, HOST
        self._nodes.rows.save(node)
        seconds = SECONDS_TO_POWER.get(node.power_interface or "", SECONDS_PER_STATE)
        self.after(seconds, self.finish_power, node.uuid, after)

    def finish_power(self, key: str, after: str) -> None:
        """End a change of the power state."""
        node = self._nodes.rows.get(key)
        if node is None or node.target_power_state != after:
            return
        node.last_error = node.take_fault()
        if node.last_error is None:
            node.power_state = after
        node.target_power_state, node.reservation = None, None
        self._nodes.rows.save(node)


def _impossible(node: Node, action: object, state: str | None) -> ApiError:
    return bad_request(
        f'The requested action "{action}" can not be performed on node "{node.uuid}" while it is in state "{state}".'
    )
