"""QoS policies with their rules, and rules of metering labels."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, conflict
from openstack_emulator.network.records.core import MeteringLabelRule, QosPolicy, QosRule
from openstack_emulator.network.rules.attributes import network_of
from openstack_emulator.network.rules.errors import in_use
from openstack_emulator.network.rules.kinds.kind import Actor, Deletion, Values
from openstack_emulator.network.rules.resources import Resources


class QosPolicies(Resources[QosPolicy]):
    """Made by admins, used by everybody they are shared with."""

    def used(self, record: QosPolicy) -> ApiError:
        for kind, name, attribute in self.state.kinds.referrers[self.kind.plural]:
            user = self.state.rows.of(kind.record).first(**{name: record.id})
            if user is not None and attribute.on_delete is Deletion.REFUSE:
                where = f"{kind.label.lower()} {user.id}"
                return in_use("QosPolicyInUse", f"QoS Policy {record.id} is used by {where}.")
        return super().used(record)


class QosRules(Resources[QosRule]):
    """Rules of one type and policy differ in direction."""

    def visible(self, actor: Actor, record: QosRule) -> bool:
        policies = self.state.of("policies")
        return policies.visible(actor, policies.rows.require(record.qos_policy_id))

    def prepare_create(self, actor: Actor, draft: QosRule, values: Values) -> None:
        draft.project_id = self.state.rows.policies.require(draft.qos_policy_id).project_id
        self._refuse_double(draft)

    def prepare_update(self, actor: Actor, record: QosRule, after: QosRule, values: Values) -> None:
        self._refuse_double(after)

    def _refuse_double(self, rule: QosRule) -> None:
        for other in self.rows.select(qos_policy_id=rule.qos_policy_id):
            if other.id != rule.id and other.get("direction") == rule.get("direction"):
                raise conflict(
                    f"Rule {self.kind.name.removesuffix('_rule')} conflicts with rule {other.id} which already "
                    f"exists in QoS Policy {rule.qos_policy_id}.",
                    "QoSRulesConflict",
                )


class MeteringRules(Resources[MeteringLabelRule]):
    """The rules of one label and direction do not overlap."""

    def prepare_create(self, actor: Actor, draft: MeteringLabelRule, values: Values) -> None:
        prefix = draft.remote_ip_prefix
        for other in self.rows.select(metering_label_id=draft.metering_label_id):
            beside = other.direction == draft.direction and other.remote_ip_prefix
            if prefix and beside and network_of(beside).overlaps(network_of(prefix)):
                raise conflict(
                    f"Metering label rule with remote_ip_prefix '{prefix}' overlaps another.",
                    "MeteringLabelRuleOverlaps",
                )
