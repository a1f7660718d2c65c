"""The services of the emulated cloud. A new one is a line here."""

from __future__ import annotations

from typing import Any

from stoker.emulator.compute.nova import COMPUTE
from stoker.emulator.core.cloud import Cloud
from stoker.emulator.core.control import CONTROL
from stoker.emulator.identity.keystone import IDENTITY
from stoker.emulator.image.glance import IMAGE
from stoker.emulator.messaging.zaqar import MESSAGING
from stoker.emulator.network.neutron import NETWORK_SERVICE
from stoker.emulator.objectstore.swift import OBJECT_STORE, OBJECT_STORE_INFO
from stoker.emulator.placement.placement import PLACEMENT
from stoker.emulator.volume.cinder import VOLUME

SERVICES = (
    IDENTITY,
    CONTROL,
    IMAGE,
    NETWORK_SERVICE,
    MESSAGING,
    OBJECT_STORE,
    OBJECT_STORE_INFO,
    PLACEMENT,
    VOLUME,
    COMPUTE,
)


def new_cloud(**options: Any) -> Cloud:
    """A cloud with every service. For the options see `Cloud`."""
    return Cloud(SERVICES, **options)
