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
class Accepted:
    """What a constraint accepts: `what` follows the word "must be"; `types` create such objects."""

    what: str
    types: tuple[str, ...] = ()


ACCEPTED: Mapping[str, Accepted] = {
    "barbican.container": Accepted(
        "the reference of a container of secrets",
        ("OS::Barbican::CertificateContainer", "OS::Barbican::RSAContainer", "OS::Barbican::GenericContainer"),
    ),
    "barbican.secret": Accepted("the reference of a secret", ("OS::Barbican::Secret",)),
    "blazar.reservation": Accepted("an existing reservation"),
    "cinder.backup": Accepted("an existing volume backup"),
    "cinder.qos_specs": Accepted("existing QoS specs", ("OS::Cinder::QoSSpecs",)),
    "cinder.snapshot": Accepted("an existing volume snapshot"),
    "cinder.volume": Accepted("an existing volume", ("OS::Cinder::Volume",)),
    "cinder.vtype": Accepted("an existing volume type", ("OS::Cinder::VolumeType",)),
    "congress.policy": Accepted("an existing policy", ("OS::Congress::Policy",)),
    "cron_expression": Accepted("a cron expression, such as `*/5 * * * *`"),
    "designate.zone": Accepted("an existing DNS zone", ("OS::Designate::Zone",)),
    "dns_domain": Accepted("a domain name that ends with a period"),
    "dns_name": Accepted("a domain name"),
    "expiration": Accepted("a time in the future, in ISO 8601"),
    "glance.image": Accepted("an existing image", ("OS::Glance::WebImage",)),
    "ip_addr": Accepted("an IP address"),
    "ip_or_cidr": Accepted("an IP address or a CIDR"),
    "ironic.node": Accepted("an existing bare metal node"),
    "ironic.portgroup": Accepted("an existing port group of a bare metal node"),
    "iso_8601": Accepted("a time in ISO 8601"),
    "json_string": Accepted("JSON in a string"),
    "keystone.domain": Accepted("an existing domain", ("OS::Keystone::Domain",)),
    "keystone.group": Accepted("an existing group", ("OS::Keystone::Group",)),
    "keystone.project": Accepted("an existing project", ("OS::Keystone::Project",)),
    "keystone.region": Accepted("an existing region", ("OS::Keystone::Region",)),
    "keystone.role": Accepted("an existing role", ("OS::Keystone::Role",)),
    "keystone.service": Accepted("an existing service of the catalog", ("OS::Keystone::Service",)),
    "keystone.user": Accepted("an existing user", ("OS::Keystone::User",)),
    "mac_addr": Accepted("a MAC address"),
    "magnum.cluster_template": Accepted("an existing cluster template", ("OS::Magnum::ClusterTemplate",)),
    "manila.share_network": Accepted("an existing share network", ("OS::Manila::ShareNetwork",)),
    "manila.share_snapshot": Accepted("an existing share snapshot"),
    "manila.share_type": Accepted("an existing share type", ("OS::Manila::ShareType",)),
    "mistral.workflow": Accepted("an existing workflow", ("OS::Mistral::Workflow",)),
    "murano.category": Accepted("an existing category of packages"),
    "murano.environment": Accepted("an existing environment of applications"),
    "murano.package": Accepted("an existing package"),
    "net_cidr": Accepted("a network address in CIDR notation, such as `10.0.0.0/24`"),
    "neutron.address_scope": Accepted("an existing address scope", ("OS::Neutron::AddressScope",)),
    "neutron.flow_classifier": Accepted("an existing flow classifier", ("OS::Neutron::FlowClassifier",)),
    "neutron.lbaas.listener": Accepted("an existing listener"),
    "neutron.lbaas.loadbalancer": Accepted("an existing load balancer"),
    "neutron.lbaas.pool": Accepted("an existing pool"),
    "neutron.lbaas.provider": Accepted("an existing provider of load balancers"),
    "neutron.network": Accepted("an existing network", ("OS::Neutron::Net", "OS::Neutron::ProviderNet")),
    "neutron.port": Accepted("an existing port", ("OS::Neutron::Port",)),
    "neutron.port_pair": Accepted("an existing port pair", ("OS::Neutron::PortPair",)),
    "neutron.port_pair_group": Accepted("an existing port pair group", ("OS::Neutron::PortPairGroup",)),
    "neutron.qos_policy": Accepted("an existing QoS policy", ("OS::Neutron::QoSPolicy",)),
    "neutron.router": Accepted("an existing router", ("OS::Neutron::Router",)),
    "neutron.security_group": Accepted("an existing security group", ("OS::Neutron::SecurityGroup",)),
    "neutron.segment": Accepted("an existing network segment", ("OS::Neutron::Segment",)),
    "neutron.subnet": Accepted("an existing subnet", ("OS::Neutron::Subnet",)),
    "neutron.subnetpool": Accepted("an existing subnet pool", ("OS::Neutron::SubnetPool",)),
    "neutron.taas.tap_flow": Accepted("an existing tap flow"),
    "neutron.taas.tap_service": Accepted("an existing tap service", ("OS::Neutron::TaaS::TapService",)),
    "nova.flavor": Accepted("an existing flavor", ("OS::Nova::Flavor",)),
    "nova.host": Accepted("an existing compute host"),
    "nova.keypair": Accepted("an existing keypair", ("OS::Nova::KeyPair",)),
    "nova.network": Accepted("an existing network"),
    "nova.server": Accepted("an existing server", ("OS::Nova::Server",)),
    "octavia.availabilityzone": Accepted("an existing availability zone", ("OS::Octavia::AvailabilityZone",)),
    "octavia.availabilityzoneprofile": Accepted(
        "an existing availability zone profile", ("OS::Octavia::AvailabilityZoneProfile",)
    ),
    "octavia.flavor": Accepted("an existing flavor of load balancers", ("OS::Octavia::Flavor",)),
    "octavia.flavorprofile": Accepted("an existing flavor profile", ("OS::Octavia::FlavorProfile",)),
    "octavia.l7policy": Accepted("an existing policy of layer 7", ("OS::Octavia::L7Policy",)),
    "octavia.listener": Accepted("an existing listener", ("OS::Octavia::Listener",)),
    "octavia.loadbalancer": Accepted("an existing load balancer", ("OS::Octavia::LoadBalancer",)),
    "octavia.pool": Accepted("an existing pool", ("OS::Octavia::Pool",)),
    "rel_dns_name": Accepted("a domain name without a final period"),
    "test_constr": Accepted("any value"),
    "timezone": Accepted("the name of a time zone, such as `Europe/Paris`"),
    "trove.flavor": Accepted("an existing flavor of databases", ("OS::Nova::Flavor",)),
    "zaqar.queue": Accepted("the name of a queue, of 1 to 64 characters", ("OS::Zaqar::Queue",)),
}
"""The custom constraints of Stoker's own packages."""
