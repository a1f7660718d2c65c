"""Drivers of guests that are selected by flavors and images: the rules, and guests of two drivers in one cloud."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from openstack_emulator.core.guests.driver import GuestDriver, GuestsUnavailable
from openstack_emulator.core.guests.selection import Selection, parsed
from openstack_emulator.guests import virtual_launching
from openstack_emulator.guests.choices import chosen_images
from openstack_emulator.guests.local import LocalDriver
from openstack_emulator.guests.namespace import Namespaces
from openstack_emulator.guests.qemu import Qemu
from openstack_emulator.main import main
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud

from .guest_cloud import TRY, RealNova, address_of, boot, ended, program
from .test_guest_machines import Watched, processes
from .tiny_machine import tiny_image


def test_rules_for_flavors_precede_those_for_images() -> None:
    selected = parsed(["flavor:m1.large=qemu", "namespace", "image:a=b: c=none", "namespace"])
    assert selected == Selection("namespace", {"m1.large": "qemu"}, {"a=b: c": "none"})
    assert selected.driver("m1.large", "a=b: c") == "qemu"
    assert selected.driver("m1.tiny", "a=b: c") == "none"
    assert selected.driver("m1.tiny", "") == "namespace"
    assert selected.drivers() == ["namespace", "qemu"]
    assert parsed(["image:x=qemu"]).driver("m1.tiny", "y") == "none"
    assert parsed([]).drivers() == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["xen"], "no guest driver 'xen': choose none, namespace, qemu"),
        (["flavor:a=kvm"], "no guest driver 'kvm'"),
        (["flavour:a=qemu"], "'flavour:a=qemu' is not DRIVER, flavor:NAME=DRIVER or image:NAME=DRIVER"),
        (["flavor:=qemu"], "is not DRIVER"),
        (["=qemu"], "is not DRIVER"),
        (["namespace", "qemu"], "'qemu': namespace is selected for the same servers"),
        (["image:a=qemu", "image:a=none"], "'image:a=none': qemu is selected"),
    ],
)
def test_values_that_select_no_driver_are_refused(values: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parsed(values)


def test_rules_for_unknown_flavors_and_images_stop_the_cloud_and_list_the_known_ones(tmp_path: Path) -> None:
    for rule, message in {
        "flavor:m1.big=none": r"--guests flavor:m1.big=none: the cloud has no flavor .* It has .*m1\.large, .*m1\.tiny",
        "image:debian-12=none": r"no image with the name 'debian-12'\. It has .*cirros",
        "flavor:m1.tiny=xen": r"openstack-emulator: --guests: There is no guest driver 'xen'",
    }.items():
        with pytest.raises(SystemExit, match=message):
            main(["up", "--port", "0", "--guests", rule])


SELECTION = ("flavor:m1.nano=qemu", "flavor:m1.micro=none", "image:cirros=namespace")
NANO, MICRO = "42", "84"


def new_driver(directory: Path) -> GuestDriver:
    """A driver for guests of two kinds; the test is skipped, with the reason, where they cannot run."""
    selection = parsed(SELECTION)
    try:
        image = chosen_images(Selection("namespace"), "host")["namespace"]
        virtual_launching.require_programs()
        machines = Qemu(tiny_image(directory / "image"))
        return LocalDriver(selection, {"namespace": Namespaces(image), "qemu": machines}, directory / "guests")
    except GuestsUnavailable as error:
        pytest.skip(str(error))


@contextmanager
def mixed_cloud(directory: Path) -> Iterator[RealNova]:
    state = directory / "cloud.db"
    with ServedCloud(new_cloud(pace=0.1, state_path=state, guests=new_driver(directory))) as served:
        yield RealNova(served)


def sent_to(machine: str) -> int:
    """How many packets have come from the networks to the namespace of a virtual machine."""
    [process] = processes(machine)
    lines = Path(f"/proc/{process}/net/dev").read_text().splitlines()
    [cable] = [line.split() for line in lines if line.strip().startswith("net")]
    return int(cable[2])


def directories(place: Path) -> set[str]:
    """The names of the directories of guests and contents."""
    return {one.name for one in place.iterdir() if one.is_dir()}


@pytest.mark.guests
def test_guests_of_two_drivers_share_the_networks_of_a_cloud(tmp_path: Path) -> None:
    with mixed_cloud(tmp_path) as cloud:
        machine, nothing = cloud.boot(flavorRef=NANO), cloud.boot(flavorRef=MICRO)
        watched = Watched(cloud, machine, tmp_path / "guests")
        watched.booted()
        before = sent_to(machine)
        address = address_of(cloud, machine)
        small = boot(cloud, program(TRY, f"{address}:80"))
        assert f"TRIED {address}:80" in ended(cloud, small)
        assert sent_to(machine) > before, "the machine is asked for its MAC address"

        cloud.until(lambda: cloud.status(nothing) == "ACTIVE")
        assert directories(tmp_path / "guests") == {machine, small, "disks", "volumes"}
        assert "login:" in cloud.console(nothing)
        assert cloud.act(nothing, "pause").status == 202
        cloud.until(lambda: cloud.status(nothing) == "PAUSED")
        assert cloud.act(small, "trigger_crash_dump").status == 501

        refused = cloud.act(small, "resize", {"flavorRef": NANO})
        assert refused.status == 400
        assert "The guest driver of this server is namespace, and qemu is selected" in refused.content.decode()
        other = cloud.other("GET", "/image/v2/images?name=cirros-0.6.2-x86_64-disk").json["images"][0]["id"]
        assert cloud.act(small, "rebuild", {"imageRef": other}).status == 400
        assert cloud.act(machine, "rebuild", {"imageRef": other}).status == 202, "the rule of its flavor precedes"
        watched.booted(2)
        volume = cloud.volume()
        cloud.until(lambda: cloud.volume_status(volume) == "available")
        for key in (small, nothing):
            attachment = {"volumeAttachment": {"volumeId": volume}}
            assert cloud.call("POST", f"/servers/{key}/os-volume_attachments", attachment).status == 200
            cloud.until(lambda: cloud.volume_status(volume) == "in-use")
            cloud.call("DELETE", f"/servers/{key}/os-volume_attachments/{volume}")
            cloud.until(lambda: cloud.volume_status(volume) == "available")
        cloud.call("DELETE", f"/servers/{nothing}")

    with mixed_cloud(tmp_path) as cloud:
        assert cloud.status(machine) == "ACTIVE"  # the request opens the compute service
        Watched(cloud, machine, tmp_path / "guests").booted(3)
        cloud.until(lambda: cloud.console(small).count("has booted") == 2)
        for key in (machine, small):
            cloud.call("DELETE", f"/servers/{key}")
        cloud.until(lambda: directories(tmp_path / "guests") == {"disks", "volumes"})
