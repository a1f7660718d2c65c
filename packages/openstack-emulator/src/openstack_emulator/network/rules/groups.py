"""Security groups."""

from __future__ import annotations

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import conflict
from openstack_emulator.network.records.core import SecurityGroup
from openstack_emulator.network.rules.group_rules import ETHERTYPES
from openstack_emulator.network.rules.kinds.kind import Actor, Values
from openstack_emulator.network.rules.resources import Resources

DEFAULT = "default"


class SecurityGroups(Resources[SecurityGroup]):
    """Every project has a group `default`, made when it first needs it."""

    def prepare_create(self, actor: Actor, draft: SecurityGroup, values: Values) -> None:
        if draft.name.lower() == DEFAULT:
            raise conflict("Default security group already exists.", "SecurityGroupDefaultAlreadyExists")
        self.state.check_quota(draft.project_id, "security_group_rule", len(ETHERTYPES))
        self.default_of(draft.project_id)

    def after_create(self, actor: Actor, record: SecurityGroup) -> None:
        self._allow(record, "egress")

    def prepare_update(self, actor: Actor, record: SecurityGroup, after: SecurityGroup, values: Values) -> None:
        if record.name == DEFAULT and values.get("name", DEFAULT) != DEFAULT:
            raise conflict("Updating default security group not allowed.", "SecurityGroupCannotUpdateDefault")
        if record.name != DEFAULT and values.get("name", "").lower() == DEFAULT:
            raise conflict("Default security group already exists.", "SecurityGroupDefaultAlreadyExists")
        if after.stateful != record.stateful and self._ports(record):
            raise self.used(record)

    def refuse_delete(self, actor: Actor, record: SecurityGroup) -> None:
        if record.name == DEFAULT and not actor.admin:
            raise conflict(
                "Insufficient rights for removing default security group.", "SecurityGroupCannotRemoveDefault"
            )
        if self._ports(record):
            raise self.used(record)

    def default_of(self, project_id: str) -> SecurityGroup:
        """The project's group `default`."""
        found = self.rows.first(project_id=project_id, name=DEFAULT)
        if found is not None:
            return found
        values = {"name": DEFAULT, "description": "Default security group"}
        group = self.put(self.kind.draft(new_id(), project_id, values))
        self._allow(group, "ingress", remote_group_id=group.id)
        self._allow(group, "egress")
        return group

    def _ports(self, record: SecurityGroup) -> set[str]:
        return self.state.ports.group_ports.get(record.id, set())

    def _allow(self, group: SecurityGroup, direction: str, **fields: object) -> None:
        """A rule for each IP version that lets everything through."""
        rules = self.state.of("security_group_rules")
        values = {"security_group_id": group.id, "direction": direction, "description": None, **fields}
        for ethertype in ETHERTYPES:
            rules.put(rules.kind.draft(new_id(), group.project_id, {**values, "ethertype": ethertype}))
