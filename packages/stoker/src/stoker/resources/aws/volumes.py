"""AWS::EC2::Volume and AWS::EC2::VolumeAttachment: block storage with CloudFormation's properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.resource import Call
from stoker.resources import charges, volume_allowances
from stoker.resources.aws.tags import as_map, tags
from stoker.resources.aws.translated import Translated
from stoker.resources.cinder import volume, volume_attachment
from stoker.resources.declare import between, custom, matching
from stoker.schema.property import Change, Property, Type


class Volume(Translated):
    """A block storage volume."""

    type_name = "AWS::EC2::Volume"
    description = "A block storage volume."
    consumes = volume_allowances.volume("Size")
    charges = charges.volume("Size")
    content = "the data on the volume"
    target = volume.Volume
    snapshot_on_delete = True
    spelled = {"Size": "size", "AvailabilityZone": "availability_zone", "SnapshotId": "backup_id", "Tags": "metadata"}

    properties = {
        "AvailabilityZone": Property(
            description="The availability zone of the volume.", required=True, change=Change.REFUSE
        ),
        "Size": Property(Type.INTEGER, "Size in GiB.", constraints=between(1), change=Change.REFUSE),
        "SnapshotId": Property(
            description="The backup to create the volume from.",
            constraints=custom("cinder.backup"),
            change=Change.REFUSE,
        ),
        "Tags": tags("Tags, which become metadata of the volume.", change=Change.REFUSE),
    }

    def configure(self, options: Mapping[str, object]) -> None:
        super().configure(options)
        self.snapshot_on_delete = self._target.snapshot_on_delete

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("Size") is None and properties.get("SnapshotId") is None:
            yield "Size or SnapshotId must be given"

    async def translated(self, call: Call, properties: Mapping[str, Any]) -> Mapping[str, object]:
        return {
            "availability_zone": properties["AvailabilityZone"],
            "size": properties["Size"],
            "backup_id": properties["SnapshotId"],
            "metadata": as_map(properties["Tags"]),
            "name": call.physical_name,
            "description": call.physical_name,
        }


class VolumeAttachment(Translated):
    """The attachment of a volume to an instance."""

    type_name = "AWS::EC2::VolumeAttachment"
    description = "The attachment of a volume to an instance."
    target = volume_attachment.VolumeAttachment
    spelled = {"InstanceId": "instance_uuid", "VolumeId": "volume_id", "Device": "mountpoint"}

    properties = {
        "InstanceId": Property(
            description="The instance.", required=True, constraints=custom("nova.server"), change=Change.REFUSE
        ),
        "VolumeId": Property(
            description="The volume.", required=True, constraints=custom("cinder.volume"), change=Change.REFUSE
        ),
        "Device": Property(
            description="Name of the device in the instance, such as /dev/vdb.",
            required=True,
            constraints=matching("/dev/vd[b-z]"),
            change=Change.REFUSE,
        ),
    }

    async def translated(self, call: Call, properties: Mapping[str, Any]) -> Mapping[str, object]:
        return {
            "instance_uuid": properties["InstanceId"],
            "volume_id": properties["VolumeId"],
            "mountpoint": properties["Device"],
        }
