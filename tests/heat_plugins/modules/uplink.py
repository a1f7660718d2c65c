"""An uplink that needs what the template does not connect with it, in the style of vendors' router plug-ins."""

import six

from heat.common.i18n import _
from heat.engine import properties, resource
from tests.heat_plugins import appliance


class Uplink(resource.Resource):
    PROPERTIES = (NETWORK, FAULT) = ("network", "fault")

    properties_schema = {
        NETWORK: properties.Schema(properties.Schema.STRING, _("Network."), required=True),
        FAULT: properties.Schema(properties.Schema.STRING),
    }

    def add_dependencies(self, deps):
        super(Uplink, self).add_dependencies(deps)
        for other in six.itervalues(self.stack):
            if other.has_interface("OS::Neutron::Subnet"):
                if other.properties.get("network") == self.properties[self.NETWORK]:
                    deps += (self, other)
            elif other.has_interface("Vendor::Net::Uplink") and self.properties[self.FAULT] == "reversed":
                deps += (other, self)
        if self.properties[self.FAULT] == "client":
            self.context.keystone_session.get("/")

    def add_explicit_dependencies(self, deps):
        super(Uplink, self).add_explicit_dependencies(deps)
        for name, other in self.stack.items():
            if other.type() == "Vendor::Net::Device" and other.properties[self.IP] == "192.0.2.1":
                deps += (self, self.stack[name])

    IP = "ip"

    def handle_create(self):
        appliance.Client().create(self.physical_resource_name())

    def handle_delete(self):
        appliance.CALLS.append("delete uplink")


def resource_mapping():
    return {"Vendor::Net::Uplink": Uplink}
