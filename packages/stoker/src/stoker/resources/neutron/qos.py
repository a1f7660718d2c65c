"""OS::Neutron::QoSPolicy and the types of its rules."""

from __future__ import annotations

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.resources.base import Collection
from stoker.resources.declare import Constraints, between, one_of
from stoker.resources.neutron.base import Holders, NeutronResource, shared
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import FETCHED
from stoker.schema.property import SUPPORTED, Attribute, Change, Property, Support, Type

_TENANT_ID = Property(description="The project that owns it; for administrators.")
_OF_POLICY = {
    "policy": Property(
        description="The QoS policy, by name or ID.", required=True, wire=NOT_SENT, reference="neutron.qos_policy"
    ),
    "tenant_id": _TENANT_ID,
}
"""Properties that every rule has."""
_ONE_WAY = one_of("egress", "ingress")


def _direction(directions: Constraints, support: Support = SUPPORTED) -> Property:
    return Property(
        description="Direction of the traffic, as seen from the server.",
        default="egress",
        constraints=directions,
        change=Change.UPDATE,
        support=support,
    )


def _rate(description: str, **rest: bool | int) -> Property:
    return Property(Type.INTEGER, description, constraints=between(0), change=Change.UPDATE, **rest)  # type: ignore[arg-type]


def _rules(member: str) -> Collection:
    """Return the collection of a policy's rules of one kind."""
    return Collection("neutron", f"/v2.0/qos/policies/{{policy}}/{member}s", member, f"{member}s", owner=None)


class QoSPolicy(NeutronResource):
    """A policy for the traffic of ports and networks."""

    type_name = "OS::Neutron::QoSPolicy"
    description = "A quality of service policy for the traffic of ports and networks."
    for_administrators = True
    collection = Collection("neutron", "/v2.0/qos/policies", "policy", "policies")
    extension = "qos"
    holders = (Holders("network", "qos_policy_id"), Holders("port", "qos_policy_id"))
    support = Support(version="6.0.0")
    readers = {**NeutronResource.readers, "shared": shared}

    properties = {
        "name": Property(description="Name of the policy.", change=Change.UPDATE),
        "description": Property(description="Description of the policy.", change=Change.UPDATE),
        "shared": Property(
            Type.BOOLEAN,
            "Whether every project may use the policy; for administrators.",
            default=False,
            change=Change.UPDATE,
            live=FETCHED,
        ),
        "tenant_id": _TENANT_ID,
    }
    attributes = {"rules": Attribute("The rules of the policy.", Type.LIST)}


class QoSRule(NeutronResource):
    """A rule of a QoS policy."""

    identity = None
    exclusion = Exclusion.by(("policy", "direction"))
    extension = "qos"
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "A policy has one rule of a kind and direction; it must have the requested values, and belong to no other "
        "resource.",
    )


class QoSBandwidthLimitRule(QoSRule):
    """A rule that limits the bandwidth."""

    type_name = "OS::Neutron::QoSBandwidthLimitRule"
    description = "A rule of a QoS policy that limits the bandwidth."
    for_administrators = True
    collection = _rules("bandwidth_limit_rule")
    support = Support(version="6.0.0")

    properties = {
        **_OF_POLICY,
        "max_kbps": _rate("Highest bandwidth in kbit/s.", required=True),
        "max_burst_kbps": _rate("Highest burst in kbit.", default=0),
        "direction": _direction(_ONE_WAY, Support(version="13.0.0")),
    }


class QoSDscpMarkingRule(QoSRule):
    """A rule that marks packets."""

    type_name = "OS::Neutron::QoSDscpMarkingRule"
    description = "A rule of a QoS policy that sets the DSCP mark of packets."
    for_administrators = True
    collection = _rules("dscp_marking_rule")
    exclusion = Exclusion.by(("policy",))
    support = Support(version="7.0.0")

    properties = {
        **_OF_POLICY,
        "dscp_mark": Property(
            Type.INTEGER,
            "The DSCP mark (RFC 2474).",
            required=True,
            constraints=one_of(0, *range(8, 41, 2), 46, 48, 56),
            change=Change.UPDATE,
        ),
    }


class QoSMinimumBandwidthRule(QoSRule):
    """A rule that guarantees bandwidth."""

    type_name = "OS::Neutron::QoSMinimumBandwidthRule"
    description = "A rule of a QoS policy that guarantees bandwidth."
    for_administrators = True
    collection = _rules("minimum_bandwidth_rule")
    extension = "qos-bw-minimum-ingress"
    support = Support(version="14.0.0")

    properties = {
        **_OF_POLICY,
        "min_kbps": _rate("Guaranteed bandwidth in kbit/s.", required=True),
        "direction": _direction(_ONE_WAY),
    }


class QoSMinimumPacketRateRule(QoSRule):
    """A rule that guarantees a rate of packets."""

    type_name = "OS::Neutron::QoSMinimumPacketRateRule"
    description = "A rule of a QoS policy that guarantees a rate of packets."
    for_administrators = True
    collection = _rules("minimum_packet_rate_rule")
    extension = "qos-pps-minimum"
    support = Support(version="19.0.0")

    properties = {
        **_OF_POLICY,
        "min_kpps": _rate("Guaranteed rate in thousands of packets per second.", required=True),
        "direction": _direction(one_of("any", "egress", "ingress")),
    }
