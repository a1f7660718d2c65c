"""Constraints in words, as the reference, the editors and the manual show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.schema.constraints import Constraint, listed
from stoker.schema.property import Property


def rules(
    prop: Property, code: Callable[[object], str] = str, named: Callable[[str], str] | None = None
) -> Iterator[str]:
    """Yield what the values of a property, or the items of its list, must be: `must be 1 to 65535`.

    `code` marks literal values up, and `named` describes a custom constraint by its name.
    """
    named = named or accepted
    for constraint in prop.constraints:
        yield f"must be {in_words(constraint, code, named)}"
    for constraint in prop.items.constraints if prop.items is not None else ():
        yield f"each item must be {in_words(constraint, code, named)}"


def in_words(constraint: Constraint, code: Callable[[object], str], named: Callable[[str], str]) -> str:
    """Return what a constraint accepts, to follow "must be", with its description in parentheses."""
    schema = constraint.to_schema()
    description = schema.pop("description", "")
    ((rule, value),) = schema.items()
    words = named(str(value)) if rule == "custom_constraint" else _IN_WORDS[rule](value, code)
    return f"{words} ({description})" if description else words


def accepted(name: str) -> str:
    """Return what the custom constraint `name` accepts; one that a plug-in brings is named."""
    return ACCEPTED[name].what if name in ACCEPTED else f"valid for the constraint {name}"


def _bounds(bounds: Mapping[str, object], code: Callable[[object], str]) -> str:
    least, most = bounds.get("min"), bounds.get("max")
    if least is None:
        return f"at most {code(most)}"
    return f"at least {code(least)}" if most is None else f"{code(least)} to {code(most)}"


def _multiple(value: Mapping[str, int], code: Callable[[object], str]) -> str:
    plus = f" plus {code(value['offset'])}" if value["offset"] else ""
    return f"a multiple of {code(value['step'])}{plus}"


_IN_WORDS: Mapping[str, Callable[[Any, Callable[[Any], str]], str]] = {
    "range": _bounds,
    "length": lambda value, code: f"of length {_bounds(value, code)}",
    "modulo": _multiple,
    "allowed_values": lambda value, code: f"one of {', '.join(listed(value, code))}",
    "allowed_pattern": lambda value, code: f"a match of the pattern {code(value)}",
}


# -- custom constraints ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AcceptedValue:
    """What a constraint accepts: `what` follows the word "must be"; `types` create such objects."""

    what: str
    types: tuple[str, ...] = ()


ACCEPTED: Mapping[str, AcceptedValue] = {
    "barbican.container": AcceptedValue(
        "the reference of a container of secrets",
        ("OS::Barbican::CertificateContainer", "OS::Barbican::RSAContainer", "OS::Barbican::GenericContainer"),
    ),
    "barbican.secret": AcceptedValue("the reference of a secret", ("OS::Barbican::Secret",)),
    "blazar.reservation": AcceptedValue("an existing reservation"),
    "cinder.backup": AcceptedValue("an existing volume backup"),
    "cinder.qos_specs": AcceptedValue("existing QoS specs", ("OS::Cinder::QoSSpecs",)),
    "cinder.snapshot": AcceptedValue("an existing volume snapshot"),
    "cinder.volume": AcceptedValue("an existing volume", ("OS::Cinder::Volume",)),
    "cinder.vtype": AcceptedValue("an existing volume type", ("OS::Cinder::VolumeType",)),
    "congress.policy": AcceptedValue("an existing policy", ("OS::Congress::Policy",)),
    "cron_expression": AcceptedValue("a cron expression, such as `*/5 * * * *`"),
    "designate.zone": AcceptedValue("an existing DNS zone", ("OS::Designate::Zone",)),
    "dns_domain": AcceptedValue("a domain name that ends with a period"),
    "dns_name": AcceptedValue("a domain name"),
    "expiration": AcceptedValue("a time in the future, in ISO 8601"),
    "glance.image": AcceptedValue("an existing image", ("OS::Glance::WebImage",)),
    "ip_addr": AcceptedValue("an IP address"),
    "ip_or_cidr": AcceptedValue("an IP address or a CIDR"),
    "ironic.node": AcceptedValue("an existing bare metal node"),
    "ironic.portgroup": AcceptedValue("an existing port group of a bare metal node"),
    "iso_8601": AcceptedValue("a time in ISO 8601"),
    "json_string": AcceptedValue("JSON in a string"),
    "keystone.domain": AcceptedValue("an existing domain", ("OS::Keystone::Domain",)),
    "keystone.group": AcceptedValue("an existing group", ("OS::Keystone::Group",)),
    "keystone.project": AcceptedValue("an existing project", ("OS::Keystone::Project",)),
    "keystone.region": AcceptedValue("an existing region", ("OS::Keystone::Region",)),
    "keystone.role": AcceptedValue("an existing role", ("OS::Keystone::Role",)),
    "keystone.service": AcceptedValue("an existing service of the catalog", ("OS::Keystone::Service",)),
    "keystone.user": AcceptedValue("an existing user", ("OS::Keystone::User",)),
    "mac_addr": AcceptedValue("a MAC address"),
    "magnum.cluster_template": AcceptedValue("an existing cluster template", ("OS::Magnum::ClusterTemplate",)),
    "manila.share_network": AcceptedValue("an existing share network", ("OS::Manila::ShareNetwork",)),
    "manila.share_snapshot": AcceptedValue("an existing share snapshot"),
    "manila.share_type": AcceptedValue("an existing share type", ("OS::Manila::ShareType",)),
    "mistral.workflow": AcceptedValue("an existing workflow", ("OS::Mistral::Workflow",)),
    "murano.category": AcceptedValue("an existing category of packages"),
    "murano.environment": AcceptedValue("an existing environment of applications"),
    "murano.package": AcceptedValue("an existing package"),
    "net_cidr": AcceptedValue("a network address in CIDR notation, such as `10.0.0.0/24`"),
    "neutron.address_scope": AcceptedValue("an existing address scope", ("OS::Neutron::AddressScope",)),
    "neutron.flow_classifier": AcceptedValue("an existing flow classifier", ("OS::Neutron::FlowClassifier",)),
    "neutron.lbaas.listener": AcceptedValue("an existing listener"),
    "neutron.lbaas.loadbalancer": AcceptedValue("an existing load balancer"),
    "neutron.lbaas.pool": AcceptedValue("an existing pool"),
    "neutron.lbaas.provider": AcceptedValue("an existing provider of load balancers"),
    "neutron.network": AcceptedValue("an existing network", ("OS::Neutron::Net", "OS::Neutron::ProviderNet")),
    "neutron.port": AcceptedValue("an existing port", ("OS::Neutron::Port",)),
    "neutron.port_pair": AcceptedValue("an existing port pair", ("OS::Neutron::PortPair",)),
    "neutron.port_pair_group": AcceptedValue("an existing port pair group", ("OS::Neutron::PortPairGroup",)),
    "neutron.qos_policy": AcceptedValue("an existing QoS policy", ("OS::Neutron::QoSPolicy",)),
    "neutron.router": AcceptedValue("an existing router", ("OS::Neutron::Router",)),
    "neutron.security_group": AcceptedValue("an existing security group", ("OS::Neutron::SecurityGroup",)),
    "neutron.segment": AcceptedValue("an existing network segment", ("OS::Neutron::Segment",)),
    "neutron.subnet": AcceptedValue("an existing subnet", ("OS::Neutron::Subnet",)),
    "neutron.subnetpool": AcceptedValue("an existing subnet pool", ("OS::Neutron::SubnetPool",)),
    "neutron.taas.tap_flow": AcceptedValue("an existing tap flow"),
    "neutron.taas.tap_service": AcceptedValue("an existing tap service", ("OS::Neutron::TaaS::TapService",)),
    "nova.flavor": AcceptedValue("an existing flavor", ("OS::Nova::Flavor",)),
    "nova.host": AcceptedValue("an existing compute host"),
    "nova.keypair": AcceptedValue("an existing keypair", ("OS::Nova::KeyPair",)),
    "nova.network": AcceptedValue("an existing network"),
    "nova.server": AcceptedValue("an existing server", ("OS::Nova::Server",)),
    "octavia.availabilityzone": AcceptedValue("an existing availability zone", ("OS::Octavia::AvailabilityZone",)),
    "octavia.availabilityzoneprofile": AcceptedValue(
        "an existing availability zone profile", ("OS::Octavia::AvailabilityZoneProfile",)
    ),
    "octavia.flavor": AcceptedValue("an existing flavor of load balancers", ("OS::Octavia::Flavor",)),
    "octavia.flavorprofile": AcceptedValue("an existing flavor profile", ("OS::Octavia::FlavorProfile",)),
    "octavia.l7policy": AcceptedValue("an existing policy of layer 7", ("OS::Octavia::L7Policy",)),
    "octavia.listener": AcceptedValue("an existing listener", ("OS::Octavia::Listener",)),
    "octavia.loadbalancer": AcceptedValue("an existing load balancer", ("OS::Octavia::LoadBalancer",)),
    "octavia.pool": AcceptedValue("an existing pool", ("OS::Octavia::Pool",)),
    "rel_dns_name": AcceptedValue("a domain name without a final period"),
    "test_constr": AcceptedValue("any value"),
    "timezone": AcceptedValue("the name of a time zone, such as `Europe/Paris`"),
    "trove.flavor": AcceptedValue("an existing flavor of databases", ("OS::Nova::Flavor",)),
    "zaqar.queue": AcceptedValue("the name of a queue, of 1 to 64 characters", ("OS::Zaqar::Queue",)),
}
"""The custom constraints of Stoker's own packages."""
