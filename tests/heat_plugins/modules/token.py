"""A resource without an ID, whose values are in its data, in the style of the earliest plug-ins."""

from heat.engine import resource


class Token(resource.Resource):
    properties_schema = {
        "Length": {"Type": "Integer", "Default": 4, "MinValue": 1},
        "Labels": {"Type": "List", "Default": []},
    }
    update_allowed_properties = None
    attributes_schema = {"Value": "The token"}

    def handle_create(self):
        self.data_set("value", "x" * self.properties["Length"])

    def _resolve_attribute(self, name):
        return self.data().get("value")


def resource_mapping():
    return {"Vendor::Util::Token": Token}
