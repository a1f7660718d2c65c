"""Classes that extend Heat's own resource types, in the style of operators' modules."""

import copy

from heat.engine import attributes, properties
from heat.engine.resources.openstack.heat import random_string
from heat.engine.resources.openstack.neutron import port
from heat.engine.resources.openstack.nova.server import Server as NovaServer
from tests.heat_plugins import appliance


def merged(one, other):
    both = one.copy()
    both.update(other)
    return both


class RackServer(NovaServer):
    """A server whose scheduler hints are derived from a property, and which is registered with the appliance."""

    RACKS, REGISTERED = "racks", "registered"

    properties_schema = merged(
        NovaServer.properties_schema,
        {
            RACKS: properties.Schema(properties.Schema.LIST, "Racks.", update_allowed=True),
            "fault": properties.Schema(properties.Schema.STRING, update_allowed=True),
        },
    )
    attributes_schema = merged(NovaServer.attributes_schema, {REGISTERED: attributes.Schema("Whether it is known.")})

    def validate(self):
        super(RackServer, self).validate()
        if self.properties[self.RACKS] == ["none"]:
            return "there is no rack of this name"

    def handle_create(self):
        assert isinstance(self.properties, properties.Properties)
        if self.properties[self.SCHEDULER_HINTS] is None:
            self.properties.data[self.SCHEDULER_HINTS] = {}
        self.properties.data[self.SCHEDULER_HINTS]["racks"] = ",".join(self.properties[self.RACKS] or ())
        self.properties.data["metadata"] = dict(self.properties["metadata"] or {}, by="handle_create")
        server = super(RackServer, self).handle_create()
        assert server == self.resource_id
        self.data_set("registration", appliance.Client().create("server", id=server))
        if self.properties["fault"] == "label":
            appliance.Client().label(server)
        return server

    def check_create_complete(self, server):
        if not super(RackServer, self).check_create_complete(server):
            return False
        appliance.Client().change(self.data()["registration"], status=self.FnGetAtt("show")["status"])
        return True

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        racks = prop_diff.pop(self.RACKS, None)
        if racks is not None:
            appliance.Client().change(self.data()["registration"], racks=racks)
        if prop_diff.get("metadata"):
            prop_diff["metadata"]["by"] = "handle_update"
        return super(RackServer, self).handle_update(json_snippet, tmpl_diff, prop_diff)

    def handle_delete(self):
        if "registration" in self.data():
            appliance.Client().delete(self.data()["registration"])
            self.data_delete("registration")
        return super(RackServer, self).handle_delete()

    def _resolve_attribute(self, name):
        if name == self.REGISTERED:
            return "yes" if "registration" in self.data() else "no"
        return super(RackServer, self)._resolve_attribute(name)


class DownPort(port.Port):
    """A port with another default, and with what only its reference differs in."""

    properties_schema = copy.deepcopy(port.Port.properties_schema)
    properties_schema[port.Port.ADMIN_STATE_UP].default = False
    del properties_schema[port.Port.VALUE_SPECS]

    def FnGetRefId(self):
        return "port:%s" % super(DownPort, self).FnGetRefId()


class Word(random_string.RandomString):
    """Nothing but a shorter name."""


def resource_mapping():
    return {
        "Vendor::Compute::Server": RackServer,
        "Vendor::Net::DownPort": DownPort,
        "Vendor::Util::RandomWord": Word,
    }
