"""OS::Neutron::SecurityGroupRule"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded
from stoker.resources.declare import custom
from stoker.resources.neutron.allowances import SECURITY_GROUP_RULES, counts
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.security_rules import RULE, port_problems, rule_key, with_string_numbers
from stoker.schema.property import SUPPORTED, Property, Support

_GROUP = custom("neutron.security_group")


class SecurityGroupRule(NeutronResource):
    """A rule of an existing security group."""

    type_name = "OS::Neutron::SecurityGroupRule"
    description = "A rule of an existing security group."
    consumes = counts(SECURITY_GROUP_RULES)
    collection = collection("security_group_rule", "/v2.0/security-group-rules")
    extension = "security-group"
    exclusion = Exclusion(lambda one, other: _without_description(one) == _without_description(other))
    support = Support(version="7.0.0")
    identity = None
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "No two rules of a group are the same: a rule with the requested fields must have been created since the "
        "action began, and belong to no other resource.",
    )

    properties = {
        **RULE,
        "description": replace(RULE["description"], support=SUPPORTED),
        "security_group": Property(
            description="The group, by name or ID.",
            required=True,
            wire="security_group_id",
            reference="neutron.security_group",
        ),
        "protocol": replace(RULE["protocol"], default="tcp"),
        "remote_group": Property(
            description="The security group of the remote end, by name or ID.",
            wire="remote_group_id",
            reference="neutron.security_group",
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("remote_group") is not None and properties.get("remote_ip_prefix") is not None:
            yield "remote_group and remote_ip_prefix cannot be given together"
        yield from port_problems(properties)

    async def create_body(self, call: Call) -> dict[str, object]:
        return with_string_numbers(await super().create_body(call))

    async def find(self, call: Call) -> str | None:
        declared = rule_key(await self.create_body(call))
        same = [
            rule["id"]
            for rule in await self._rules(call)
            if rule_key(rule) == declared and self.made_by(call, {}, rule)
        ]
        return min(await unrecorded(call, same), default=None)

    async def _rules(self, call: Call) -> list[dict[str, Any]]:
        params = {"security_group_id": call.properties["security_group"]}
        return await call.cloud.list("neutron", self.collection.path, self.collection.members, params)


def _without_description(rule: Mapping[str, object]) -> Mapping[str, object]:
    """Return a rule without its description, which Neutron ignores when it looks for duplicates."""
    return {**rule, "description": None}
