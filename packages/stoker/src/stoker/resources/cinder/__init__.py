"""Cinder: volumes, volume types and attachments."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Cinder::QoSAssociation": "qos:QoSAssociation",
        "OS::Cinder::QoSSpecs": "qos:QoSSpecs",
        "OS::Cinder::Quota": "quota:Quota",
        "OS::Cinder::EncryptedVolumeType": "encrypted_volume_type:EncryptedVolumeType",
        "OS::Cinder::Volume": "volume:Volume",
        "OS::Cinder::VolumeAttachment": "volume_attachment:VolumeAttachment",
        "OS::Cinder::VolumeType": "volume_type:VolumeType",
    },
)
