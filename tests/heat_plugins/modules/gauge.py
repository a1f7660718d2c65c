"""A resource whose metadata say that something is in progress, in the style of scaling groups."""

from heat.engine import properties, resource
from tests.heat_plugins import appliance


class Gauge(resource.Resource):
    properties_schema = {
        "level": properties.Schema(properties.Schema.INTEGER, default=1, update_allowed=True),
    }

    def handle_create(self):
        self._scale()

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        self._scale()
        return prop_diff["level"]

    def check_update_complete(self, level):
        return level != 9

    def _scale(self):
        self.metadata_set(dict(self.metadata_get(), scaling_in_progress=True, steps=1))
        appliance.Client().label(self.name)
        self.metadata_set(dict(self.metadata_get(), scaling_in_progress=False))

    def handle_update_cancel(self, level):
        self.metadata_set({"cancelled": level})

    def handle_metadata_reset(self):
        appliance.CALLS.append("reset %s" % self.metadata_get().get("scaling_in_progress"))
        metadata = self.metadata_get()
        metadata["scaling_in_progress"] = False
        self.metadata_set(metadata)


def resource_mapping():
    return {"Vendor::Net::Gauge": Gauge}
