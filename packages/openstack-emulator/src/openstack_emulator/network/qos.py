"""QoS policies, their rules, and address groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.core.store import Record
from openstack_emulator.network.attributes import ip_or_cidr, items, network_of
from openstack_emulator.network.errors import in_use
from openstack_emulator.network.kinds import Actor, Deletion
from openstack_emulator.network.kinds_security import QOS_RULES
from openstack_emulator.network.table import Table

UNSHOWN = ("project_id", "tenant_id", "qos_policy_id")
"""What rules have and do not show."""
ADDRESSES = items(ip_or_cidr, distinct=True)


class QosPolicies(Table):
    """Made by admins, used by everybody they are shared with."""

    def view(self, actor: Actor, record: Record) -> Record:
        shown = super().view(actor, record)
        shown["rules"] = [
            {
                **table.view(actor, rule),
                "qos_policy_id": record["id"],
                "type": kind.name.removesuffix("_rule"),
            }
            for kind in QOS_RULES
            for table in (self.state.table(kind.plural),)
            for rule in table.rows.select(qos_policy_id=record["id"])
        ]
        return shown

    def used(self, record: Record) -> ApiError:
        for kind, name, attribute in self.state.kinds.referrers[self.kind.plural]:
            user = self.state.rows[kind.plural].first(**{name: record["id"]})
            if user is not None and attribute.on_delete is Deletion.REFUSE:
                where = f"{kind.label.lower()} {user['id']}"
                return in_use("QosPolicyInUse", f"QoS Policy {record['id']} is used by {where}.")
        return super().used(record)


class QosRules(Table):
    """Rules of one type and policy differ in direction."""

    def visible(self, actor: Actor, record: Record) -> bool:
        policies = self.state.table("policies")
        return policies.visible(actor, policies.rows.require(record["qos_policy_id"]))

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        wanted["project_id"] = self.state.rows["policies"].require(wanted["qos_policy_id"])["project_id"]
        self._refuse_double(wanted)

    def revise(self, actor: Actor, record: Record, changes: Record) -> None:
        self._refuse_double({**record, **changes})

    def view(self, actor: Actor, record: Record) -> Record:
        shown = super().view(actor, record)
        return {name: value for name, value in shown.items() if name not in UNSHOWN}

    def _refuse_double(self, wanted: Mapping[str, Any]) -> None:
        for other in self.rows.select(qos_policy_id=wanted["qos_policy_id"]):
            if other["id"] != wanted["id"] and other.get("direction") == wanted.get("direction"):
                raise conflict(
                    f"Rule {self.kind.name.removesuffix('_rule')} conflicts with rule {other['id']} which already "
                    f"exists in QoS Policy {wanted['qos_policy_id']}.",
                    "QoSRulesConflict",
                )


class MeteringRules(Table):
    """The rules of one label and direction do not overlap."""

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        prefix = wanted["remote_ip_prefix"]
        for other in self.rows.select(metering_label_id=wanted["metering_label_id"]):
            beside = other["direction"] == wanted["direction"] and other["remote_ip_prefix"]
            if prefix and beside and network_of(beside).overlaps(network_of(prefix)):
                raise conflict(
                    f"Metering label rule with remote_ip_prefix '{prefix}' overlaps another.",
                    "MeteringLabelRuleOverlaps",
                )

    def view(self, actor: Actor, record: Record) -> Record:
        return {name: value for name, value in super().view(actor, record).items() if name not in UNSHOWN}


class AddressGroups(Table):
    """Lists of addresses that security group rules name as their remote side."""

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        wanted["addresses"] = sorted({_prefix(address) for address in wanted["addresses"]})

    def change_addresses(self, actor: Actor, record: Record, added: Any, removed: Any) -> None:
        """Put addresses in, take others out. Raises: ApiError 400 for ones that are there already or are not."""
        self.refuse_strangers(actor, record, "update")
        new, old = self._addresses(added), self._addresses(removed)
        present = set(record["addresses"])
        if known := present & new:
            raise bad_request(
                f"Addresses {sorted(known)} already exist in the address group {record['id']}.", "AddressesAlreadyExist"
            )
        if absent := old - present:
            raise bad_request(
                f"Addresses {sorted(absent)} not found in the address group {record['id']}.", "AddressesNotFound"
            )
        self.change(record, {"addresses": sorted((present | new) - old)})

    def _addresses(self, given: Any) -> set[str]:
        try:
            return {_prefix(address) for address in ADDRESSES(given)}
        except ValueError:
            word = next((one for one in given if not _is_prefix(one)), given) if isinstance(given, list) else given
            raise bad_request(f"invalid IPNetwork {word}", "AddrFormatError") from None


def _is_prefix(value: Any) -> bool:
    try:
        return bool(ip_or_cidr(value))
    except ValueError:
        return False


def _prefix(address: str) -> str:
    if "/" in address:
        return address
    return f"{address}/{128 if ':' in address else 32}"
