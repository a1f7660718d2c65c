"""OS::Nova::KeyPair on the emulated cloud."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType
from stoker.resources.nova.key_pair import KeyPair
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import ActionFailed, Bench

MakeBench = Callable[[type[ResourceType]], Bench]
_BLOB = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes(range(32))
PUBLIC_KEY = f"ssh-ed25519 {b64encode(_BLOB).decode()} me@here"


async def test_a_given_key_is_kept_under_its_name(bench: MakeBench, calls: list[str]) -> None:
    keys = bench(KeyPair)

    key = await keys.create({"name": "mine", "public_key": PUBLIC_KEY})

    assert (key.physical_id, keys.reference(key)) == ("mine", "mine")
    assert [call for call in calls if "keypairs" in call] == [calls[-1]]
    assert await keys.attributes(key, [("public_key",), ("private_key",)]) == {
        ("public_key",): PUBLIC_KEY,
        ("private_key",): "",
    }
    await keys.run("check", key)


async def test_key_pair_is_generated_with_older_microversion(bench: MakeBench) -> None:
    keys = bench(KeyPair)

    key = await keys.create({"name": "generated", "save_private_key": True})

    assert "PRIVATE KEY" in await keys.attribute(key, "private_key")
    assert (await keys.attribute(key, "public_key")).startswith("ssh-")


async def test_a_private_key_is_saved_only_on_request(bench: MakeBench) -> None:
    key = await bench(KeyPair).create({"name": "generated"})

    assert key.data == {}


async def test_no_reference_before_creation(bench: MakeBench) -> None:
    keys = bench(KeyPair)

    assert keys.reference(keys.resource()) is None


async def test_deletion_is_idempotent_and_check_fails_afterwards(bench: MakeBench) -> None:
    keys = bench(KeyPair)
    key = await keys.create({"name": "mine", "public_key": PUBLIC_KEY})

    await keys.delete(key)
    await keys.delete(key)

    with pytest.raises(ActionFailed, match="does not exist"):
        await keys.run("check", key)


async def test_an_interrupted_creation_is_found_by_name(bench: MakeBench) -> None:
    key = await bench(KeyPair).crash_after_create({"name": "mine", "public_key": PUBLIC_KEY})

    assert key.physical_id == "mine"


async def test_an_existing_key_of_the_name_is_not_taken(bench: MakeBench, clock: ManualClock, cloud: Cloud) -> None:
    keys = bench(KeyPair)
    await keys.create({"name": "mine", "public_key": PUBLIC_KEY})
    resource = keys.resource()
    resource.properties = await keys.finalized({"name": "mine", "public_key": PUBLIC_KEY + "2"})

    assert await keys.kind.find(keys.call(resource, "CREATE", resource.properties)) is None


async def test_a_generated_key_that_was_lost_is_generated_again(bench: MakeBench) -> None:
    """The private key can no longer be read, so the pair is useless."""
    keys = bench(KeyPair)

    key = await keys.crash_after_create({"name": "generated", "save_private_key": True})

    assert key.physical_id is None
    await keys.run("create", key)
    assert "PRIVATE KEY" in await keys.attribute(key, "private_key")


async def test_an_administrator_creates_a_key_for_another_user(
    admin: Cloud, cloud: Cloud, clock: ManualClock, served: ServedCloud
) -> None:
    keys = Bench(KeyPair, admin, clock, served.advance)
    given = {"name": "theirs", "public_key": PUBLIC_KEY, "user": cloud.user_id}

    key = await keys.create(given)

    assert (await cloud.get("nova", "/os-keypairs/theirs"))["keypair"]["public_key"] == PUBLIC_KEY
    await keys.delete(key)
    assert (await cloud.request("GET", "nova", "/os-keypairs/theirs", ok=(404,))).status == 404
