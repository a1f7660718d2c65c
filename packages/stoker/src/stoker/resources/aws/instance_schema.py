"""Declarations of AWS::EC2::Instance, parts of which launch configurations and groups share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.resources.aws.tags import tags
from stoker.resources.declare import custom, one_of
from stoker.schema.live import never
from stoker.schema.property import Attribute, Change, Property, Type
from stoker.schema.unknown import is_unknown


def _unsupported(kind: Type = Type.STRING, **more: Any) -> Property:
    return Property(kind, "Not supported.", implemented=False, **more)


TAGS = tags("Tags, which become metadata of the server.")
SCHEDULER_HINTS = tags("Scheduler hints, as keys and values.")

BLOCK_DEVICES = Property(
    Type.LIST,
    "Disks besides the image's.",
    items=Property(
        Type.MAP,
        schema={
            "DeviceName": Property(description="Name of the device in the server, such as vdb.", required=True),
            "Ebs": Property(
                Type.MAP,
                "The volume.",
                schema={
                    "DeleteOnTermination": Property(
                        Type.BOOLEAN, "Whether the volume is deleted with the server.", default=True
                    ),
                    "Iops": _unsupported(Type.NUMBER),
                    "SnapshotId": Property(
                        description="The snapshot to create the volume from.", constraints=custom("cinder.snapshot")
                    ),
                    "VolumeSize": Property(description="Size of the volume in GiB."),
                    "VolumeType": _unsupported(),
                },
            ),
            "NoDevice": _unsupported(Type.MAP),
            "VirtualName": _unsupported(),
        },
    ),
)

PROPERTIES = {
    "ImageId": Property(
        description="The image, by ID or name.",
        required=True,
        constraints=custom("glance.image"),
    ),
    "InstanceType": Property(
        description="The flavor, by ID or name.",
        required=True,
        constraints=custom("nova.flavor"),
        change=Change.UPDATE,
    ),
    "KeyName": Property(description="The keypair to log in with.", constraints=custom("nova.keypair")),
    "AvailabilityZone": Property(description="The availability zone of the server."),
    "DisableApiTermination": _unsupported(),
    "KernelId": _unsupported(),
    "Monitoring": _unsupported(Type.BOOLEAN),
    "PlacementGroupName": _unsupported(),
    "PrivateIpAddress": _unsupported(),
    "RamDiskId": _unsupported(),
    "SecurityGroups": Property(Type.LIST, "Names or IDs of security groups.", strings=True),
    "SecurityGroupIds": Property(Type.LIST, "IDs of security groups.", strings=True),
    "NetworkInterfaces": Property(
        Type.LIST, "Ports to use: their IDs, or maps with NetworkInterfaceId and DeviceIndex.", change=Change.UPDATE
    ),
    "SourceDestCheck": _unsupported(Type.BOOLEAN),
    "SubnetId": Property(description="The subnet of the server, which gets a new port there.", change=Change.UPDATE),
    "Tags": tags("Tags, which become metadata of the server.", change=Change.UPDATE),
    "NovaSchedulerHints": SCHEDULER_HINTS,
    "Tenancy": _unsupported(constraints=one_of("dedicated", "default")),
    "UserData": Property(description="User data for the first boot of the server."),
    "Volumes": Property(
        Type.LIST,
        "Volumes to attach.",
        default=[],
        items=Property(
            Type.MAP,
            schema={
                "Device": Property(description="Name of the device in the server, such as vdb.", required=True),
                "VolumeId": Property(description="The volume.", required=True, constraints=custom("cinder.volume")),
            },
        ),
        live=never("a volume can be attached and detached later"),
    ),
    "BlockDeviceMappings": BLOCK_DEVICES,
}

_ADDRESS = Attribute("The first address of the server; 0.0.0.0 if it has none.", Type.STRING)
ATTRIBUTES = {
    "AvailabilityZone": Attribute("The availability zone of the server.", Type.STRING),
    "PrivateDnsName": _ADDRESS,
    "PublicDnsName": _ADDRESS,
    "PrivateIp": _ADDRESS,
    "PublicIp": _ADDRESS,
}


def device_problems(properties: Mapping[str, object], instead: str) -> Iterable[str]:
    """Yield problems of disks without a snapshot, which cannot be created: neither AWS::EC2 type has blank disks.

    instead: how to get a blank disk with the resource type.
    """
    devices = properties["BlockDeviceMappings"]
    for index, device in enumerate(devices if isinstance(devices, list) else ()):
        volume = None if is_unknown(device) else device["Ebs"]
        if not is_unknown(device) and not is_unknown(volume) and (volume is None or volume["SnapshotId"] is None):
            missing = "Ebs" if volume is None else "Ebs.SnapshotId"
            yield (
                f"BlockDeviceMappings[{index}] has no {missing}: a disk is created from the snapshot of a volume only, "
                f"in Heat as well; for a blank disk, {instead}"
            )
