"""Cinder: volumes, volume types and attachments."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.cinder.encrypted_volume_type import EncryptedVolumeType
from stoker.resources.cinder.qos import QoSAssociation, QoSSpecs
from stoker.resources.cinder.quota import Quota
from stoker.resources.cinder.volume import Volume
from stoker.resources.cinder.volume_attachment import VolumeAttachment
from stoker.resources.cinder.volume_type import VolumeType

TYPES: tuple[type[ResourceType], ...] = (
    QoSAssociation,
    QoSSpecs,
    Quota,
    EncryptedVolumeType,
    Volume,
    VolumeAttachment,
    VolumeType,
)
