"""OS::Cinder::VolumeType on the emulated cloud."""

from __future__ import annotations

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.cloud.session import Cloud
from stoker.resources.cinder.volume_type import VolumeType
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import BadProperties, Bench


@pytest.fixture
def types(admin: Cloud, clock: ManualClock, served: ServedCloud) -> Bench:
    """A bench for volume types, as the administrator."""
    return Bench(VolumeType, admin, clock, served.advance)


async def test_lifecycle_of_a_type(types: Bench, admin: Cloud) -> None:
    given = {"name": "fast", "is_public": False, "metadata": {"a": 1}, "projects": ["demo"]}

    made = await types.create(given)

    path = f"/types/{made.physical_id}"
    assert (await admin.get("cinder", f"{path}/extra_specs"))["extra_specs"] == {"a": "1"}
    demo = await admin.find("keystone.project", "demo")
    access = (await admin.get("cinder", f"{path}/os-volume-type-access"))["volume_type_access"]
    assert [row["project_id"] for row in access] == [demo]

    await types.update(made, {**given, "description": "d", "metadata": {"b": 2}, "projects": ["admin"]})

    shown = (await admin.get("cinder", path))["volume_type"]
    assert (shown["name"], shown["description"], shown["extra_specs"]) == ("fast", "d", {"b": "2"})
    access = (await admin.get("cinder", f"{path}/os-volume-type-access"))["volume_type_access"]
    assert [row["project_id"] for row in access] == [admin.project_id]
    assert (await types.attribute(made, "show"))["name"] == "fast"

    await types.delete(made)
    await types.delete(made)
    assert "fast" not in {kind["name"] for kind in await admin.list("cinder", "/types", "volume_types")}


async def test_public_types_have_no_projects(types: Bench) -> None:
    with pytest.raises(BadProperties, match="is_public is false"):
        await types.finalized({"name": "fast", "projects": ["demo"]})


@pytest.mark.parametrize("public", [True, False])
async def test_an_interrupted_creation_is_found(types: Bench, public: bool) -> None:
    made = await types.crash_after_create({"name": "fast", "is_public": public})

    assert made.physical_id is not None
