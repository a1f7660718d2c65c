"""Resources whose objects are nested stacks, in the style of operators' composites."""

from heat.common import exception, template_format
from heat.common.i18n import _
from heat.engine import attributes, properties
from heat.engine.resources import stack_resource
from tests.heat_plugins import appliance


class Cluster(stack_resource.StackResource):
    """Pools of one device: a template that is built, and the handlers of the base class."""

    PROPERTIES = (SIZE, PORT, FAULT) = ("size", "port", "fault")
    ATTRIBUTES = (NAMES, FIRST, COUNT, ARN) = ("names", "first", "count", "arn")

    properties_schema = {
        SIZE: properties.Schema(properties.Schema.INTEGER, _("Pools."), default=1, update_allowed=True),
        PORT: properties.Schema(properties.Schema.INTEGER, default=80, update_allowed=True),
        FAULT: properties.Schema(properties.Schema.STRING, update_allowed=True),
    }
    attributes_schema = {
        NAMES: attributes.Schema(_("IDs of the pools."), type=attributes.Schema.LIST),
        FIRST: attributes.Schema(_("The first pool."), type=attributes.Schema.MAP),
        COUNT: attributes.Schema(_("Resources."), type=attributes.Schema.INTEGER),
        ARN: attributes.Schema(_("ARN of the nested stack."), type=attributes.Schema.STRING),
    }

    def child_template(self):
        appliance.Client().build(self.name)
        pools = {
            "pool%d" % index: {
                "type": "Vendor::Net::Pool",
                "properties": {
                    "device": {"get_resource": "device"},
                    "port": {"get_param": "port"},
                    "fault": self.properties[self.FAULT],
                },
            }
            for index in range(self.properties[self.SIZE])
        }
        device = {"type": "Vendor::Net::Device", "properties": {"ip": "192.0.2.1"}}
        return {
            "heat_template_version": "2015-04-30",
            "parameters": {"port": {"type": "number"}},
            "resources": dict(pools, device=device),
            "outputs": {self.NAMES: {"value": [{"get_resource": name} for name in pools]}},
        }

    def child_params(self):
        return {"port": self.properties[self.PORT]}

    def _resolve_attribute(self, name):
        nested = self.nested()
        if name == self.FIRST:
            pool = nested["pool0"]
            return {"id": pool.FnGetRefId(), "size": pool.FnGetAtt("size"), "status": pool.status}
        if name == self.COUNT:
            return len([each for each in nested.values() if each.has_interface("Vendor::Net::Pool")])
        if name == self.ARN:
            return self.nested_identifier().arn()
        return super(Cluster, self)._resolve_attribute(name)


class SavedCluster(Cluster):
    """Keeps something of its own with each snapshot, besides what the nested stack keeps."""

    def handle_snapshot(self):
        backup = appliance.Client().create("index")
        self.data_set("backup", backup)
        try:
            self.nested()
        except exception.NotSupported as error:
            appliance.CALLS.append(str(error))
        return backup

    def check_snapshot_complete(self, backup):
        return appliance.Client().show(backup)["polls"] > 1

    def handle_restore(self, defn, restore_data):
        appliance.Client().show(restore_data["resource_data"]["backup"])
        return defn

    def handle_delete_snapshot(self, snapshot):
        appliance.Client().delete(snapshot["resource_data"]["backup"])


TEMPLATE = """
heat_template_version: 2015-04-30
parameters:
  length: {type: number}
resources:
  word: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
outputs:
  word: {value: {get_attr: [word, value]}}
"""


class Word(stack_resource.StackResource):
    """A template in a string, handlers of its own, and a check that does more than wait."""

    properties_schema = {"length": properties.Schema(properties.Schema.INTEGER, default=8)}
    attributes_schema = {"word": attributes.Schema(_("The word."))}

    def handle_create(self):
        appliance.Client().build(self.name)
        parsed = template_format.parse(TEMPLATE)
        self.create_with_template(parsed, {"length": self.properties["length"]}, timeout_mins=5)
        return self.physical_resource_name()

    def check_create_complete(self, name):
        if not super(Word, self).check_create_complete(name):
            return False
        appliance.CALLS.append("checked %s %s" % (self.nested().name == name, len(self.get_output("word"))))
        return True

    def handle_delete(self):
        appliance.CALLS.append("delete %s" % self.has_nested())
        return super(Word, self).handle_delete()

    def FnGetRefId(self):
        return "word-of-" + self.name


def resource_mapping():
    return {"Vendor::Net::Cluster": Cluster, "Vendor::Net::SavedCluster": SavedCluster, "Vendor::Util::Word": Word}
