"""OS::Cinder::EncryptedVolumeType on the emulated cloud."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.cloud.session import Cloud
from stoker.resources.cinder.encrypted_volume_type import EncryptedVolumeType
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import Bench

GIVEN = {"volume_type": "vault", "provider": "luks", "cipher": "aes-xts-plain64", "key_size": 512}


@pytest.fixture
def encryptions(admin: Cloud, clock: ManualClock, served: ServedCloud) -> Bench:
    """A bench for encryptions, as the administrator."""
    return Bench(EncryptedVolumeType, admin, clock, served.advance)


@pytest.fixture
async def vault(admin: Cloud) -> str:
    made = await admin.post("cinder", "/types", {"volume_type": {"name": "vault"}})
    return str(made["volume_type"]["id"])


async def shown(admin: Cloud, vault: str) -> dict[str, Any]:
    found: dict[str, Any] = await admin.get("cinder", f"/types/{vault}/encryption")
    return found


async def test_lifecycle_of_an_encryption(encryptions: Bench, admin: Cloud, vault: str) -> None:
    made = await encryptions.create(GIVEN)

    assert made.physical_id == vault
    found = await shown(admin, vault)
    assert (found["provider"], found["control_location"], found["key_size"]) == ("luks", "front-end", 512)

    await encryptions.update(made, {**GIVEN, "key_size": 256, "cipher": "aes-cbc-essiv"})

    found = await shown(admin, vault)
    assert (found["cipher"], found["key_size"], found["provider"]) == ("aes-cbc-essiv", 256, "luks")
    assert (await encryptions.attribute(made, "show"))["key_size"] == 256

    await encryptions.delete(made)
    await encryptions.delete(made)
    assert await shown(admin, vault) == {}


async def test_an_interrupted_creation_is_found(encryptions: Bench, vault: str) -> None:
    made = await encryptions.crash_after_create(GIVEN)

    assert made.physical_id == vault
