"""OS::Neutron::SecurityGroup"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError, NotSupported
from stoker.plugins.resource import Call
from stoker.resources.declare import one_of
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.security_rules import FIELDS, RULE, RuleKey, port_problems, rule_key, with_string_numbers
from stoker.resources.wire import NOT_SENT, without_nulls
from stoker.schema.property import Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

_STATEFUL = "stateful-security-group"
_RULES = "/v2.0/security-group-rules"
_DEFAULT_RULES = tuple({"direction": "egress", "ethertype": version} for version in ("IPv4", "IPv6"))
"""The rules that Neutron gives to every new group."""

_GROUP_RULE = {
    **RULE,
    "remote_mode": Property(
        description="Whether remote_ip_prefix or remote_group_id determines the remote end.",
        default="remote_ip_prefix",
        constraints=one_of("remote_ip_prefix", "remote_group_id"),
    ),
    "remote_group_id": Property(
        description="The security group of the remote end, by name or ID; if not given, this group.",
        reference="neutron.security_group",
    ),
}


class SecurityGroup(NeutronResource):
    """A set of rules for the traffic of ports."""

    type_name = "OS::Neutron::SecurityGroup"
    description = "A set of rules for the incoming and outgoing traffic of the ports in the group."
    collection = collection("security_group", "/v2.0/security-groups")
    ports_by = "security_groups={id}"
    extension = "security-group"
    support = Support(version="2014.1")

    properties = {
        "name": Property(description="Name of the group.", change=Change.UPDATE),
        "description": Property(description="Description of the group.", change=Change.UPDATE),
        "rules": Property(
            Type.LIST,
            "The group's rules. Without an egress rule, all outgoing traffic is allowed.",
            items=Property(Type.MAP, "A rule.", schema=_GROUP_RULE),
            default=[],
            change=Change.UPDATE,
            wire=NOT_SENT,
        ),
        "stateful": Property(
            Type.BOOLEAN,
            "Whether the rules are stateful, so that responses to allowed traffic are allowed.",
            change=Change.UPDATE,
            support=Support(version="27.0.0"),
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        if properties.get("name") == "default":
            yield "the name default is reserved for Neutron's own group; choose another name"
        rules = properties.get("rules")
        for rule in [] if is_unknown(rules) else rules or []:
            if not is_unknown(rule):
                yield from port_problems(rule)

    async def create_body(self, call: Call) -> dict[str, Any]:
        body = await super().create_body(call)
        if "stateful" in body and not await call.cloud.has_extension("neutron", _STATEFUL):
            if not body["stateful"]:
                raise NotSupported(f"stateful cannot be false, because Neutron lacks the extension {_STATEFUL}.")
            del body["stateful"]
        return body

    async def update_body(self, call: Call) -> dict[str, Any]:
        if "stateful" in call.changed:
            params = {"security_groups": call.physical_id, "fields": "id"}
            if await call.cloud.list("neutron", "/v2.0/ports", "ports", params):
                raise NotSupported("stateful cannot be changed while ports use the group.")
        return await super().update_body(call)

    async def begin(self, call: Call) -> dict[str, Any]:
        made = await super().begin(call)
        call.progress["rules"] = [_brief(rule) for rule in made.get("security_group_rules") or []]
        return made

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties["rules"])

    async def add_extras(self, call: Call) -> None:
        try:
            await self._apply_rules(call, call.progress.get("rules"))
        except CloudError as error:
            if not error.conflict:
                raise
            # An interrupted creation has already added rules.
            await self._apply_rules(call, None)

    async def change_extras(self, call: Call) -> None:
        if "rules" in call.changed:
            await self._apply_rules(call, None)

    async def _apply_rules(self, call: Call, present: list[dict[str, Any]] | None) -> None:
        """Set the group's rules as declared; `present` are its current ones, None if not known."""
        cloud = call.cloud
        if present is None:
            shown = await cloud.get("neutron", self.member_path(call))
            present = shown["security_group"]["security_group_rules"]
        wanted = _wanted(call)
        held = {rule_key(rule): rule["id"] for rule in present}
        for identifier in [held[key] for key in held.keys() - wanted.keys()]:
            await cloud.delete("neutron", f"{_RULES}/{identifier}", ok=(404,))
        missing = [rule for key, rule in wanted.items() if key not in held]
        if missing:
            await cloud.post("neutron", _RULES, {"security_group_rules": missing})


def _wanted(call: Call) -> dict[RuleKey, dict[str, Any]]:
    """Return the group's declared rules in the form of requests."""
    rules = [_sent(rule, str(call.physical_id)) for rule in call.properties["rules"] or []]
    if not any(rule["direction"] == "egress" for rule in rules):
        rules += [{**rule, "security_group_id": call.physical_id} for rule in _DEFAULT_RULES]
    return {rule_key(rule): rule for rule in rules}


def _sent(rule: Mapping[str, Any], group: str) -> dict[str, Any]:
    body = {**rule, "security_group_id": group}
    mode = body.pop("remote_mode")
    if mode == "remote_group_id":
        body |= {"remote_group_id": rule["remote_group_id"] or group, "remote_ip_prefix": None}
    else:
        body["remote_group_id"] = None
    return without_nulls(with_string_numbers(body))


def _brief(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {name: rule.get(name) for name in ("id", *FIELDS)}
