"""Security groups: objects of Neutron with rules that are set by separate requests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded
from stoker.resources.live_values import NotShown
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.security_rules import FIELDS, RuleKey, rule_key

_RULES = "/v2.0/security-group-rules"
_DEFAULT_RULES = tuple({"direction": "egress", "ethertype": version} for version in ("IPv4", "IPv6"))
"""The rules that Neutron gives to every new group."""


async def live_rules(name: str, kind: RuleSet, call: Call, shown: Mapping[str, Any]) -> list[object]:
    """Return the rules of the property `name` that the group has, and others that no property declares.

    Rules that are resources of their own belong to the template, too.
    """
    present = {rule_key(rule): rule for rule in shown["security_group_rules"]}
    expected = await _complete_rules(kind, call)
    given = call.properties[name]
    declared = kind.declared_rules({**dict.fromkeys(kind.properties), name: given})
    keys = [rule_key(await kind.sent_rule(call, rule)) for rule in declared]
    if (expected.keys() - present.keys()) - set(keys):
        raise NotShown("a rule that the template implies, for all outgoing traffic, is missing")
    free = await unrecorded(call, [rule["id"] for key, rule in present.items() if key not in expected])
    strange = [kind.shown_rule(rule) for rule in present.values() if rule["id"] in free]
    kept = [rule for rule, key in zip(given, keys, strict=True) if key in present]
    return [*kept, *(rule for owner, rule in strange if owner == name or not call.gives(owner))]


class RuleSet(NeutronResource):
    """A security group whose rules are declared as Neutron's rules, or in another form."""

    collection = collection("security_group", "/v2.0/security-groups")
    ports_by = "security_groups={id}"

    @abstractmethod
    def declared_rules(self, properties: Mapping[str, object]) -> list[object]:
        """Return the rules in the properties, in the template's form."""

    @abstractmethod
    async def sent_rule(self, call: Call, rule: object) -> dict[str, object]:
        """Return a declared rule in the form of requests."""

    def shown_rule(self, rule: Mapping[str, object]) -> tuple[str, object]:
        """Return the property that declares a rule of the group, and the rule in the template's form."""
        raise NotImplementedError(f"{self.type_name} does not say how it declares rules")

    async def begin(self, call: Call) -> dict[str, Any]:
        made = await super().begin(call)
        call.progress["rules"] = [_brief(rule) for rule in made.get("security_group_rules") or []]
        return made

    def needs_extras(self, call: Call) -> bool:
        return bool(self.declared_rules(call.properties))

    async def add_extras(self, call: Call) -> None:
        try:
            await self._apply_rules(call, call.progress.get("rules"))
        except CloudError as error:
            if not error.conflict:
                raise
            # An interrupted creation has already added rules.
            await self._apply_rules(call, None)

    async def change_extras(self, call: Call) -> None:
        if self.declared_rules(call.properties) != self.declared_rules(call.previous or call.properties):
            await self._apply_rules(call, None)

    async def _apply_rules(self, call: Call, present: list[dict[str, Any]] | None) -> None:
        """Set the group's rules as declared; `present` are its current ones, None if not known."""
        cloud = call.cloud
        if present is None:
            shown = await cloud.get("neutron", self.member_path(call))
            present = shown["security_group"]["security_group_rules"]
        declared = await _complete_rules(self, call)
        held = {rule_key(rule): rule["id"] for rule in present}
        # Rules that are resources of their own stay.
        for identifier in await unrecorded(call, [held[key] for key in held.keys() - declared.keys()]):
            await cloud.delete("neutron", f"{_RULES}/{identifier}", ok=(404,))
        missing = [rule for key, rule in declared.items() if key not in held]
        if missing:
            await cloud.post("neutron", _RULES, {"security_group_rules": missing})


async def _complete_rules(kind: RuleSet, call: Call) -> dict[RuleKey, dict[str, object]]:
    """Return the declared rules in the form of requests, with Neutron's defaults where none is for egress."""
    rules = [await kind.sent_rule(call, rule) for rule in kind.declared_rules(call.properties)]
    if not any(rule["direction"] == "egress" for rule in rules):
        rules += [{**rule, "security_group_id": call.physical_id} for rule in _DEFAULT_RULES]
    return {rule_key(rule): rule for rule in rules}


def _brief(rule: Mapping[str, object]) -> dict[str, object]:
    return {name: rule.get(name) for name in ("id", *FIELDS)}
