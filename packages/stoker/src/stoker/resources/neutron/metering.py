"""OS::Neutron::MeteringLabel and OS::Neutron::MeteringRule: traffic that is measured."""

from __future__ import annotations

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.resources.declare import one_of
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.schema.property import Attribute, Property, Support, Type


class MeteringLabel(NeutronResource):
    """A label under which traffic is measured."""

    type_name = "OS::Neutron::MeteringLabel"
    description = "A label under which the traffic of routers is measured. By default for administrators."
    for_administrators = True
    collection = collection("metering_label", "/v2.0/metering/metering-labels")
    support = Support(version="2014.1")

    properties = {
        "name": Property(description="Name of the label."),
        "description": Property(description="Description of the label."),
        "shared": Property(
            Type.BOOLEAN,
            "Whether the routers of all projects are measured.",
            default=False,
            support=Support(version="2015.1"),
        ),
    }
    attributes = {
        "name": Attribute("Name of the label.", Type.STRING),
        "description": Attribute("Description of the label.", Type.STRING),
        "shared": Attribute("Whether the routers of all projects are measured.", Type.STRING),
    }


class MeteringRule(NeutronResource):
    """Which traffic is measured under a label."""

    type_name = "OS::Neutron::MeteringRule"
    description = "A rule that selects the traffic that is measured under a label. By default for administrators."
    for_administrators = True
    collection = collection("metering_label_rule", "/v2.0/metering/metering-label-rules", owner=None)
    identity = None
    exclusion = Exclusion.by(("metering_label_id", "direction", "remote_ip_prefix"))
    support = Support(version="2014.1")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "The rules of a label do not overlap; it must have the requested values, and belong to no other resource.",
    )

    properties = {
        "metering_label_id": Property(description="ID of the label.", required=True),
        "remote_ip_prefix": Property(description="Addresses of the remote end, as a CIDR.", required=True),
        "direction": Property(
            description="Direction of the traffic.", default="ingress", constraints=one_of("ingress", "egress")
        ),
        "excluded": Property(Type.BOOLEAN, "Whether this traffic is excluded from the measurement.", default="False"),
    }
    attributes = {
        "direction": Attribute("Direction of the traffic.", Type.STRING),
        "remote_ip_prefix": Attribute("Addresses of the remote end.", Type.STRING),
        "metering_label_id": Attribute("ID of the label.", Type.STRING),
        "excluded": Attribute("Whether this traffic is excluded.", Type.STRING),
    }
