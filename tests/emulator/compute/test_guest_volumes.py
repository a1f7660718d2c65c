"""Volumes of guests: their contents survive, and are copied by snapshots and backups."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stoker.emulator.guests.driver import GuestsUnavailable
from stoker.emulator.guests.fabric import Fabric
from stoker.emulator.guests.ids import id_maps
from stoker.emulator.guests.volumes import Volumes

from .guest_cloud import RealNova, boot, ended, guest_cloud

pytestmark = pytest.mark.guests

LIST = "while read -r major minor blocks name; do echo [$name]; done </proc/partitions"
AWAIT = "for i in $(seq 60); do [ {} -e /dev/vdb ] && break; sleep 0.1; done"
READ = "mkdir /mnt; mount /dev/vdb /mnt && cat /mnt/file; ls -A /mnt"


@pytest.fixture(scope="module")
def cloud() -> Iterator[RealNova]:
    with guest_cloud() as nova:
        yield nova


def made(cloud: RealNova, path: str, key: str, **wanted: object) -> str:
    """The ID of a new object of the block storage service, when it is available."""
    answer = cloud.other("POST", f"/volume/v3/{path}", {key: wanted})
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


def read(cloud: RealNova, volume: str) -> str:
    """What a new server finds on a volume that it has from the beginning."""
    devices = device(volume)
    devices[0]["uuid"] = cloud.image()
    key = boot(cloud, READ, block_device_mapping_v2=devices)
    shown = ended(cloud, key)
    cloud.call("DELETE", f"/servers/{key}")
    free(cloud, volume)
    return shown


def test_the_content_of_a_volume_survives_and_is_copied(cloud: RealNova) -> None:
    volume = made(cloud, "volumes", "volume", size=1)
    key = boot(
        cloud,
        "echo READY",
        AWAIT.format(""),
        "blkid /dev/vdb || mkfs.ext4 -q /dev/vdb",
        "mkdir /mnt; mount -t ext4 /dev/vdb /mnt && echo first >/mnt/file; chown 7:8 /mnt/file || echo ALONE",
        "blkid -o value -s TYPE /dev/vdb; umount /mnt",
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


def test_mkfs_and_mount_leave_other_directories_alone(cloud: RealNova) -> None:
    shown = ended(
        cloud, boot(cloud, "mkdir -p /dev/x/y /mnt; mkfs.ext4 /dev/x; ls /dev/x; mount --bind /dev/x /mnt; ls /mnt")
    )
    assert "/dev/x is not a volume" in shown
    assert shown.split("END OF SCRIPT")[0].split()[-2:] == ["y", "y"]


def test_a_copy_is_deleted_while_it_is_made() -> None:
    ids = id_maps()

    async def copy_and_delete(held: Fabric) -> None:
        volumes = Volumes(contents, ids, held, lambda guest_id: False)
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
            held = Fabric(ids, contents)
        except GuestsUnavailable as error:
            pytest.skip(str(error))
        with closing(held):
            asyncio.run(copy_and_delete(held))
        assert [path.name for path in contents.iterdir()] == ["volume-1"]
