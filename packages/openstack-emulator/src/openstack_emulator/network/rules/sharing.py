"""RBAC policies, which open objects to other projects."""

from __future__ import annotations

import re

from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.network.records.core import RbacPolicy
from openstack_emulator.network.rules.errors import disallowed_by, in_use, invalid_input
from openstack_emulator.network.rules.kinds.kind import Actor, Values
from openstack_emulator.network.rules.resources import EVERYONE, Resources

TARGET = "target_tenant"
SHAREABLE = {
    "network": "networks",
    "qos_policy": "policies",
    "security_group": "security_groups",
    "address_scope": "address_scopes",
    "subnetpool": "subnetpools",
    "address_group": "address_groups",
}
"""The kinds of objects that policies open, and their plurals."""


class RbacPolicies(Resources[RbacPolicy]):
    """Who besides its owner may use an object."""

    def prepare_create(self, actor: Actor, draft: RbacPolicy, values: Values) -> None:
        kind, action = draft.object_type, draft.action
        if kind not in SHAREABLE:
            raise invalid_input(f"'{kind}' is not a valid RBAC object type.")
        actions = ("access_as_shared", "access_as_external") if kind == "network" else ("access_as_shared",)
        if action not in actions:
            raise bad_request(
                f"Invalid action '{action}' for object type '{kind}'. Valid actions: {actions}", "InvalidActionForType"
            )
        objects = self.state.of(SHAREABLE[kind])
        shared = objects.rows.get(draft.object_id)
        if shared is None:
            raise invalid_input(f"{objects.kind.label} {draft.object_id} could not be found.")
        if not actor.owns(shared):
            raise invalid_input("Only admins can manipulate policies on objects they do not own.")
        _check_target(draft.target_tenant)
        self._refuse_wildcard(actor, draft.target_tenant, "create")
        target = draft.target_tenant
        if self.rows.first(object_id=draft.object_id, action=action, target_tenant=target) is not None:
            raise conflict("An RBAC policy already exists with those values.", "DuplicateRbacPolicy")

    def after_create(self, actor: Actor, record: RbacPolicy) -> None:
        if record.action == "access_as_external":
            network = self.state.rows.networks.require(record.object_id)
            self.state.of("networks").change(network, external=True)

    def prepare_update(self, actor: Actor, record: RbacPolicy, after: RbacPolicy, values: Values) -> None:
        _check_target(values.get("target_tenant", EVERYONE))
        self._refuse_wildcard(actor, values.get("target_tenant", ""), "update")
        self._refuse_while_used(record)

    def refuse_delete(self, actor: Actor, record: RbacPolicy) -> None:
        self._refuse_while_used(record)

    def _refuse_wildcard(self, actor: Actor, target: str, action: str) -> None:
        if target == EVERYONE and not actor.admin:
            rules = f"rule:{action}_rbac_policy"
            for name in ("object_type", "object_id", "target_tenant", "action") if action == "create" else (TARGET,):
                rules = f"({rules} and rule:{action}_rbac_policy:{name})"
            raise disallowed_by(rules)

    def _refuse_while_used(self, policy: RbacPolicy) -> None:
        """409 while a project that has access through this policy alone has ports on the network."""
        if policy.object_type != "network" or policy.action != "access_as_shared":
            return
        network = self.state.rows.networks.require(policy.object_id)
        others = [p for p in self.rows.select(object_id=network.id, action="access_as_shared") if p is not policy]
        open_to = {p.target_tenant for p in others} | {"", network.project_id}
        for port in self.state.rows.ports.select(network_id=network.id):
            concerned = policy.target_tenant in (EVERYONE, port.project_id)
            if concerned and EVERYONE not in open_to and port.project_id not in open_to:
                raise in_use(
                    "RbacPolicyInUse",
                    f"RBAC policy on object {network.id} cannot be removed because other objects depend on it.",
                )


def _check_target(target: str) -> None:
    """Refuse a target that cannot be the ID of a project; whether there is such a project is not checked."""
    if target != EVERYONE and re.fullmatch(r"[0-9a-f]{32}", target.replace("-", "").lower()) is None:
        raise invalid_input(f"'{target}' is not a valid target project ID; expected a UUID or '*'.")
