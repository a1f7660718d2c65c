"""OS::Neutron::Firewall, OS::Neutron::FirewallPolicy and OS::Neutron::FirewallRule (FWaaS, version 1 of the API)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stoker.plugins.resource import Call, Waiter
from stoker.resources.base import Collection
from stoker.resources.declare import custom, one_of
from stoker.resources.neutron.base import VALUE_SPECS, NeutronResource, collection
from stoker.resources.neutron.vpn_service import ADMIN_STATE_UP, DESCRIPTION, NAME, string_attributes
from stoker.schema.live import Live, LiveSource
from stoker.schema.property import Attribute, Change, Property, Support, Type

_EXTENSION = "fwaas"
_ANY = "any"
_UNSUPPORTED = Support("UNSUPPORTED", "6.0.0")
_SHARED = Property(
    Type.BOOLEAN, "Whether every project may use it; for administrators.", default=False, change=Change.UPDATE
)


class Firewall(NeutronResource):
    """A firewall on a project's routers."""

    type_name = "OS::Neutron::Firewall"
    description = "A firewall on the routers of a project, with the rules of a policy."
    collection = collection("firewall", "/v2.0/fw/firewalls")
    extension = _EXTENSION
    strict_value_specs = True
    waits = Waiter.until("ACTIVE", "INACTIVE", pending=("PENDING_CREATE", "PENDING_UPDATE"), failed=("ERROR",))
    deleting = Waiter.until("DELETED", pending=("PENDING_DELETE", "ACTIVE", "INACTIVE", "DOWN"), failed=("ERROR",))

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        "admin_state_up": ADMIN_STATE_UP,
        "firewall_policy_id": Property(
            description="ID of the policy with the rules.", required=True, change=Change.UPDATE
        ),
        "value_specs": replace(VALUE_SPECS, support=Support(version="5.0.0")),
        "shared": Property(
            Type.BOOLEAN,
            "Whether every project may use it; for administrators.",
            change=Change.UPDATE,
            support=Support("UNSUPPORTED", "6.0.0", previous=Support(version="2015.1")),
        ),
    }
    attributes = {
        **string_attributes(
            admin_state_up="Whether the firewall is enabled.",
            description="Description of the firewall.",
            firewall_policy_id="ID of the policy.",
            name="Name of the firewall.",
            status="Status of the firewall.",
            tenant_id="The project that owns the firewall.",
        ),
        "shared": Attribute("Whether every project may use the firewall.", Type.STRING, support=_UNSUPPORTED),
    }


class FirewallPolicy(NeutronResource):
    """An ordered list of rules."""

    type_name = "OS::Neutron::FirewallPolicy"
    description = "The rules of firewalls, in order."
    collection = Collection("neutron", "/v2.0/fw/firewall_policies", "firewall_policy", "firewall_policies")
    extension = _EXTENSION

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        "shared": _SHARED,
        "audited": Property(Type.BOOLEAN, "Whether the rules have been audited.", default=False, change=Change.UPDATE),
        "firewall_rules": Property(
            Type.LIST, "IDs of the rules, in order.", change=Change.UPDATE, live=Live(LiveSource.LISTED, ordered=True)
        ),
    }
    attributes = {
        **string_attributes(
            audited="Whether the rules have been audited.",
            description="Description of the policy.",
            name="Name of the policy.",
            shared="Whether every project may use the policy.",
            tenant_id="The project that owns the policy.",
        ),
        "firewall_rules": Attribute("IDs of the rules, in order.", Type.LIST),
    }


class FirewallRule(NeutronResource):
    """What happens to some of the traffic."""

    type_name = "OS::Neutron::FirewallRule"
    description = "Allows or denies some of the traffic."
    collection = collection("firewall_rule", "/v2.0/fw/firewall_rules")
    extension = _EXTENSION

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        "shared": _SHARED,
        "protocol": Property(
            description="The protocol.",
            default=_ANY,
            constraints=one_of("tcp", "udp", "icmp", _ANY),
            change=Change.UPDATE,
        ),
        "ip_version": Property(
            description="Version of IP.", default="4", constraints=one_of("4", "6"), change=Change.UPDATE
        ),
        "source_ip_address": Property(
            description="Source addresses, as a CIDR.", constraints=custom("net_cidr"), change=Change.UPDATE
        ),
        "source_port": Property(description="Source port or range (80:90).", change=Change.UPDATE),
        "destination_ip_address": Property(
            description="Destination addresses, as a CIDR.", constraints=custom("net_cidr"), change=Change.UPDATE
        ),
        "destination_port": Property(description="Destination port or range (80:90).", change=Change.UPDATE),
        "action": Property(
            description="What happens to the traffic.",
            default="deny",
            constraints=one_of("allow", "deny"),
            change=Change.UPDATE,
        ),
        "enabled": Property(Type.BOOLEAN, "Whether the rule applies.", default=True, change=Change.UPDATE),
    }
    attributes = string_attributes(
        action="What happens to the traffic.",
        description="Description of the rule.",
        destination_ip_address="Destination addresses.",
        destination_port="Destination port or range.",
        enabled="Whether the rule applies.",
        firewall_policy_id="ID of the policy that has the rule.",
        ip_version="Version of IP.",
        name="Name of the rule.",
        position="Position of the rule in the policy.",
        protocol="The protocol.",
        shared="Whether every project may use the rule.",
        source_ip_address="Source addresses.",
        source_port="Source port or range.",
        tenant_id="The project that owns the rule.",
    )

    async def create_body(self, call: Call) -> dict[str, object]:
        return _without_any(await super().create_body(call))

    async def update_body(self, call: Call) -> dict[str, object]:
        return _without_any(await super().update_body(call))

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        return super().differences(call, {**shown, "protocol": shown.get("protocol") or _ANY})


def _without_any(body: dict[str, object]) -> dict[str, object]:
    """Send null for any protocol."""
    return {**body, "protocol": None} if body.get("protocol") == _ANY else body
