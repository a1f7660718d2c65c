"""OS::Zun::Container"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.capabilities import ConditionallyReplaced
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Waiter
from stoker.resources.base import Collection, RestResource, generated_name
from stoker.resources.declare import custom, one_of
from stoker.resources.neutron.allowances import CONTAINER_PORTS
from stoker.resources.steps import in_turn
from stoker.resources.wire import without_nulls
from stoker.resources.zun import description
from stoker.resources.zun.interfaces import VERSION, change_networks
from stoker.resources.zun.paths import CONTAINERS, path_of
from stoker.schema.live import never
from stoker.schema.property import Attribute, Change, Property, Support, Type

_AS_GIVEN = (
    "image", "cpu", "memory", "environment", "workdir", "labels", "image_pull_policy", "interactive", "tty",
    "image_driver", "hints", "hostname", "security_groups",
)  # fmt: skip
_CHANGED_TOGETHER = ("name", "cpu", "memory")
_BUSY = ("Creating", "Deleting", "Restarting", "Rebuilding")
"""Statuses in which Zun refuses to delete a container, and which end by themselves."""
_SUPPORTED_10 = Support(version="10.0.0")


class Container(RestResource, ConditionallyReplaced):
    """A container, which is started once it is created."""

    type_name = "OS::Zun::Container"
    description = "A container with an image, a command, networks and volumes."
    content = "the data in the file system of the container"
    support = Support(version="9.0.0")
    consumes = CONTAINER_PORTS
    collection = Collection(
        "zun", CONTAINERS, members="containers", id_field="uuid", owner=None, update="PATCH", filters_names=False
    )
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The physical name is searched in the project's list. A container with a name that the template gives must "
        "also have the requested properties and belong to no other resource.",
    )
    waits = Waiter(
        done=frozenset({"Running", "Stopped"}),
        pending=frozenset({"Creating", "Created"}),
        failed=frozenset({"Error"}),
    )
    deleting = Waiter(done=frozenset({"Deleted"}), tolerant=True)
    computed = frozenset({"name", "addresses"})
    plain_names = True

    properties = {
        "name": Property(description="Name of the container.", change=Change.UPDATE),
        "image": Property(description="Name or ID of the image.", required=True),
        "command": Property(
            description="The command that the container runs, as a line that is split into words.",
            live=never("the service shows it in its own form"),
        ),
        "cpu": Property(Type.NUMBER, "Number of virtual CPUs.", change=Change.UPDATE),
        "memory": Property(Type.INTEGER, "Memory in MiB.", change=Change.UPDATE),
        "environment": Property(Type.MAP, "Environment variables of the command."),
        "workdir": Property(description="Working directory of the command."),
        "labels": Property(Type.MAP, "Labels of the container, as strings by name."),
        "image_pull_policy": Property(
            description="When the image is pulled: ifnotpresent, always or never.",
            constraints=one_of("ifnotpresent", "always", "never"),
            live=never("the service does not show it"),
        ),
        "restart_policy": Property(
            description="When the command is restarted: no, always, unless-stopped, or on-failure with an optional "
            "number of retries (on-failure:3).",
            live=never("the service shows it in its own form"),
        ),
        "interactive": Property(Type.BOOLEAN, "Whether the standard input of the command is kept open."),
        "tty": Property(Type.BOOLEAN, "Whether the command has a terminal.", support=Support(version="14.0.0")),
        "image_driver": Property(
            description="Where the image is: in a registry (docker) or in the image service (glance).",
            constraints=one_of("docker", "glance"),
        ),
        "hints": Property(
            Type.MAP, "Hints for Zun's scheduler.", support=_SUPPORTED_10, live=never("the service does not show hints")
        ),
        "hostname": Property(description="Host name of the container.", support=_SUPPORTED_10),
        "security_groups": Property(
            Type.LIST,
            "Names or IDs of security groups.",
            default=[],
            strings=True,
            support=_SUPPORTED_10,
            live=never("the service shows names or IDs as it chooses"),
        ),
        "mounts": Property(
            Type.LIST,
            "Volumes that are mounted in the container.",
            items=Property(
                Type.MAP,
                schema={
                    "mount_path": Property(description="Path in the container.", required=True),
                    "volume_id": Property(description="ID of an existing volume.", constraints=custom("cinder.volume")),
                    "volume_size": Property(
                        Type.INTEGER, "Size in GB of a volume that is created, and deleted with the container."
                    ),
                },
            ),
            live=never("the service does not show which volumes it has created"),
        ),
        "networks": Property(
            Type.LIST,
            "Networks of the container; without them, Zun selects one when it creates the container.",
            items=Property(
                Type.MAP,
                schema={
                    "network": Property(description="Name or ID of the network.", reference="neutron.network"),
                    "port": Property(description="Name or ID of a port.", reference="neutron.port"),
                    "fixed_ip": Property(description="IP address in the network.", constraints=custom("ip_addr")),
                },
            ),
            change=Change.UPDATE,
            support=Support(version="11.0.0"),
            live=never("the service shows addresses in its own form"),
        ),
    }
    attributes = {
        "name": Attribute("Name of the container.", Type.STRING),
        "addresses": Attribute("Lists of addresses, by the ID and by the name of their network.", Type.MAP),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        return description.problems(properties)

    def replacement_reason(
        self, before: Mapping[str, object], after: Mapping[str, object], changed: Mapping[str, object]
    ) -> str | None:
        if "networks" in changed and not changed["networks"]:
            return "without networks, Zun selects one, which it does only when it creates a container"
        return None

    # -- creating ---------------------------------------------------------------------------------------------

    async def create_body(self, call: Call) -> dict[str, object]:
        given = call.properties
        body = without_nulls({name: given.get(name) for name in _AS_GIVEN})
        body["name"] = given.get("name") or generated_name(self, call)
        if given.get("command"):
            body["command"] = description.command(given["command"], _microversion(call))
        if given.get("restart_policy"):
            body["restart_policy"] = description.restart_policy(given["restart_policy"])
        if given.get("networks"):
            body["nets"] = description.nets(given["networks"])
        if given.get("mounts"):
            body["mounts"] = description.mounts(given["mounts"])
        return body

    async def begin(self, call: Call) -> dict[str, Any]:
        body, version = await self.create_body(call), _microversion(call)
        made = await call.cloud.post("zun", CONTAINERS, body, params={"run": "true"}, microversion=version)
        return self.collection.unwrap(made)

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        """Compare what Zun shows in the form in which it was sent."""
        differing = ("command", "nets", "mounts", "hints", "security_groups")
        return super().made_by(call, {name: value for name, value in body.items() if name not in differing}, item)

    def status_outcome(self, call: Call, shown: Mapping[str, object] | None) -> Outcome:
        if shown is not None and shown.get("status") == "Stopped" and call.properties.get("interactive"):
            reason = self.why(shown) or shown.get("status_detail") or "without a reason"
            return Failed(f"the interactive container has stopped: {reason}", in_error=True)
        return super().status_outcome(call, shown)

    # -- updating -----------------------------------------------------------------------------------------------

    async def update(self, call: Call) -> Outcome:
        return await in_turn(call, [self._change_fields, change_networks])

    async def _change_fields(self, call: Call) -> Outcome:
        changes = {name: call.changed[name] for name in _CHANGED_TOGETHER if call.changed.get(name) is not None}
        if "name" in call.changed and not call.changed["name"]:
            changes["name"] = generated_name(self, call)
        if changes:
            await call.cloud.request("PATCH", "zun", path_of(call), json=changes, microversion=VERSION)
        return Done()

    # -- deleting -----------------------------------------------------------------------------------------------

    async def remove(self, call: Call) -> None:
        shown = await self.show(call)
        call.progress["failed_before"] = shown is not None and shown.get("status") == "Error"
        await call.cloud.request("DELETE", "zun", path_of(call), params={"stop": "true"})

    def watched(self, call: Call, shown: Mapping[str, object], waiter: Waiter) -> Outcome:
        if waiter is self.deleting and shown.get("status") == "Error" and not call.progress.get("failed_before"):
            return Failed(f"Zun failed to delete the container: {self.why(shown) or 'without a reason'}")
        return super().watched(call, shown, waiter)

    async def delete(self, call: Call) -> Outcome:
        """Delete the container; while it is being created, wait until Zun accepts that."""
        try:
            return await super().delete(call)
        except CloudError as error:
            if not error.conflict:
                raise
            shown = await self.show(call)
            if shown is None:
                return Done()
            if shown.get("status") not in _BUSY and not shown.get("task_state"):
                return Failed(error.message, error.kind)
            return InProgress(after=2.0)

    # -- reading ------------------------------------------------------------------------------------------------

    async def computed_attribute(self, call: Call, name: str) -> object:
        """Return the name or the addresses; "" for a container that does not exist."""
        shown = await self.show(call)
        if shown is None:
            return ""
        if name == "name":
            return shown.get("name")
        addresses: dict[str, object] = dict(shown.get("addresses") or {})
        for key, entries in list(addresses.items()):
            network = await call.cloud.request("GET", "neutron", f"/v2.0/networks/{key}", ok=(404,))
            if network.status != 404:
                addresses[network.body["network"]["name"]] = entries
        return addresses


def _microversion(call: Call) -> str | None:
    """Return the microversion of the creation: a newer one if the container has a terminal."""
    return description.TTY_VERSION if call.properties.get("tty") is not None else None
