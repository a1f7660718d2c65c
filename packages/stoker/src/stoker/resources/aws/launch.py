"""AWS::AutoScaling::LaunchConfiguration: the properties of a group's instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Outcome, Replace
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Neighbour, ResourceType, Snapshot
from stoker.resources.aws.instance_schema import BLOCK_DEVICES, SCHEDULER_HINTS, device_problems
from stoker.resources.declare import custom
from stoker.schema.property import Property, Type

TYPE_NAME = "AWS::AutoScaling::LaunchConfiguration"
_TAKEN = "from_instance"


class LaunchConfiguration(ResourceType):
    """The properties of instances; it creates no object."""

    type_name = TYPE_NAME
    description = "The properties of a group's instances."
    recovery = Recovery(
        RecoveryMethod.NOTHING,
        "It creates no object.",
    )

    properties = {
        "ImageId": Property(description="The image, by ID or name.", constraints=custom("glance.image")),
        "InstanceId": Property(
            description="A server to copy image, flavor, keypair and security groups from where they are not given.",
            constraints=custom("nova.server"),
        ),
        "InstanceType": Property(description="The flavor, by ID or name.", constraints=custom("nova.flavor")),
        "KeyName": Property(description="The keypair to log in with.", constraints=custom("nova.keypair")),
        "UserData": Property(description="User data for the first boot of the server."),
        "SecurityGroups": Property(Type.LIST, "Names or IDs of security groups.", strings=True),
        "KernelId": Property(description="Not supported.", implemented=False),
        "RamDiskId": Property(description="Not supported.", implemented=False),
        "BlockDeviceMappings": BLOCK_DEVICES,
        "NovaSchedulerHints": SCHEDULER_HINTS,
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties["InstanceId"] is None:
            missing = [name for name in ("ImageId", "InstanceType") if properties[name] is None]
            if missing:
                yield f"{' and '.join(missing)} must be given if InstanceId is not"
        yield from device_problems(
            properties, "use an OS::Heat::AutoScalingGroup whose members are templates with a server and a volume"
        )

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_id if resource.physical_id is not None else resource.name

    async def create(self, call: Call) -> Outcome:
        if call.properties["InstanceId"] is not None:
            call.data[_TAKEN] = await like_instance(call, call.properties["InstanceId"])
        return Done(physical_id=call.physical_name)

    async def update(self, call: Call) -> Outcome:
        """Replace the resource: only metadata can have changed, and groups notice it by a new reference ID."""
        return Replace("its metadata has changed")


async def launched_by(call: Call, configuration: Neighbour) -> dict[str, object]:
    """Return the properties of an instance from a launch configuration: given ones, and those copied from a server.

    One that was taken over from Heat has no copy of the server's: they are read now. Raises CloudError.
    """
    given = {name: value for name, value in configuration.properties.items() if name != "InstanceId"}
    taken = configuration.data.get(_TAKEN)
    if taken is None and (server := configuration.properties.get("InstanceId")) is not None:
        taken = await like_instance(call, server)
    return {**(taken or {}), **given}


async def like_instance(call: Call, server: str) -> dict[str, object]:
    """Return the properties of an instance with a server's settings. Raises CloudError if it does not exist."""
    shown = (await call.cloud.get("nova", f"/servers/{server}"))["server"]
    image, flavor = shown.get("image") or {}, shown.get("flavor") or {}
    if not image.get("id"):
        raise CloudError("nova", 0, f"server {server} has no image, so no instances with its settings can be created")
    found = {
        "ImageId": image["id"],
        "InstanceType": flavor.get("id") or flavor.get("original_name"),
        "KeyName": shown.get("key_name"),
        "SecurityGroups": [group["name"] for group in shown.get("security_groups") or []] or None,
    }
    return {name: value for name, value in found.items() if value is not None}
