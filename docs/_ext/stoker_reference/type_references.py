"""What the custom constraints of properties mean, and which types create the objects that they accept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stoker.plugins.resource import ResourceType
from stoker.schema.constraints import CustomConstraint
from stoker.schema.property import Property


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a constraint accepts: `what` follows the word "must be"; `types` create such objects."""

    what: str
    types: tuple[str, ...] = ()


CONSTRAINTS: Mapping[str, Accepted] = {
    "barbican.container": Accepted(
        "the reference of a container of secrets",
        ("OS::Barbican::CertificateContainer", "OS::Barbican::RSAContainer", "OS::Barbican::GenericContainer"),
    ),
    "barbican.secret": Accepted("the reference of a secret", ("OS::Barbican::Secret",)),
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
    "net_cidr": Accepted("a network address in CIDR notation, such as `10.0.0.0/24`"),
    "neutron.address_scope": Accepted("an existing address scope", ("OS::Neutron::AddressScope",)),
    "neutron.flow_classifier": Accepted("an existing flow classifier", ("OS::Neutron::FlowClassifier",)),
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
    "neutron.taas.tap_service": Accepted("an existing tap service", ("OS::Neutron::TaaS::TapService",)),
    "nova.flavor": Accepted("an existing flavor", ("OS::Nova::Flavor",)),
    "nova.host": Accepted("an existing compute host"),
    "nova.keypair": Accepted("an existing keypair", ("OS::Nova::KeyPair",)),
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
"""The custom constraints of the packaged types; a test compares them with the declarations."""


def walk(schema: Mapping[str, Property], above: str = "") -> Iterator[tuple[str, Property]]:
    """Yield all properties at any depth that the manual shows, with their paths (`networks[].port`)."""
    for name, prop in schema.items():
        if prop.support.status == "HIDDEN":
            continue
        yield f"{above}{name}", prop
        inner, suffix = inner_schema(prop)
        yield from walk(inner, f"{above}{name}{suffix}.")


def inner_schema(prop: Property) -> tuple[Mapping[str, Property], str]:
    """Return the properties inside a property, and `[]` if they are those of a list's items."""
    inner, suffix = (prop.items, "[]") if prop.items is not None else (prop, "")
    return inner.schema or {}, suffix


def constraints_named(prop: Property) -> Iterator[str]:
    """Yield the names of the custom constraints on a property or its items."""
    for each in (prop, *([prop.items] if prop.items is not None else [])):
        yield from (one.name for one in each.constraints if isinstance(one, CustomConstraint))


def users(types: Mapping[str, ResourceType]) -> dict[str, dict[str, list[str]]]:
    """Return for each type the types with properties that accept its resources, with the paths of these properties."""
    found: dict[str, dict[str, list[str]]] = {}
    for user, kind in types.items():
        for path, prop in walk(kind.properties):
            for constraint in constraints_named(prop):
                for used in CONSTRAINTS[constraint].types if constraint in CONSTRAINTS else ():
                    found.setdefault(used, {}).setdefault(user, []).append(path)
    return found
