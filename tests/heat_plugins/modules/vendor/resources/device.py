"""The connection to an appliance: a resource without an object, which others refer to."""

from heat.common.i18n import _
from heat.engine import properties, resource
from tests.heat_plugins import appliance


class Device(resource.Resource):
    PROPERTIES = (IP, PASSWORD) = ("ip", "password")

    properties_schema = {
        IP: properties.Schema(properties.Schema.STRING, _("Address."), required=True),
        PASSWORD: properties.Schema(properties.Schema.STRING, _("Password.")),
    }

    def get_connection(self):
        return appliance.Client(self.properties[self.IP])

    def handle_create(self):
        self.get_connection()
        self.resource_id_set(self.physical_resource_name())

    def handle_delete(self):
        return True


def resource_mapping():
    return {"Vendor::Net::Device": Device}
