"""AWS::AutoScaling::LaunchConfiguration: what the instances of a group are made like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Outcome, Replace
from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import Call, Neighbour, ResourceType, Snapshot
from stoker.resources.aws.instance_schema import BLOCK_DEVICES, SCHEDULER_HINTS, device_problems
from stoker.resources.declare import custom
from stoker.schema.property import Property, Type
from stoker.schema.unknown import is_unknown

TYPE_NAME = "AWS::AutoScaling::LaunchConfiguration"
_TAKEN = "from_instance"


class LaunchConfiguration(ResourceType):
    """The properties of instances, by themselves; it makes nothing."""

    type_name = TYPE_NAME
    description = "What the instances of a group are made like."
    recovery = Recovery(
        FoundBy.NOTHING,
        "It makes nothing that would have to be found.",
    )

    properties = {
        "ImageId": Property(description="The image, by id or name.", constraints=custom("glance.image")),
        "InstanceId": Property(
            description="A server to take image, flavor, keypair and security groups of, where they are not given.",
            constraints=custom("nova.server"),
        ),
        "InstanceType": Property(description="The flavor, by id or name.", constraints=custom("nova.flavor")),
        "KeyName": Property(description="The keypair to log in with.", constraints=custom("nova.keypair")),
        "UserData": Property(description="What the instance is told at its first start."),
        "SecurityGroups": Property(Type.LIST, "Names or ids of security groups."),
        "KernelId": Property(description="Not supported.", implemented=False),
        "RamDiskId": Property(description="Not supported.", implemented=False),
        "BlockDeviceMappings": BLOCK_DEVICES,
        "NovaSchedulerHints": SCHEDULER_HINTS,
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        if properties["InstanceId"] is None:
            missing = [name for name in ("ImageId", "InstanceType") if properties[name] is None]
            if missing:
                yield f"without InstanceId, {' and '.join(missing)} must be given"
        yield from device_problems(properties)

    def reference_id(self, resource: Snapshot) -> Any:
        return resource.physical_id if resource.physical_id is not None else resource.name

    async def create(self, call: Call) -> Outcome:
        if call.properties["InstanceId"] is not None:
            call.data[_TAKEN] = await like_instance(call, call.properties["InstanceId"])
        return Done(physical_id=call.physical_name)

    async def update(self, call: Call) -> Outcome:
        """No property can change in place, so it is the metadata, which groups must learn of by a new reference."""
        return Replace("its metadata changes")


def launched_by(configuration: Neighbour) -> dict[str, Any]:
    """The properties of an instance that a launch configuration asks for: those that it was given or has taken."""
    given = {name: value for name, value in configuration.properties.items() if name != "InstanceId"}
    return {**configuration.data.get(_TAKEN, {}), **given}


async def like_instance(call: Call, server: str) -> dict[str, Any]:
    """The properties of an instance that is like a server. Raises CloudError when it is not there."""
    shown = (await call.cloud.get("nova", f"/servers/{server}"))["server"]
    image, flavor = shown.get("image") or {}, shown.get("flavor") or {}
    if not image.get("id"):
        raise CloudError("nova", 0, f"the server {server} has no image to make others like it of")
    found = {
        "ImageId": image["id"],
        "InstanceType": flavor.get("id") or flavor.get("original_name"),
        "KeyName": shown.get("key_name"),
        "SecurityGroups": [group["name"] for group in shown.get("security_groups") or []] or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def names_problem(name: str, value: Any) -> Iterable[str]:
    """A complaint about a launch configuration that is not referred to: the group would not wait for it."""
    if value is not None and not is_unknown(value):
        yield f"{name}: refer to a launch configuration of this template with Ref; {value!r} is just a name"
