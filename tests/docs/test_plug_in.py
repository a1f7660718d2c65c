"""The manual's example of a plug-in, installed and used as the manual says."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base import extensions
from stoker.base.errors import TemplateInvalid
from stoker.plugins.registry import Registry
from testing.harness import World

CREATION = "POST /network/v2.0/address-groups"


@pytest.fixture(autouse=True)
def installed(docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example as pip would install it: its module importable, its entry points where Python looks for them."""
    source = docs / "how-to" / "plug-in"
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    info = tmp_path / "site" / f"stoker_example-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in found.items()) for group, found in groups
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(source)
    monkeypatch.syspath_prepend(info.parent)
    extensions.forget()
    yield
    extensions.forget()


@pytest.fixture
def template(docs: Path) -> str:
    return (docs / "how-to" / "plug-in" / "offices.yaml").read_text()


def groups(served: ServedCloud) -> list[list[str]]:
    token = served.token("demo", "demo")
    listed = served.call("GET", "/network/v2.0/address-groups", token=token).json["address_groups"]
    return [sorted(group["addresses"]) for group in listed]


def test_the_type_comes_through_the_entry_point() -> None:
    assert Registry.from_entry_points().types.get("Example::Neutron::AddressGroup") is not None


async def test_stack_of_plug_in_type_is_created_and_updated(world: World, template: str) -> None:
    stack = await world.create("offices", template)
    assert (stack["action"], stack["status"], stack["status_reason"][:6]) == ("CREATE", "COMPLETE", "Stack ")
    assert groups(world.served) == [["10.1.0.0/16", "10.2.0.0/16"]]
    before = (await world.resources("offices"))["offices"]["physical_id"]

    stack = await world.update("offices", template, parameters={"addresses": "10.2.0.0/16,10.3.0.0/16"})
    assert groups(world.served) == [["10.2.0.0/16", "10.3.0.0/16"]]
    assert sorted(world.outputs(stack)["known"]) == ["10.2.0.0/16", "10.3.0.0/16"]
    assert (await world.resources("offices"))["offices"]["physical_id"] == before

    await world.delete("offices")
    assert groups(world.served) == []


async def test_lost_response_creates_no_second_object(world: World, template: str) -> None:
    rule = world.in_cloud(lambda: world.served.cloud.faults.add(Fault(CREATION, "act_and_drop", times=1)))
    stack = await world.create("offices", template)
    assert rule.hits == 1
    assert stack["status"] == "COMPLETE"
    assert groups(world.served) == [["10.1.0.0/16", "10.2.0.0/16"]]


async def test_addresses_are_checked_before_creation(world: World, template: str) -> None:
    with pytest.raises(TemplateInvalid, match=r"resources\.offices\.properties.*'10\.1\.0\.0/99'"):
        await world.create("offices", template, parameters={"addresses": "10.1.0.0/99"})
    assert groups(world.served) == []
