"""AWS::EC2::Instance: a server with CloudFormation's properties.

It is an OS::Nova::Server whose properties are translated at every call, and whose volumes are attached once it runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from stoker.cloud.errors import NotNamed
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call
from stoker.resources import charges
from stoker.resources.aws.instance_schema import ATTRIBUTES, PROPERTIES, device_problems
from stoker.resources.aws.signalled_creation import SignalledCreation
from stoker.resources.aws.tags import as_map
from stoker.resources.aws.translated import Translated
from stoker.resources.base import value_at
from stoker.resources.nova.allowances import INSTANCE
from stoker.resources.nova.server.server import Server
from stoker.resources.nova.volume_attachments import attach_completely

_VOLUMES = "volumes_attached"
_NO_ADDRESS = "0.0.0.0"  # noqa: S104  a value to show, not an address to listen at


class _Server(Server):
    login_user = "ec2-user"


class Instance(SignalledCreation, Translated):
    """A virtual machine."""

    type_name = "AWS::EC2::Instance"
    description = "A virtual machine."
    consumes = INSTANCE
    charges = charges.INSTANCE
    content = "the data on the disks of the instance"
    target = _Server
    spelled = {
        "ImageId": "image",
        "InstanceType": "flavor",
        "KeyName": "key_name",
        "AvailabilityZone": "availability_zone",
        "SecurityGroups": "security_groups",
        "SecurityGroupIds": "security_groups",
        "NetworkInterfaces": "networks",
        "SubnetId": "networks",
        "Tags": "metadata",
        "NovaSchedulerHints": "scheduler_hints",
        "UserData": "user_data",
        "BlockDeviceMappings": "block_device_mapping",
    }
    properties = PROPERTIES
    attributes = ATTRIBUTES
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The physical name is searched in the project's list.",
    )

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties["NetworkInterfaces"] and (properties["SecurityGroups"] or properties["SecurityGroupIds"]):
            yield "SecurityGroups and SecurityGroupIds cannot be used with NetworkInterfaces"
        yield from device_problems(properties, "create an AWS::EC2::Volume and attach it with the property Volumes")

    # -- lifecycle -----------------------------------------------------------------------------------------------

    async def make(self, call: Call) -> Outcome:
        if not call.progress.get("running"):
            outcome = await self.enter(self._target.create, call)
            if not isinstance(outcome, Done):
                return outcome
            call.progress["running"] = True
            call.progress.pop("sent", None)
            return InProgress(after=0.0)
        return await _attach_volumes(call)

    async def translated(self, call: Call, properties: Mapping[str, object]) -> Mapping[str, object]:
        translated = server_properties(properties)
        for name, kind in (("image", "glance.image"), ("flavor", "nova.flavor")):
            if name in translated:  # an existing object may be used without the required properties
                translated[name] = await _id_of(call, kind, translated[name])
        return translated

    # -- reading ------------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        if call.physical_id is None:
            return dict.fromkeys(keys)
        answer = await call.cloud.request("GET", "nova", f"/servers/{call.physical_id}", ok=(404,))
        if answer.status == 404:
            return dict.fromkeys(keys)
        shown = answer.body["server"]
        values = dict.fromkeys(ATTRIBUTES, first_address(shown) or _NO_ADDRESS)
        values |= {"AvailabilityZone": shown.get("OS-EXT-AZ:availability_zone"), "show": shown}
        return {key: value_at(values.get(str(key[0])), key[1:]) for key in keys}


async def _id_of(call: Call, kind: str, value: str) -> str:
    """Return the ID for a name; except on creation, the object need not exist any more."""
    try:
        return await call.cloud.find(kind, value)
    except NotNamed:
        if call.action == "CREATE":
            raise
        return value


def server_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an instance's properties to those of a server, without resolving names to IDs."""
    groups = [*(properties["SecurityGroups"] or []), *(properties["SecurityGroupIds"] or [])]
    translated = {
        "image": properties["ImageId"],
        "flavor": properties["InstanceType"],
        "key_name": properties["KeyName"],
        "availability_zone": properties["AvailabilityZone"],
        "user_data": properties["UserData"],
        "user_data_format": "HEAT_CFNTOOLS",
        "metadata": as_map(properties["Tags"]) or None,
        "scheduler_hints": _hints(properties["NovaSchedulerHints"]) or None,
        "security_groups": groups or None,
        "networks": _networks(properties) or None,
        "block_device_mapping": [_disk(device) for device in properties["BlockDeviceMappings"] or []] or None,
    }
    return {name: value for name, value in translated.items() if value is not None}


def _networks(properties: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the networks: the given interfaces, else one in the subnet."""
    if properties["NetworkInterfaces"]:
        return [{"port": port} for port in ports(properties["NetworkInterfaces"])]
    return [{"subnet": properties["SubnetId"]}] if properties["SubnetId"] else []


def ports(interfaces: Sequence[object]) -> list[str]:
    """Return the ports' IDs in the order of the devices; a string is the ID for the next device."""
    placed = []
    for index, interface in enumerate(interfaces):
        if isinstance(interface, Mapping):
            placed.append((int(interface.get("DeviceIndex", index)), str(interface["NetworkInterfaceId"])))
        else:
            placed.append((index, str(interface)))
    return [port for _, port in sorted(placed, key=lambda entry: entry[0])]


def _hints(entries: list[Mapping[str, Any]] | None) -> dict[str, object]:
    """Return scheduler hints; a key that is given several times gets a list."""
    hints: dict[str, list[object]] = {}
    for hint in entries or []:
        hints.setdefault(hint["Key"], []).append(hint["Value"])
    return {name: values if len(values) > 1 else values[0] for name, values in hints.items()}


def _disk(device: Mapping[str, Any]) -> dict[str, object]:
    volume = device["Ebs"]
    disk = {
        "device_name": device["DeviceName"],
        "snapshot_id": volume["SnapshotId"],
        "volume_size": volume["VolumeSize"],
        "delete_on_termination": volume["DeleteOnTermination"],
    }
    return {name: value for name, value in disk.items() if value is not None}


async def _attach_volumes(call: Call) -> Outcome:
    """Attach the volumes one after the other."""
    finished: int = call.progress.get(_VOLUMES, 0)
    attachments = call.properties["Volumes"] or []
    if finished == len(attachments):
        return Done()
    entry = attachments[finished]
    outcome = await attach_completely(call, str(call.physical_id), entry["VolumeId"], entry["Device"])
    if not isinstance(outcome, Done):
        return outcome
    call.progress[_VOLUMES] = finished + 1
    call.progress.pop("sent", None)
    return InProgress(after=0.0)


def first_address(shown: Mapping[str, Any]) -> str | None:
    """Return the first address of the first network that has one, by name in reverse order; None without addresses."""
    addresses = shown.get("addresses") or {}
    for name in sorted(addresses, reverse=True):
        if addresses[name]:
            return str(addresses[name][0]["addr"])
    return None
