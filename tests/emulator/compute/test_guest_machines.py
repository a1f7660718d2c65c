"""Guests in virtual machines: what a machine gets, and one that boots, has volumes, is reached, and crashes."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import orjson
import pytest

from openstack_emulator.core.guests.driver import GuestsUnavailable, Size
from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.guests import images, namespace_process, virtual_launching
from openstack_emulator.guests.choices import chosen_images, guest_driver, remark
from openstack_emulator.guests.forwarding import local_address, local_port
from openstack_emulator.guests.limits import allowed_places, missing_limits
from openstack_emulator.guests.local import LocalDriver
from openstack_emulator.guests.qemu import Qemu
from openstack_emulator.guests.virtual import VirtualMachine
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import CloudClient, ServedCloud

from .guest_cloud import RealNova, boot, group, neutron
from .tiny_machine import BOOTED, POWER_BUTTON, tiny_image

BOOT_SECONDS, SHELL_SECONDS, STEP_SECONDS = 900, 180, 120
"""Longest times, for an emulated processor on a machine with other work."""


def test_without_qemu_or_an_image_the_message_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(namespace_process, "find_program", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(virtual_launching, "find_program", lambda name: None)
    with pytest.raises(GuestsUnavailable, match=r"and qemu-img: .* `apt-get install qemu-system-x86"):
        chosen_images(Selection("qemu"))
    monkeypatch.setattr(virtual_launching, "find_program", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(virtual_launching, "TUN_DEVICE", tmp_path / "tun")
    with pytest.raises(GuestsUnavailable, match="modprobe tun"):
        chosen_images(Selection("qemu"))
    monkeypatch.setattr(virtual_launching, "TUN_DEVICE", tmp_path)
    for name in ("debian", "host", "../x"):
        with pytest.raises(GuestsUnavailable, match=r"no guest image .* `stoker guests build --format qcow2`"):
            chosen_images(Selection("qemu"), name)
    place = images.image_directory("debian", "qcow2")
    place.mkdir(parents=True)
    (place / "image.json").write_text('{"format": "qcow2"}')
    assert chosen_images(Selection("qemu"))["qemu"].disk == place
    assert chosen_images(Selection("qemu"), "debian.qcow2")["qemu"].disk == place
    with pytest.raises(GuestsUnavailable, match=r"no guest image 'debian.qcow2'"):
        chosen_images(Selection("namespace"), "debian.qcow2")
    assert images.built_images() == [{"name": "debian.qcow2", "format": "qcow2", "path": str(place)}]


def test_kvm_is_used_only_where_the_processor_supports_it(tmp_path: Path) -> None:
    processors = tmp_path / "cpuinfo"
    processors.write_text("flags\t\t: fpu hypervisor\n")
    assert virtual_launching.accelerator(tmp_path, processors) == (
        "tcg", "the processor does not show support for virtual machines (vmx or svm)",
    )  # fmt: skip
    processors.write_text("flags\t\t: fpu vmx\n")
    assert virtual_launching.accelerator(tmp_path / "kvm", processors)[1].endswith(
        "kvm cannot be used: No such file or directory"
    )
    assert remark(Selection("namespace")) == missing_limits(allowed_places())
    assert re.search(r"\((KVM\)|TCG\): .*)\.$", remark(Selection("qemu")))


def test_the_size_of_a_machine_is_that_of_its_flavor_within_limits() -> None:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // (1 << 20)
    assert virtual_launching.allowed(Size(1, 512, 3)) == Size(1, 512, 3)
    assert virtual_launching.allowed(Size(4096, 64)) == Size(os.cpu_count() or 1, 256)
    assert virtual_launching.allowed(Size(1, 10 * total)).memory == total // 2


def processes(server: str) -> list[int]:
    """The processes of QEMU that run a server."""
    return [process for process, words in commands() if f"guest={server}" in words]


def commands() -> Iterator[tuple[int, list[str]]]:
    """The processes of QEMU with their commands."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = place.read_bytes().decode(errors="replace").split("\0")
            if words[0].endswith("qemu-system-x86_64"):
                yield int(place.parent.name), words


class Watched:
    """A server with a virtual machine, whose files are in a directory."""

    def __init__(self, cloud: RealNova, key: str, directory: Path) -> None:
        self._cloud, self.key, self._directory = cloud, key, directory

    def booted(self, times: int = 1) -> None:
        """Wait until the machine has booted so many times."""
        shown = BOOTED.decode().strip()
        end = time.monotonic() + STEP_SECONDS
        while (console := self._cloud.console(self.key)).count(shown) != times:
            server = self._cloud.server(self.key)
            assert server["status"] != "ERROR", server.get("fault")
            assert time.monotonic() < end, f"{server['status']}, {list(commands())}, {console!r}"
            time.sleep(0.02)

    def words(self) -> list[str]:
        """The command of the only process."""
        [words] = [words for _, words in commands() if f"guest={self.key}" in words]
        return words

    def opened(self, name: str) -> int:
        """How many files with this name the machine has open."""
        [process] = processes(self.key)
        links = []
        for place in Path(f"/proc/{process}/fd").iterdir():
            with suppress(FileNotFoundError):  # it has been closed meanwhile
                links.append(str(place.readlink()))
        return sum(link.endswith(name) for link in links)

    def until_cards(self, number: int) -> None:
        self._cloud.until(lambda: self.opened("/dev/net/tun") == number, STEP_SECONDS)

    def until_attached(self, volume: str, attached: bool = True) -> None:
        self._cloud.until(lambda: bool(self.opened(f"volume-{volume}")) == attached, STEP_SECONDS)

    def becomes(self, status: str) -> None:
        self._cloud.until(lambda: self._cloud.status(self.key) == status, STEP_SECONDS)

    def runs(self) -> bool:
        """Whether the processors of the machine run."""
        served = self._cloud.served
        driver = served.cloud.guests
        assert isinstance(driver, LocalDriver)
        machine = driver._machines[self.key]
        assert isinstance(machine, VirtualMachine)
        assert machine._monitor is not None
        asking = machine._monitor.execute("query-status")
        answer = asyncio.run_coroutine_threadsafe(asking, served._loop).result(STEP_SECONDS)
        return bool(answer["running"])

    def disk(self) -> Path:
        return self._directory / self.key / "disk.qcow2"


def virtual_size(disk: Path) -> int:
    shown = subprocess.run(["qemu-img", "info", "-U", "--output=json", disk], capture_output=True, check=True).stdout
    return int(orjson.loads(shown)["virtual-size"])


@pytest.mark.guests
def test_virtual_machine_lifecycle_with_interfaces_and_volumes(tmp_path: Path) -> None:
    try:
        virtual_launching.require_programs()
        driver = LocalDriver(Selection("qemu"), {"qemu": Qemu(tiny_image(tmp_path / "image"))}, tmp_path / "guests")
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    with ServedCloud(new_cloud(pace=0.1, guests=driver)) as served:
        cloud = RealNova(served)
        network = {"uuid": cloud.network()}
        key = cloud.boot(networks=[network, network])
        machine = Watched(cloud, key, tmp_path / "guests")
        machine.booted()
        words = machine.words()
        assert words[words.index("-smp") + 1] == "1"
        assert words[words.index("-m") + 1] == "512"
        drive = tmp_path / "guests" / key / "config_drive" / "openstack" / "latest" / "meta_data.json"
        assert orjson.loads(drive.read_bytes())["uuid"] == key
        assert virtual_size(machine.disk()) == 1 << 30

        assert machine.opened("/dev/net/tun") == 2
        added = cloud.call("POST", f"/servers/{key}/os-interface", {"interfaceAttachment": {"net_id": network["uuid"]}})
        machine.until_cards(3)
        cloud.call("DELETE", f"/servers/{key}/os-interface/{added.json['interfaceAttachment']['port_id']}")
        machine.until_cards(2)

        volume = cloud.volume()
        cloud.until(lambda: cloud.volume_status(volume) == "available")
        attachment = {"volumeAttachment": {"volumeId": volume}}
        assert cloud.call("POST", f"/servers/{key}/os-volume_attachments", attachment).status == 200
        machine.until_attached(volume)
        assert (tmp_path / "guests" / "disks" / f"volume-{volume}").stat().st_size == 1 << 30
        cloud.call("DELETE", f"/servers/{key}/os-volume_attachments/{volume}")
        machine.until_attached(volume, False)
        cloud.until(lambda: cloud.volume_status(volume) == "available")
        assert cloud.call("POST", f"/servers/{key}/os-volume_attachments", attachment).status == 200

        cloud.act(key, "os-stop")
        cloud.until(lambda: not processes(key), STEP_SECONDS)
        assert POWER_BUTTON.decode().strip() in cloud.console(key)
        assert cloud.status(key) == "SHUTOFF"
        cloud.act(key, "resize", {"flavorRef": "2"})
        machine.becomes("VERIFY_RESIZE")
        cloud.act(key, "confirmResize")
        machine.becomes("SHUTOFF")
        cloud.act(key, "os-start")
        machine.booted(2)
        machine.until_attached(volume)
        words = machine.words()
        assert words[words.index("-m") + 1] == str(virtual_launching.allowed(Size(1, 2048)).memory)
        assert virtual_size(machine.disk()) == 20 << 30

        cloud.act(key, "reboot", {"type": "HARD"})
        machine.booted(3)
        machine.becomes("ACTIVE")
        with machine.disk().open("rb") as before:
            cloud.act(key, "rebuild", {"imageRef": cloud.image()})
            machine.booted(4)
            assert os.fstat(before.fileno()).st_nlink == 0, "the disk is a new one"
        machine.becomes("ACTIVE")

        [process] = processes(key)
        os.kill(process, signal.SIGKILL)
        machine.becomes("SHUTOFF")
        cloud.act(key, "os-start")
        machine.booted(5)
        for freezing, ending, status in (("pause", "unpause", "PAUSED"), ("suspend", "resume", "SUSPENDED")):
            assert cloud.act(key, freezing).status == 202
            machine.becomes(status)
            cloud.until(lambda: not machine.runs(), STEP_SECONDS)
            assert cloud.act(key, ending).status == 202
            machine.becomes("ACTIVE")
            cloud.until(machine.runs, STEP_SECONDS)
        assert cloud.act(key, "rescue").status == 200
        machine.becomes("RESCUE")
        machine.booted(6)
        disks = [f"{key}/rescue.qcow2", f"{key}/disk.qcow2"]
        assert [machine.opened(name) for name in (*disks, f"volume-{volume}")] == [1, 1, 0]
        shown = " ".join(machine.words())
        assert shown.index("rescue.qcow2") < shown.index("disk.qcow2"), "it is /dev/vda"
        assert cloud.act(key, "unrescue").status == 202
        machine.becomes("ACTIVE")
        machine.booted(7)
        machine.until_attached(volume)
        assert [machine.opened(name) for name in disks] == [0, 1]
        cloud.act(key, "suspend")
        machine.becomes("SUSPENDED")
        cloud.call("DELETE", f"/servers/{key}")
        cloud.until(lambda: not processes(key) and not machine.disk().parent.exists(), STEP_SECONDS)
        other = Watched(cloud, cloud.boot(), tmp_path / "guests")
        other.booted()
        (tmp_path / "image" / "kernel").unlink()
        failed = Watched(cloud, cloud.boot(), tmp_path / "guests")
        failed.becomes("ERROR")
        assert "No such file" in cloud.server(failed.key)["fault"]["message"]
    assert not processes(other.key), "machines end with the cloud"


@pytest.mark.guests
def test_virtual_machine_boots_from_volume_used_before(tmp_path: Path) -> None:
    try:
        virtual_launching.require_programs()
        image = tiny_image(tmp_path / "image")
        raw = tmp_path / "raw"
        raw.write_bytes(b"SYSTEM" + bytes(1 << 20))
        subprocess.run(["qemu-img", "convert", "-O", "qcow2", raw, tmp_path / "image" / images.DISK], check=True)
        driver = LocalDriver(Selection("qemu"), {"qemu": Qemu(image)}, tmp_path / "guests")
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    with ServedCloud(new_cloud(pace=0.1, guests=driver)) as served:
        cloud = RealNova(served)
        root = {"boot_index": 0, "source_type": "image", "destination_type": "volume", "uuid": cloud.image()}
        key = cloud.boot(imageRef="", block_device_mapping_v2=[{**root, "volume_size": 1}])
        machine = Watched(cloud, key, tmp_path / "guests")
        machine.booted()
        [volume] = [str(one["id"]) for one in cloud.server(key)["os-extended-volumes:volumes_attached"]]
        place = tmp_path / "guests" / "disks" / f"volume-{volume}"
        with place.open("r+b") as file:
            assert file.read(6) == b"SYSTEM"
            file.seek(0)
            file.write(b"CHANGED")
        assert place.stat().st_size == 1 << 30
        machine.until_attached(volume)
        assert not machine.disk().exists()
        cloud.call("DELETE", f"/servers/{key}")
        cloud.until(lambda: cloud.volume_status(volume) == "available")
        body = {"boot_index": 0, "source_type": "volume", "destination_type": "volume", "uuid": volume}
        other = Watched(cloud, cloud.boot(imageRef="", block_device_mapping_v2=[body]), tmp_path / "guests")
        other.booted()
        other.until_attached(volume)
        with place.open("rb") as file:
            assert file.read(7) == b"CHANGED"
        assert cloud.act(other.key, "rescue").status == 200
        other.becomes("RESCUE")
        other.booted(2)
        other.until_attached(volume)
        assert other.opened("rescue.qcow2") == 1


@pytest.mark.guests
def test_a_machine_ends_with_a_killed_cloud_and_is_started_once_with_the_next(tmp_path: Path) -> None:
    try:
        virtual_launching.require_programs()
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    tiny_image(tmp_path / "cache" / "stoker" / "guests" / "tiny.qcow2")
    port_file, log = tmp_path / "port", tmp_path / "log"
    command = [sys.executable, "-m", "openstack_emulator", "up", "--port", "0", "--port-file", str(port_file)]
    command += [
        "--password",
        "secret",
        "--state",
        str(tmp_path / "cloud.db"),
        "--guests",
        "qemu",
        "--guest-image",
        "tiny",
    ]
    command += ["--services", "image,network,volume,compute"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    @contextmanager
    def cloud() -> Iterator[tuple[subprocess.Popen[bytes], RealNova]]:
        port_file.unlink(missing_ok=True)
        with log.open("ab") as file, subprocess.Popen(command, stdout=file, stderr=file, env=environment) as process:
            while not port_file.exists():
                if process.poll() is not None:
                    pytest.skip(log.read_text().strip())
                time.sleep(0.05)
            try:
                yield process, RealNova(CloudClient(int(port_file.read_text())))
            finally:
                process.terminate()

    with cloud() as (process, nova):
        machine = Watched(nova, nova.boot(), tmp_path / "guests")
        machine.booted()
        process.kill()
        process.wait()
        nova.until(lambda: not processes(machine.key), STEP_SECONDS)
    with cloud() as (process, nova):
        machine = Watched(nova, machine.key, tmp_path / "guests")
        machine.booted(2)
        assert nova.status(machine.key) == "ACTIVE"
        assert len(processes(machine.key)) == 1
    assert not processes(machine.key), "no process is left"
    assert "Traceback" not in log.read_text()


@pytest.fixture
def cloud() -> Iterator[RealNova]:
    if virtual_launching.accelerator()[0] != virtual_launching.KVM and "STOKER_TEST_GUEST_IMAGE" not in os.environ:
        pytest.skip("Booting Debian takes minutes without /dev/kvm: `make guests` does it.")
    try:
        driver = guest_driver(Selection("qemu"))
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    with ServedCloud(new_cloud(pace=0.1, guests=driver)) as served:
        yield RealNova(served)


class Login:
    """SSH to a server through its floating IP."""

    def __init__(self, cloud: RealNova, directory: Path) -> None:
        self._cloud = cloud
        self._key = directory / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._key)], check=True)
        public = self._key.with_suffix(".pub").read_text()
        made = cloud.call("POST", "/os-keypairs", {"keypair": {"name": "k", "type": "ssh", "public_key": public}})
        assert made.status < 300, made.content
        opened = group(cloud, port_range_min=22, port_range_max=22)
        six = {"network_id": cloud.network(), "cidr": "fd00:1::/64", "ip_version": 6, "ipv6_ra_mode": "slaac"}
        subnet = neutron(cloud, "POST", "/subnets", {"subnet": {**six, "ipv6_address_mode": "slaac"}})["id"]
        router = neutron(cloud, "GET", "/routers?name=router1")[0]["id"]
        added = cloud.other("PUT", f"/network/v2.0/routers/{router}/add_router_interface", {"subnet_id": subnet})
        assert added.status == 200, added.content
        request_body = {"network_id": cloud.network(), "security_groups": [opened]}
        made_port = neutron(cloud, "POST", "/ports", {"port": request_body})
        self.port = made_port["id"]
        self.address6 = next(one["ip_address"] for one in made_port["fixed_ips"] if ":" in one["ip_address"])
        public_network = neutron(cloud, "GET", "/networks?name=public")[0]["id"]
        body = {"floating_network_id": public_network, "port_id": self.port}
        self._address = neutron(cloud, "POST", "/floatingips", {"floatingip": body})["floating_ip_address"]

    def run(self, command: str) -> str:
        place = ["-p", str(local_port(22)), f"debian@{local_address(self._address)}"]
        options = ["-i", str(self._key), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
        words = ["ssh", *options, "-o", "BatchMode=yes", "-o", f"ConnectTimeout={SHELL_SECONDS}", *place, command]
        done = subprocess.run(words, capture_output=True, text=True, timeout=3 * SHELL_SECONDS, check=False)
        return done.stdout if done.returncode == 0 else f"{done.stdout}{done.stderr}status {done.returncode}"


@pytest.mark.guests
@pytest.mark.timeout(4 * BOOT_SECONDS)
@pytest.mark.xdist_group("guests")
@pytest.mark.skipif(shutil.which("ssh") is None, reason="needs the program ssh")
def test_a_machine_boots_has_volumes_is_reached_and_crashes(cloud: RealNova, tmp_path: Path) -> None:
    login = Login(cloud, tmp_path)
    endpoint = cloud.served.cloud.endpoint
    key = boot(
        cloud,
        "echo processors=$(grep -c ^processor /proc/cpuinfo) host=$(hostname)",
        f"echo status=$(curl -s -o /dev/null -w '%{{http_code}}' {endpoint}/identity/v3)",
        "curl -s http://169.254.169.254/openstack/latest/meta_data.json; echo",
        flavorRef="1", hostname="web", key_name="k", networks=[{"port": login.port}],
    )  # fmt: skip
    cloud.until(lambda: "has booted." in cloud.console(key) or cloud.status(key) == "ERROR", BOOT_SECONDS)
    shown = cloud.console(key)
    assert "Linux version" in shown, cloud.server(key).get("fault")
    assert "processors=1 host=web\n" in shown
    assert "status=200\n" in shown, "the cloud at the address in its catalog"
    assert f'"uuid":"{key}"' in shown
    assert login.run("id -un") == "debian\n"
    assert f" {login.address6}/64 " in login.run("ip -6 -o address show dev eth0 scope global")

    volume = cloud.volume()
    cloud.until(lambda: cloud.volume_status(volume) == "available")
    attachment = {"volumeAttachment": {"volumeId": volume}}
    cloud.call("POST", f"/servers/{key}/os-volume_attachments", attachment)
    write = "until [ -b /dev/vdb ]; do sleep 1; done; sudo mkfs.ext4 -q /dev/vdb && sudo mount /dev/vdb /mnt && "
    assert login.run(f"{write} echo kept | sudo tee /mnt/file; sudo umount /mnt; cat /sys/block/vdb/size") == (
        f"kept\n{1 << 21}\n"
    )
    cloud.call("DELETE", f"/servers/{key}/os-volume_attachments/{volume}")
    assert login.run("while [ -b /dev/vdb ]; do sleep 1; done; echo touched >file; sync; echo gone") == "gone\n"
    cloud.until(lambda: cloud.volume_status(volume) == "available")

    cloud.act(key, "os-stop")
    cloud.until(lambda: not processes(key), BOOT_SECONDS)
    assert "Shutting down." in cloud.console(key)
    assert cloud.status(key) == "SHUTOFF"
    cloud.call("POST", f"/servers/{key}/os-volume_attachments", attachment)
    cloud.act(key, "os-start")
    cloud.until(lambda: cloud.console(key).count("has booted.") == 2, BOOT_SECONDS)
    assert login.run("cat file; sudo mount /dev/vdb /mnt && cat /mnt/file") == "touched\nkept\n"

    [process] = processes(key)
    os.kill(process, signal.SIGKILL)
    cloud.until(lambda: cloud.status(key) == "SHUTOFF")
    cloud.call("DELETE", f"/servers/{key}")
    cloud.until(lambda: cloud.status(key) == "gone")
