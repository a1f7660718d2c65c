"""A resource that uses clients: the vendor's own, and one of OpenStack's."""

from heat.common.i18n import _
from heat.engine import attributes, constraints, properties, resource, translation


class Tap(resource.Resource):
    PROPERTIES = (NETWORK, PROVIDER) = ("network", "provider")

    properties_schema = {
        NETWORK: properties.Schema(
            properties.Schema.STRING,
            _("Network of the appliance."),
            constraints=[constraints.CustomConstraint("appliance.network")],
        ),
        PROVIDER: properties.Schema(properties.Schema.STRING, constraints=[constraints.Length(1, 50)]),
    }
    attributes_schema = {"seen": attributes.Schema(_("What was found."), type=attributes.Schema.MAP)}
    default_client_name = "appliance"
    entity = "taps"

    def translation_rules(self, props):
        return [
            translation.TranslationRule(
                props,
                translation.TranslationRule.RESOLVE,
                [self.PROVIDER],
                client_plugin=self.client_plugin("neutron"),
                finder="find_resourceid_by_name_or_id",
                entity="network",
            )
        ]

    def handle_create(self):
        self.client().create(self.physical_resource_name())
        session = self.context.keystone_session
        place = "/v2.0/networks/" + self.properties[self.PROVIDER]
        found = session.get(place, endpoint_filter={"service_type": "network"}).json()["network"]
        self.data_set("id", found["id"])
        self.data_set("name", found["name"])

    def _resolve_attribute(self, name):
        return {"id": self.data()["id"], "name": self.data()["name"]}


def resource_mapping():
    return {"Vendor::Net::Tap": Tap}
