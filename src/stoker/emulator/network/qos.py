"""QoS policies, their rules, and address groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.emulator.core.errors import bad_request, conflict
from stoker.emulator.core.store import Record
from stoker.emulator.network.attributes import ip_or_cidr, items
from stoker.emulator.network.errors import invalid
from stoker.emulator.network.kinds import Actor
from stoker.emulator.network.kinds_security import QOS_RULES
from stoker.emulator.network.table import Table

ADDRESSES = items(ip_or_cidr, distinct=True)


class QosPolicies(Table):
    """Made by admins, used by everybody they are shared with."""

    def view(self, actor: Actor, record: Record) -> Record:
        shown = super().view(actor, record)
        shown["rules"] = [
            {**table.view(actor, rule), "type": kind.name.removesuffix("_rule")}
            for kind in QOS_RULES
            for table in (self.state.table(kind.plural),)
            for rule in table.rows.select(qos_policy_id=record["id"])
        ]
        return shown


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
        return {name: value for name, value in shown.items() if name not in ("project_id", "tenant_id")}

    def _refuse_double(self, wanted: Mapping[str, Any]) -> None:
        for other in self.rows.select(qos_policy_id=wanted["qos_policy_id"]):
            if other["id"] != wanted["id"] and other.get("direction") == wanted.get("direction"):
                raise conflict(
                    f"Rule {self.kind.name.removesuffix('_rule')} conflicts with rule {other['id']} which already "
                    f"exists in QoS Policy {wanted['qos_policy_id']}.",
                    "QoSRulesConflict",
                )


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
        except ValueError as error:
            raise invalid("addresses", str(error)) from None


def _prefix(address: str) -> str:
    if "/" in address:
        return address
    return f"{address}/{128 if ':' in address else 32}"
