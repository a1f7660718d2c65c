"""Volumes of guests: their contents survive, and are copied by snapshots and backups."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from openstack_emulator.compute.rules.guests import Guests
from openstack_emulator.core.guests.driver import GuestsUnavailable, Volume
from openstack_emulator.guests.ids import id_maps
from openstack_emulator.guests.images import HOST, find_image
from openstack_emulator.guests.launching import NamespaceLauncher
from openstack_emulator.guests.local import LocalDriver
from openstack_emulator.guests.namespace_process import NamespaceProcess
from openstack_emulator.guests.network_reconciler import NetworkReconciler
from openstack_emulator.guests.volumes import Volumes

from .guest_cloud import RealNova, boot, ended, guest_cloud

pytestmark = pytest.mark.guests

LIST = "while read -r major minor blocks name; do echo [$name]; done </proc/partitions"
AWAIT = "for i in $(seq 60); do [ {} -e /dev/vdb ] && break; sleep 0.1; done"
READ = "mkdir /mnt; mount /dev/vdb /mnt && cat /mnt/file; ls -A /mnt"


@pytest.fixture(scope="module")
def running() -> Iterator[RealNova]:
    with guest_cloud() as nova:
        yield nova


@pytest.fixture
def cloud(running: RealNova) -> Iterator[RealNova]:
    """A cloud without servers and volumes of other tests, since a project may have few of them."""
    yield running
    for server in running.call("GET", "/servers").json["servers"]:
        running.call("DELETE", f"/servers/{server['id']}")
    running.until(lambda: not running.call("GET", "/servers").json["servers"])
    for volume in running.other("GET", "/volume/v3/volumes").json["volumes"]:
        running.other("DELETE", f"/volume/v3/volumes/{volume['id']}?cascade=true")
    running.until(lambda: not running.other("GET", "/volume/v3/volumes").json["volumes"])


def made(cloud: RealNova, path: str, key: str, **fields: object) -> str:
    """The ID of a new object of the block storage service, when it is available."""
    answer = cloud.other("POST", f"/volume/v3/{path}", {key: fields})
    assert answer.status == 202, answer.content
    found = str(answer.json[key]["id"])
    cloud.until(lambda: cloud.other("GET", f"/volume/v3/{path}/{found}").json[key]["status"] == "available")
    return found


def free(cloud: RealNova, volume: str) -> None:
    cloud.until(lambda: cloud.volume_status(volume) == "available")


def device(volume: str) -> list[dict[str, object]]:
    return [
        {"boot_index": 0, "source_type": "image", "destination_type": "local", "uuid": ""},
        {"boot_index": -1, "source_type": "volume", "destination_type": "volume", "uuid": volume},
    ]


def boots_from(volume: str) -> list[dict[str, object]]:
    return [{"boot_index": 0, "source_type": "volume", "destination_type": "volume", "uuid": volume}]


def of_image(cloud: RealNova, **fields: object) -> list[dict[str, object]]:
    """The devices of a server that boots from a new volume."""
    kind = {"boot_index": 0, "source_type": "image", "destination_type": "volume", "volume_size": 1}
    return [{**kind, "uuid": cloud.image(), **fields}]


def root_of(cloud: RealNova, key: str) -> str:
    """The volume that a server boots from."""
    [attached] = cloud.server(key)["os-extended-volumes:volumes_attached"]
    return str(attached["id"])


def read(cloud: RealNova, volume: str) -> str:
    """What a new server finds on a volume that it has from the beginning."""
    devices = device(volume)
    devices[0]["uuid"] = cloud.image()
    key = boot(cloud, READ, block_device_mapping_v2=devices)
    shown = ended(cloud, key)
    cloud.call("DELETE", f"/servers/{key}")
    free(cloud, volume)
    return shown


def test_volume_content_persists_and_is_copied(cloud: RealNova) -> None:
    volume = made(cloud, "volumes", "volume", size=1)
    key = boot(
        cloud,
        "echo READY",
        AWAIT.format(""),
        "blkid /dev/vdb || mkfs.ext4 -q /dev/vdb",
        "mkdir /mnt; mount -t ext4 /dev/vdb /mnt && echo first >/mnt/file; chown 7:8 /mnt/file || echo ALONE",
        "echo modes: $(stat -c %a /mnt /run/stoker/volumes); blkid -o value -s TYPE /dev/vdb; umount /mnt",
        f"{LIST}; echo WRITTEN",
        AWAIT.format("!"),
        f"[ -e /dev/vdb ] || echo DETACHED; {LIST}",
    )
    cloud.until(lambda: "READY" in cloud.console(key))
    cloud.call("POST", f"/servers/{key}/os-volume_attachments", {"volumeAttachment": {"volumeId": volume}})
    cloud.until(lambda: "ext4\n[name]\n[]\n[vdb]\nWRITTEN" in cloud.console(key))
    cloud.call("DELETE", f"/servers/{key}/os-volume_attachments/{volume}")
    shown = ended(cloud, key)
    assert "DETACHED\n[name]\n[]\nEND OF SCRIPT" in shown
    assert "modes: 755 755\n" in shown, "every user of the guest may look for files there"
    owner = "0:0" if "ALONE" in shown else "7:8"  # without subordinate IDs, guests have no other user than root
    cloud.call("DELETE", f"/servers/{key}")
    free(cloud, volume)

    snapshot = made(cloud, "snapshots", "snapshot", volume_id=volume)
    backup = made(cloud, "backups", "backup", volume_id=volume)
    change = boot(
        cloud, f"{READ}; {LIST}", "stat -c owner=%u:%g /mnt/file; echo second >/mnt/file",
        block_device_mapping_v2=[{**one, "uuid": one["uuid"] or cloud.image()} for one in device(volume)],
    )  # fmt: skip
    assert f"first\nfile\nlost+found\n[name]\n[]\n[vdb]\nowner={owner}" in ended(cloud, change)
    cloud.call("DELETE", f"/servers/{change}")
    free(cloud, volume)
    assert "second" in read(cloud, volume)
    assert "first" in read(cloud, made(cloud, "volumes", "volume", size=1, snapshot_id=snapshot))
    assert "second" in read(cloud, made(cloud, "volumes", "volume", size=1, source_volid=volume))
    assert "has no file system" in read(cloud, made(cloud, "volumes", "volume", size=1))
    assert cloud.other("POST", f"/volume/v3/backups/{backup}/restore", {"restore": {"volume_id": volume}}).status == 202
    free(cloud, volume)
    assert "first" in read(cloud, volume)


def test_a_server_boots_from_a_volume_of_an_image_and_another_one_continues_from_it(cloud: RealNova) -> None:
    first = boot(
        cloud, "echo from=$(cat /etc/made-by 2>/dev/null)", "echo first >/etc/made-by; rm /etc/profile",
        imageRef="", block_device_mapping_v2=of_image(cloud),
    )  # fmt: skip
    assert "from=\nEND OF SCRIPT" in ended(cloud, first)
    volume = root_of(cloud, first)
    cloud.until(lambda: "has booted." in cloud.console(first))
    cloud.act(first, "reboot", {"type": "SOFT"})
    cloud.until(lambda: cloud.console(first).count("has booted.") == 2)
    assert cloud.console(first).count("END OF SCRIPT") == 1
    cloud.act(first, "rebuild", {"imageRef": cloud.image()})
    cloud.until(lambda: cloud.console(first).count("has booted.") == 3)
    snapshot = made(cloud, "snapshots", "snapshot", volume_id=volume, force=True)
    cloud.call("DELETE", f"/servers/{first}")
    free(cloud, volume)

    lines = ("cat /etc/made-by; [ -e /etc/profile ] && echo DELETED FILE", "echo second >/etc/made-by; sync")
    second = boot(cloud, *lines, imageRef="", block_device_mapping_v2=boots_from(volume))
    assert "first\nEND OF SCRIPT" in ended(cloud, second), cloud.server(second)
    cloud.call("DELETE", f"/servers/{second}")
    free(cloud, volume)
    copies = {
        "first": made(cloud, "volumes", "volume", size=1, snapshot_id=snapshot),
        "second": made(cloud, "volumes", "volume", size=1, source_volid=volume),
    }
    for content, copy in copies.items():
        key = boot(cloud, lines[0], imageRef="", block_device_mapping_v2=boots_from(copy))
        assert f"{content}\nEND OF SCRIPT" in ended(cloud, key)


def test_the_volume_of_an_image_is_attached_to_a_server_that_has_another_disk(cloud: RealNova) -> None:
    image = cloud.image()
    volume, other = (made(cloud, "volumes", "volume", size=1, imageRef=image) for _ in range(2))
    find = "blkid -o value -s TYPE {0}; ls -d {0}/usr/bin/env {0}/etc/profile; cat {0}/etc/left"
    key = boot(
        cloud,
        find.format("/dev/vdb"),
        "echo found >/dev/vdb/etc/left; rm /dev/vdb/etc/profile; [ -e /etc/profile ] && echo OWN",
        AWAIT.format("").replace("vdb", "vdc"),
        find.format("/dev/vdc"),
        "mkdir /mnt; mount /dev/vdc /mnt && ls /mnt/etc/profile",
        block_device_mapping_v2=[{**one, "uuid": one["uuid"] or image} for one in device(volume)],
    )
    cloud.until(lambda: "OWN" in cloud.console(key))
    attached = cloud.call("POST", f"/servers/{key}/os-volume_attachments", {"volumeAttachment": {"volumeId": other}})
    assert attached.status == 200
    shown = ended(cloud, key)
    assert "ext4\n/dev/vdb/etc/profile\n/dev/vdb/usr/bin/env" in shown
    assert "ext4\n/dev/vdc/etc/profile\n/dev/vdc/usr/bin/env" in shown
    assert "/mnt/etc/profile" in shown
    cloud.call("DELETE", f"/servers/{key}/os-volume_attachments/{other}")
    free(cloud, other)
    cloud.call("DELETE", f"/servers/{key}")
    free(cloud, volume)
    line = "cat /etc/left; [ -e /etc/profile ] || echo WITHOUT PROFILE"
    booted = boot(cloud, line, imageRef="", block_device_mapping_v2=boots_from(volume))
    assert "found\nWITHOUT PROFILE" in ended(cloud, booted)


def test_boot_volume_is_used_by_one_guest_at_a_time(cloud: RealNova, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openstack_emulator.guests.volumes.HOLD_SECONDS", 0.5)
    admin = cloud.client.token("admin", "admin")
    body = {"volume_type": {"name": "shared", "extra_specs": {"multiattach": "<is> True"}}}
    assert cloud.client.call("POST", "/volume/v3/types", body, admin).status == 200
    volume = made(cloud, "volumes", "volume", size=1, imageRef=cloud.image(), volume_type="shared")
    one = boot(cloud, "true", imageRef="", block_device_mapping_v2=boots_from(volume))
    assert "END OF SCRIPT" in ended(cloud, one)
    other = boot(cloud, "true", imageRef="", block_device_mapping_v2=boots_from(volume))
    cloud.until(lambda: cloud.status(other) == "ERROR")
    assert f"another guest runs from the volume {volume}" in cloud.server(other)["fault"]["message"]
    cloud.call("DELETE", f"/servers/{one}")
    cloud.until(lambda: cloud.status(one) == "gone")
    cloud.act(other, "reboot", {"type": "HARD"})
    assert "END OF SCRIPT" in ended(cloud, other)


def test_a_volume_is_deleted_with_the_server_that_boots_from_it(cloud: RealNova) -> None:
    devices = of_image(cloud, delete_on_termination=True)
    key = boot(cloud, "true", imageRef="", block_device_mapping_v2=devices)
    ended(cloud, key)
    volume = root_of(cloud, key)
    places = list(Path(tempfile.gettempdir()).glob(f"stoker-guests-*/volumes/volume-{volume}*"))
    assert len(places) == 1
    cloud.call("DELETE", f"/servers/{key}")
    cloud.until(lambda: cloud.volume_status(volume) == "gone" and not places[0].exists())


def held(place: Path) -> int:
    """The number of files at the top of a content."""
    return len(list(place.iterdir()))


@pytest.mark.parametrize("way", ["detach", "delete"])
def test_detached_volume_does_not_change(cloud: RealNova, way: str) -> None:
    """The guest still writes to the volume when it is taken away."""
    volume = made(cloud, "volumes", "volume", size=1)
    key = boot(
        cloud,
        f"echo BOOTED; {AWAIT.format('')}",
        "mkfs.ext4 -q /dev/vdb; mkdir /mnt; mount /dev/vdb /mnt; echo first >/mnt/file; echo READY",
        "cd /mnt; n=0; while true; do n=$((n+1)); : >/mnt/$n; : >$n.relative; done",
    )
    cloud.until(lambda: "BOOTED" in cloud.console(key))
    cloud.call("POST", f"/servers/{key}/os-volume_attachments", {"volumeAttachment": {"volumeId": volume}})
    cloud.until(lambda: "READY" in cloud.console(key))
    cloud.call("DELETE", f"/servers/{key}" + (f"/os-volume_attachments/{volume}" if way == "detach" else ""))
    free(cloud, volume)
    [place] = Path(tempfile.gettempdir()).glob(f"stoker-guests-*/volumes/volume-{volume}")
    before = held(place)
    backup = made(cloud, "backups", "backup", volume_id=volume)
    assert cloud.other("POST", f"/volume/v3/backups/{backup}/restore", {"restore": {"volume_id": volume}}).status == 202
    free(cloud, volume)
    assert held(place) == held(place.parent / f"backup-{backup}") == before > 10
    assert "first\n" in read(cloud, volume)


def test_mkfs_and_mount_change_no_other_directories(cloud: RealNova) -> None:
    shown = ended(
        cloud, boot(cloud, "mkdir -p /dev/x/y /mnt; mkfs.ext4 /dev/x; ls /dev/x; mount --bind /dev/x /mnt; ls /mnt")
    )
    assert "/dev/x is not a volume" in shown
    assert shown.split("END OF SCRIPT")[0].split()[-2:] == ["y", "y"]


def test_volumes_that_are_attached_and_detached_while_a_guest_boots(
    cloud: RealNova, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Until a guest has its own root directory, a path in it is one of this machine."""
    driver = cloud.served.cloud.guests
    assert isinstance(driver, LocalDriver)
    early, late = (made(cloud, "volumes", "volume", size=1) for _ in range(2))
    devices = device(early)
    devices[0]["uuid"] = cloud.image()
    joined = NetworkReconciler.join

    async def join(network_reconciler: NetworkReconciler, guest_id: str, *rest: Any) -> None:
        await joined(network_reconciler, guest_id, *rest)
        assert not driver.detach(guest_id, Volume(early, "/dev/vdb"))
        driver.attach(guest_id, Volume(late, "/dev/vdc"))
        await asyncio.gather(*(contents.done() for contents in driver._contents))

    monkeypatch.setattr(NetworkReconciler, "join", join)
    volumes = iter([Volume(early, "/dev/vdb")])
    monkeypatch.setattr(Guests, "_volumes", lambda self, server: [next(volumes, Volume(late, "/dev/vdc"))])
    gone = "until [ -e /dev/vdc ] && ! [ -e /dev/vdb ]; do sleep 0.1; done; echo CHANGED"
    assert "CHANGED" in ended(cloud, boot(cloud, gone, block_device_mapping_v2=devices))
    assert "/run/stoker" not in caplog.text


def test_a_copy_is_deleted_while_it_is_made() -> None:
    ids = id_maps()

    async def copy_and_delete(held: NamespaceProcess) -> None:
        launcher = NamespaceLauncher(find_image(HOST), ids)
        volumes = Volumes(contents, launcher, held)
        volumes.copy("snapshot-1", "volume-1")
        await volumes.ready("guest", [])
        volumes.copy("snapshot-1", "volume-2")
        await asyncio.sleep(0)  # the copy begins
        volumes.delete("volume-2")
        await volumes.close()

    with TemporaryDirectory() as place:
        contents = Path(place)
        if os.getuid() == 0:
            os.chown(contents, ids.base, ids.base)
        try:
            held = NamespaceProcess(ids, contents)
        except GuestsUnavailable as error:
            pytest.skip(str(error))
        with closing(held):
            asyncio.run(copy_and_delete(held))
        assert [path.name for path in contents.iterdir()] == ["volume-1"]
