"""A pool of members: properties of all kinds, a check that is polled, an update in place, attributes."""

from common.mixins import connected  # Python 2 looked beside the module first

from heat.common import exception
from heat.common.i18n import _
from heat.engine import attributes, constraints, properties, resource, support
from tests.heat_plugins import appliance


class Pool(resource.Resource):
    """A pool of members."""

    support_status = support.SupportStatus(version="2015.1")

    PROPERTIES = (NAME, DEVICE, METHOD, PORT, MEMBERS, FAULT) = (
        "name", "device", "method", "port", "members", "fault",
    )  # fmt: skip
    _MEMBER_KEYS = (ADDRESS, WEIGHT) = ("address", "weight")
    ATTRIBUTES = (SIZE, SECRET) = ("size", "secret")

    properties_schema = {
        NAME: properties.Schema(properties.Schema.STRING, _("Name.")),
        DEVICE: properties.Schema(properties.Schema.STRING, _("Reference to the device."), required=True),
        METHOD: properties.Schema(
            properties.Schema.STRING,
            _("Algorithm."),
            default="round-robin",
            constraints=[constraints.AllowedValues(["round-robin", "least"])],
        ),
        PORT: properties.Schema(
            properties.Schema.INTEGER, default=80, constraints=[constraints.Range(1, 65535)], update_allowed=True
        ),
        MEMBERS: properties.Schema(
            properties.Schema.LIST,
            _("Members."),
            default=tuple(),
            update_allowed=True,
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    ADDRESS: properties.Schema(properties.Schema.STRING, required=True),
                    WEIGHT: properties.Schema(properties.Schema.INTEGER, default=1),
                },
            ),
        ),
        FAULT: properties.Schema(properties.Schema.STRING, update_allowed=True),
    }

    attributes_schema = {
        SIZE: attributes.Schema(_("Number of members."), type=attributes.Schema.INTEGER),
        SECRET: attributes.Schema(_("Shared secret."), type=attributes.Schema.STRING),
    }

    def validate(self):
        super(Pool, self).validate()
        if self.properties[self.METHOD] == "least" and not self.properties[self.MEMBERS]:
            raise exception.StackValidationFailed(message=_("The method least needs members."))

    @connected
    def handle_create(self):
        if self.properties[self.FAULT] == "create":
            raise exception.ResourceFailure(ValueError("no room"), None, action="CREATE")
        identifier = self.connection.create(
            self.properties[self.NAME] or self.physical_resource_name(),
            members=self.properties[self.MEMBERS],
            port=self.properties[self.PORT],
        )
        self.resource_id_set(identifier)
        if self.properties[self.FAULT] == "label":
            self.connection.label(identifier)
        self.data_set("secret", "s3cret-of-the-pool", redact=True)
        self.data_set("host", unicode(self.connection.host))
        return identifier

    @connected
    def check_create_complete(self, identifier):
        shown = self.connection.show(identifier)
        if self.properties[self.FAULT] == "check":
            raise resource.ResourceInError(resource_status="ERROR", status_reason="no power")
        return shown["polls"] > 2 and self.properties[self.FAULT] != "never"

    @connected
    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        if prop_diff.get(self.FAULT) == "replace":
            raise resource.UpdateReplace(self.name)
        self.connection.change(self.resource_id, before=self.properties[self.PORT], **prop_diff)

    @connected
    def handle_delete(self):
        if self.resource_id is None:
            return
        try:
            self.connection.delete(self.resource_id)
        except Exception as ex:
            self.client_plugin("appliance").ignore_not_found(ex)

    @connected
    def handle_create_cancel(self, identifier):
        self.connection.change(identifier, cancelled=True)

    @connected
    def prepare_for_replace(self):
        self.connection.change(self.resource_id, port=None)

    @connected
    def restore_prev_rsrc(self, convergence=False):
        self.connection.change(self.resource_id, port=self.properties[self.PORT])

    @connected
    def handle_check(self):
        self.connection.show(self.resource_id)

    @connected
    def handle_suspend(self):
        self.connection.change(self.resource_id, suspended=True)

    @connected
    def handle_resume(self):
        self.connection.change(self.resource_id, suspended=False)

    @connected
    def handle_snapshot(self):
        port = self.connection.show(self.resource_id)["port"]
        backup = self.connection.create("backup of " + self.physical_resource_name(), port=port)
        self.data_set("backup", backup)
        if self.properties[self.FAULT] == "backup":
            self.connection.label(backup)
        return backup

    @connected
    def check_snapshot_complete(self, backup):
        return self.connection.show(backup)["polls"] > 2

    @connected
    def handle_restore(self, defn, restore_data):
        restored = {name: value for name, value in self.properties.items() if value is not None}
        restored[self.PORT] = self.connection.show(restore_data["resource_data"]["backup"])["port"]
        return defn.freeze(properties=restored)

    def handle_delete_snapshot(self, snapshot):
        appliance.Client().delete(snapshot["resource_data"]["backup"])

    def handle_signal(self, details=None):
        self.data_set("signal", str((details or {}).get("word")))

    @connected
    def _resolve_attribute(self, name):
        if name == self.SIZE:
            return len(self.connection.show(self.resource_id)["members"])
        return self.data().get(name)

    def FnGetRefId(self):
        return "pool-" + str(self.resource_id)


def resource_mapping():
    return {"Vendor::Net::Pool": Pool}
