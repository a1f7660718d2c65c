"""OS::Neutron::SecurityGroup"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from stoker.base.errors import NotSupported
from stoker.plugins.resource import Call
from stoker.resources.declare import one_of
from stoker.resources.neutron.allowances import SECURITY_GROUP
from stoker.resources.neutron.rule_set import RuleSet, live_rules
from stoker.resources.neutron.security_rules import RULE, port_problems, with_string_numbers
from stoker.resources.wire import NOT_SENT, without_nulls
from stoker.schema.live import FETCHED
from stoker.schema.property import Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

_STATEFUL = "stateful-security-group"
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


class SecurityGroup(RuleSet):
    """A set of rules for the traffic of ports."""

    type_name = "OS::Neutron::SecurityGroup"
    description = "A set of rules for the incoming and outgoing traffic of the ports in the group."
    consumes = SECURITY_GROUP
    extension = "security-group"
    support = Support(version="2014.1")
    readers = {**RuleSet.readers, "rules": partial(live_rules, "rules")}

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
            live=FETCHED,
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

    def shown_rule(self, rule: Mapping[str, object]) -> tuple[str, dict[str, object]]:
        group = rule.get("remote_group_id")
        mode = "remote_group_id" if group else "remote_ip_prefix"
        return "rules", {
            **{name: rule.get(name) for name in _GROUP_RULE},
            "description": rule.get("description") or None,
            "remote_mode": mode,
            "remote_group_id": group,
        }

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        if "stateful" in body and not await call.cloud.has_extension("neutron", _STATEFUL):
            if not body["stateful"]:
                raise NotSupported(f"stateful cannot be false, because Neutron lacks the extension {_STATEFUL}.")
            del body["stateful"]
        return body

    async def update_body(self, call: Call) -> dict[str, object]:
        if "stateful" in call.changed:
            params = {"security_groups": call.physical_id, "fields": "id"}
            if await call.cloud.list("neutron", "/v2.0/ports", "ports", params):
                raise NotSupported("stateful cannot be changed while ports use the group.")
        return await super().update_body(call)

    def declared_rules(self, properties: Mapping[str, Any]) -> list[object]:
        return properties["rules"] or []

    async def sent_rule(self, call: Call, rule: Any) -> dict[str, object]:
        return _sent(rule, str(call.physical_id))


def _sent(rule: Mapping[str, object], group: str) -> dict[str, object]:
    body = {**rule, "security_group_id": group}
    mode = body.pop("remote_mode")
    if mode == "remote_group_id":
        body |= {"remote_group_id": rule["remote_group_id"] or group, "remote_ip_prefix": None}
    else:
        body["remote_group_id"] = None
    return without_nulls(with_string_numbers(body))
