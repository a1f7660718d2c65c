"""Guests in servers: what the compute service has a driver do, and the driver `namespace` with real processes."""

from __future__ import annotations

import base64
import gc
import os
import socket
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from signal import SIGKILL
from subprocess import Popen
from typing import Any
from uuid import uuid4

import pytest

from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.core.guests.driver import CloudInterface, Guest, GuestDriver, GuestsUnavailable, Volume
from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.core.guests.topology import Topology
from openstack_emulator.guests import ids, images, namespace_process
from openstack_emulator.guests.choices import chosen_images, guest_driver
from openstack_emulator.guests.limits import allowed_places, cloud_group
from openstack_emulator.guests.local import LocalDriver
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import CloudClient, ServedCloud
from stoker_foundation.clock import ManualClock

from .conftest import Nova
from .guest_cloud import RealNova, boot, guest_cloud, program


class Recorder(GuestDriver):
    """A driver that runs nothing and keeps what it is called with."""

    selection = Selection("namespace")
    unsupported = {"trigger_crash_dump": "they dump nothing"}

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.contents: list[tuple[str, str]] = []
        self.copies: bool | None = True
        """What the driver says of copies: None while they are not finished."""
        self.obeys = True
        """Whether guests end, and give their volumes back, at once."""
        self.topologies: list[Topology] = []
        self.known: set[str] = set()
        self.guests: dict[str, Guest] = {}
        self.cloudside: CloudInterface | None = None

    def open(self, cloudside: CloudInterface, guest_ids: Collection[str]) -> None:
        self.cloudside, self.known = cloudside, set(guest_ids)

    def connect(self, topology: Topology) -> None:
        self.topologies.append(topology)

    def start(self, guest: Guest) -> None:
        self.guests[guest.id] = guest
        self.calls.append("start")

    def stop(self, guest_id: str) -> None:
        self.calls.append("stop")

    def freeze(self, guest_id: str) -> None:
        self.calls.append("freeze")

    def reset(self, guest_id: str) -> None:
        self.calls.append("reset")

    def remove(self, guest_id: str) -> bool:
        self.calls.append("remove")
        return self.obeys

    def attach(self, guest_id: str, volume: Volume) -> None:
        self.calls.append(f"attach {volume.device}")

    def detach(self, guest_id: str, volume: Volume) -> bool:
        self.calls.append(f"detach {volume.device}")
        return self.obeys

    def copy(self, source: str, target: str) -> bool | None:
        self.contents.append((source, target))
        return self.copies

    def delete_content(self, name: str) -> None:
        self.contents.append((name, ""))

    def console(self, guest_id: str) -> str | None:
        return "one\ntwo\nthree\n"

    async def close(self) -> None:
        self.calls.append("close")

    def taken(self) -> list[str]:
        """The calls since the last one of this."""
        calls, self.calls = self.calls, []
        return calls


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def watched(recorder: Recorder, tmp_path: Path) -> Iterator[Nova]:
    """A cloud on a manual clock, with a state file, whose driver is the recorder."""
    with ServedCloud(new_cloud(clock=ManualClock(), state_path=tmp_path / "cloud.db", guests=recorder)) as served:
        yield Nova(served)


def test_a_guest_follows_the_actions_on_its_server(watched: Nova, recorder: Recorder) -> None:
    key = watched.boot(hostname="web", user_data=base64.b64encode(b"#!/bin/sh\n").decode())
    assert recorder.taken() == ["start"]
    guest = recorder.guests[key]
    assert guest.hostname == "web"
    drive = watched.served.do(guest.config_drive)
    assert drive["openstack/latest/user_data"] == b"#!/bin/sh\n"
    assert key.encode() in drive["openstack/latest/meta_data.json"]

    expected = {
        "os-stop": (None, "SHUTOFF", ["stop"]),
        "os-start": (None, "ACTIVE", ["start"]),
        "reboot": ({"type": "SOFT"}, "ACTIVE", ["stop", "start"]),
        "rebuild": ({"imageRef": watched.image()}, "ACTIVE", ["reset", "start"]),
        "resize": ({"flavorRef": "2"}, "VERIFY_RESIZE", ["stop", "start"]),
        "confirmResize": (None, "ACTIVE", []),
        "rescue": (None, "RESCUE", ["stop", "start"]),
        "unrescue": (None, "ACTIVE", ["stop", "start"]),
    }
    for action, (arguments, status, calls) in expected.items():
        assert watched.act(key, action, arguments).status in (200, 202, 204), action
        watched.wait()
        assert (action, watched.status(key), recorder.taken()) == (action, status, calls)

    refused = watched.act(key, "trigger_crash_dump")
    assert refused.status == 501
    assert "do not support the operation trigger_crash_dump: they dump nothing" in refused.content.decode()
    shown = watched.act(key, "os-getConsoleOutput", {"length": 2}).json
    assert shown == {"output": "two\nthree"}
    watched.call("DELETE", f"/servers/{key}")
    watched.wait()
    assert (watched.status(key), recorder.taken()) == ("gone", ["remove"])


def test_volumes_are_attached_and_their_contents_are_copied(watched: Nova, recorder: Recorder) -> None:
    def made(path: str, key: str, **fields: object) -> str:
        answer = watched.other("POST", f"/volume/v3/{path}", {key: fields})
        assert answer.status == 202, answer.content
        watched.wait()
        return str(answer.json[key]["id"])

    key, volume = watched.boot(), watched.volume()
    watched.call("POST", f"/servers/{key}/os-volume_attachments", {"volumeAttachment": {"volumeId": volume}})
    watched.wait()
    assert recorder.taken() == ["start", "attach /dev/vdb"]
    assert watched.served.do(recorder.guests[key].volumes) == [Volume(volume, "/dev/vdb")]
    watched.call("DELETE", f"/servers/{key}/os-volume_attachments/{volume}")
    watched.wait()
    assert recorder.taken() == ["detach /dev/vdb"]

    snapshot = made("snapshots", "snapshot", volume_id=volume)
    backup = made("backups", "backup", volume_id=volume)
    of_snapshot = made("backups", "backup", volume_id=volume, snapshot_id=snapshot)
    copies = [
        made("volumes", "volume", size=1, **source)
        for source in (
            {"snapshot_id": snapshot},
            {"source_volid": volume},
            {"backup_id": backup},
            {"imageRef": watched.image()},
        )
    ]
    watched.other("POST", f"/volume/v3/backups/{backup}/restore", {"restore": {"volume_id": volume}})
    watched.wait()
    assert recorder.contents == [
        (f"volume-{volume}", f"snapshot-{snapshot}"),
        (f"volume-{volume}", f"backup-{backup}"),
        (f"snapshot-{snapshot}", f"backup-{of_snapshot}"),
        (f"snapshot-{snapshot}", f"volume-{copies[0]}"),
        (f"volume-{volume}", f"volume-{copies[1]}"),
        (f"backup-{backup}", f"volume-{copies[2]}"),
        ("image", f"volume-{copies[3]}"),
        (f"backup-{backup}", f"volume-{volume}"),
    ]
    recorder.contents.clear()
    for path in (f"backups/{of_snapshot}", f"snapshots/{snapshot}", f"volumes/{copies[1]}"):
        assert watched.other("DELETE", f"/volume/v3/{path}").status == 202
        watched.wait()
    assert [name for name, _ in recorder.contents] == [
        f"backup-{of_snapshot}", f"snapshot-{snapshot}", f"volume-{copies[1]}",
    ]  # fmt: skip


def test_a_rescued_guest_has_its_own_disk_as_the_only_further_one(watched: Nova, recorder: Recorder) -> None:
    key, volume = watched.boot(), watched.volume()
    attachment = {"volumeAttachment": {"volumeId": volume}}
    watched.call("POST", f"/servers/{key}/os-volume_attachments", attachment)
    watched.wait(0.01)
    watched.act(key, "rescue")
    watched.wait()
    guest, cloudside = recorder.guests[key], recorder.cloudside
    assert cloudside is not None
    assert (watched.status(key), watched.volume_status(volume)) == ("RESCUE", "in-use")
    assert (watched.served.do(guest.rescued), watched.served.do(guest.volumes)) == (True, [])
    assert recorder.taken() == ["start", "stop", "start"], "the volume has the device of its own disk"
    watched.served.do(lambda: cloudside.ended(key, ""))
    watched.wait()
    assert (watched.status(key), watched.server(key)["OS-EXT-STS:power_state"]) == ("RESCUE", 4)
    watched.act(key, "unrescue")
    watched.wait()
    assert watched.status(key) == "ACTIVE"
    assert watched.served.do(guest.rescued) is False
    assert watched.served.do(guest.volumes) == [Volume(volume, "/dev/vdb")]
    assert recorder.taken()[-1] == "start"


def test_a_server_follows_the_end_of_its_guest_and_an_event_alarm_is_raised(watched: Nova, recorder: Recorder) -> None:
    ended, failed = watched.boot(), watched.boot()
    alarm = {
        "name": "guest",
        "type": "event",
        "event_rule": {
            "event_type": "compute.instance.power_off.*",
            "query": [{"field": "traits.instance_id", "op": "eq", "value": ended}],
        },
    }
    created = watched.other("POST", "/alarming/v2/alarms", alarm)
    assert created.status == 201, created.content
    cloudside = recorder.cloudside
    assert cloudside is not None
    watched.served.do(lambda: cloudside.ended(ended, ""))
    watched.served.do(lambda: cloudside.ended(failed, "The guest cannot be started: no disk."))
    watched.wait()

    assert (watched.status(ended), watched.status(failed)) == ("SHUTOFF", "ERROR")
    assert watched.server(failed)["fault"]["message"] == "The guest cannot be started: no disk."
    assert watched.other("GET", f"/alarming/v2/alarms/{created.json['alarm_id']}").json["state"] == "alarm"
    recorder.taken()
    watched.act(ended, "os-start")
    watched.wait()
    assert (watched.status(ended), recorder.taken()) == ("ACTIVE", ["start"])
    watched.served.do(lambda: cloudside.ended("a server that is gone", ""))


@pytest.mark.parametrize(
    ("action", "event"),
    [("os-stop", "compute.instance.power_off.end"), ("delete", "compute.instance.delete.end")],
)
def test_server_actions_raise_event_alarms(watched: Nova, action: str, event: str) -> None:
    key = watched.boot()
    query = [{"field": "traits.instance_id", "op": "eq", "value": key}]
    alarm = {"name": event, "type": "event", "event_rule": {"event_type": event, "query": query}}
    made = watched.other("POST", "/alarming/v2/alarms", alarm).json["alarm_id"]
    if action == "delete":
        watched.call("DELETE", f"/servers/{key}")
    else:
        watched.act(key, action)
    watched.wait()
    assert watched.other("GET", f"/alarming/v2/alarms/{made}").json["state"] == "alarm"


def test_the_guests_of_active_servers_are_started_with_the_cloud(tmp_path: Path) -> None:
    state, clock = tmp_path / "cloud.db", ManualClock()
    with ServedCloud(new_cloud(clock=clock, state_path=state, guests=Recorder())) as served:
        nova = Nova(served)
        active, stopped = nova.boot(), nova.boot()
        nova.act(stopped, "os-stop")
        nova.wait()
    again = Recorder()
    with ServedCloud(new_cloud(clock=clock, state_path=state, guests=again)) as served:
        served.do(lambda: served.cloud.of(ComputeService))
        assert again.known == {active, stopped}
        assert list(again.guests) == [active]
    assert again.taken()[-1] == "close"


def test_a_guest_asks_for_its_own_metadata_and_may_not_use_the_control_api(watched: Nova, recorder: Recorder) -> None:
    from openstack_emulator.core.dispatch import dispatch
    from openstack_emulator.core.http import Request

    one, other = watched.boot(name="one"), watched.boot(name="other")
    cloud = watched.served.cloud
    forged = {"X-Instance-ID": other, "X-Tenant-ID": "p", "X-Instance-ID-Signature": "0"}
    path = "/metadata/openstack/latest/meta_data.json"
    answer = watched.served.do(lambda: dispatch(cloud, Request("GET", path, headers=forged, guest=one)))
    assert answer is not None
    assert answer.status == 200
    assert one.encode() in answer.payload()
    answer = watched.served.do(lambda: dispatch(cloud, Request("GET", "/control/journal", guest=one)))
    assert answer is not None
    assert answer.status == 403


def test_missing_guest_requirements_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(namespace_process, "find_program", lambda name: None if name == "nft" else f"/usr/bin/{name}")
        with pytest.raises(GuestsUnavailable, match=r"need `nft`\. .* `apt-get install nftables`"):
            chosen_images(Selection("namespace"))
    monkeypatch.setattr(namespace_process, "find_program", lambda name: f"/usr/bin/{name}")
    with pytest.raises(GuestsUnavailable, match=r"no guest image 'debian' .* `stoker guests build`"):
        chosen_images(Selection("namespace"))
    with pytest.raises(GuestsUnavailable, match=r"no guest image '\.\./x'"):
        chosen_images(Selection("namespace"), "../x")
    assert chosen_images(Selection("none")) == {}
    mounts = tmp_path / "mountinfo"
    mounts.write_text("36 35 98:0 / /etc rw - ext4 /dev/x rw\n37 36 98:0 /h /etc/hosts rw - ext4 /dev/x rw\n")
    monkeypatch.setattr(images, "MOUNTS", mounts)
    with pytest.raises(GuestsUnavailable, match="other file systems are mounted below its directories, at /etc/hosts"):
        chosen_images(Selection("namespace"), "host")


def test_users_of_guests_are_subordinate_ids_or_ids_that_no_user_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helpers = tmp_path / "bin"
    helpers.mkdir()
    for name in ("newuidmap", "newgidmap"):
        (helpers / name).write_text("#!/bin/sh")
        (helpers / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(helpers))
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    monkeypatch.setattr(os, "getgid", lambda: 4712)
    table = tmp_path / "sub"
    table.write_text("root:1:5\n4711:100000:1000\n4711:200000:70000\nbroken\n")
    monkeypatch.setattr(ids, "SUBORDINATE", {"uid": str(table), "gid": str(table)})
    maps = ids.id_maps()
    assert maps.uid == ("0 4711 1", "1 200000 65535")
    assert maps.gid == ("0 4712 1", "1 200000 65535")
    assert (maps.helpers, maps.base, maps.only_root) == (True, 4711, False)
    assert maps.outer() == maps, "in the namespace of the networks"
    assert maps.inner().uid == ("0 0 1", "1 1 65535"), "in a guest's namespace within it"
    assert not maps.inner().helpers
    table.write_text("other:100000:1000\n")
    alone = ids.id_maps()
    assert (alone.deny, alone.inner().deny) == (True, False), "whether groups cannot be changed"
    assert (alone.uid, alone.gid, alone.helpers, alone.only_root) == (("0 4711 1",), ("0 4712 1",), False, True)
    monkeypatch.setattr(os, "getuid", lambda: 0)
    if " ".join(Path("/proc/self/uid_map").read_text().split()) == ids.ALL:
        assert ids.id_maps().uid == (f"0 {ids.BASE} 65536",)


# -- real guests -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def running() -> Iterator[RealNova]:
    with guest_cloud() as nova:
        yield nova


@pytest.mark.guests
def test_guest_boots_runs_user_data_and_shuts_down(running: RealNova) -> None:
    key = running.script(
        "echo host=$(cat /proc/sys/kernel/hostname) user=$(id -u) first=$(cat /proc/1/comm)",
        "echo state=$(readlink -n /var/run) $(readlink -n /var/lock)",
        "cat /var/lib/cloud/seed/config_drive/openstack/latest/meta_data.json; echo",
        "echo changed >/etc/of-the-guest",
        "touch /var/lib/cloud/seed/config_drive/x || echo the drive is read-only",
        "[ -k /run/lock ] && echo services have a place for locks",
    )
    shown = running.console(key)
    assert "host=web user=0 first=sh" in shown
    assert f'"uuid":"{key}"' in shown
    assert "the drive is read-only" in shown
    assert "state=/run /run/lock" in shown
    assert "services have a place for locks" in shown
    assert not Path("/etc/of-the-guest").exists()
    running.until(lambda: "The guest web has booted." in running.console(key))

    running.act(key, "reboot", {"type": "SOFT"})
    running.until(lambda: running.console(key).count("The guest web has booted.") == 2)
    assert running.console(key).count("END OF SCRIPT") == 1, "user data is run at the first boot only"
    running.act(key, "os-stop")
    running.until(lambda: running.status(key) == "SHUTOFF" and "Shutting down." in running.console(key))
    running.call("DELETE", f"/servers/{key}")
    running.until(lambda: running.status(key) == "gone")


@pytest.mark.guests
def test_a_server_is_stopped_when_its_guest_ends_itself(running: RealNova) -> None:
    key = running.script("(sleep 0.3; kill -TERM 1) &")
    running.until(lambda: running.status(key) == "SHUTOFF")
    running.act(key, "os-start")
    running.until(lambda: running.console(key).count("The guest web has booted.") == 2)
    assert running.status(key) == "ACTIVE"


@pytest.mark.guests
def test_a_guest_reboots_and_powers_off_by_its_own_system_calls(running: RealNova) -> None:
    if not Path("/usr/bin/python3").exists():
        pytest.skip("The guest needs /usr/bin/python3.")
    call = "(sleep 0.3; exec /usr/bin/python3 -I -c 'import ctypes; ctypes.CDLL(None).reboot({})') &"
    key = running.script(call.format("0x1234567"))  # reboot(2): RB_AUTOBOOT
    running.until(lambda: running.console(key).count("The guest web has booted.") == 2)
    assert running.status(key) == "ACTIVE"
    off = running.script(call.format("0x4321fedc"))  # RB_POWER_OFF
    running.until(lambda: running.status(off) == "SHUTOFF")


RESCUED = (
    "mkdir -p /mnt",
    "if [ -e /dev/vdb ]; then mount /dev/vdb /mnt && cat /mnt/etc/broken; rm /mnt/etc/broken; rm /mnt/etc/profile",
    "else echo BROKEN >/etc/broken; fi",
)


@pytest.mark.guests
def test_a_guest_is_rescued_and_continues_from_its_mended_disk(running: RealNova) -> None:
    key = boot(running, *RESCUED)
    running.until(lambda: "has booted" in running.console(key))
    assert running.act(key, "rescue").status == 200
    running.until(lambda: running.status(key) == "RESCUE" and running.console(key).count("has booted") == 2)
    assert running.console(key).count("BROKEN") == 1
    driver = running.served.cloud.guests
    assert isinstance(driver, LocalDriver)
    place = driver._directory / key
    assert (place / "rescue").is_dir()
    assert running.act(key, "unrescue").status == 202
    running.until(lambda: running.status(key) == "ACTIVE" and running.console(key).count("has booted") == 3)
    assert running.console(key).count("BROKEN") == 1, "user data has run once on each disk"
    assert not (place / "rescue").exists()
    assert not (place / "disk" / "base" / "etc" / "broken").exists()
    running.act(key, "rescue")
    running.until(lambda: running.console(key).count("END OF SCRIPT") == 3)
    running.act(key, "os-stop")
    running.until(lambda: running.status(key) == "SHUTOFF")
    running.act(key, "os-start")
    running.until(lambda: running.console(key).count("has booted") == 5)
    assert running.console(key).count("END OF SCRIPT") == 3, "it runs from its own disk"
    running.call("DELETE", f"/servers/{key}")
    running.until(lambda: not place.exists())


@pytest.mark.guests
def test_leftover_guest_files_are_deleted(tmp_path: Path) -> None:
    try:
        driver = guest_driver(Selection("namespace"), "host", tmp_path)
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    left, named_alike, mine = tmp_path / str(uuid4()), tmp_path / str(uuid4()), tmp_path / "mine"
    for place in (left / "config_drive", left / "disk" / "base", named_alike / "data", mine / "config_drive"):
        place.mkdir(parents=True)
    with ServedCloud(new_cloud(guests=driver)) as served:
        served.do(lambda: served.cloud.of(ComputeService))
    assert {place.name for place in tmp_path.iterdir()} == {named_alike.name, "mine", "volumes"}


def processes_at(directory: Path) -> list[bytes]:
    """The commands that name a directory: those of guests and of their networks do."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_bytes())
    return [command for command in found if str(directory).encode() in command]


def test_a_guest_is_frozen_while_its_server_is_paused_or_suspended(watched: Nova, recorder: Recorder) -> None:
    key = watched.boot()
    recorder.taken()
    for before, after, status in (("pause", "unpause", "PAUSED"), ("suspend", "resume", "SUSPENDED")):
        watched.act(key, before)
        watched.wait()
        assert (watched.status(key), recorder.taken()) == (status, ["freeze"])
        watched.act(key, after)
        watched.wait()
        assert (watched.status(key), recorder.taken()) == ("ACTIVE", ["start"])


@pytest.mark.parametrize("succeeds", [True, False])
def test_copy_is_available_when_its_content_is_complete(succeeds: bool) -> None:
    driver = Recorder()
    with ServedCloud(new_cloud(clock=ManualClock(), guests=driver)) as served:
        nova = Nova(served)

        def state(path: str, kind: str) -> dict[str, Any]:
            found: dict[str, Any] = nova.other("GET", f"/volume/v3/{path}").json[kind]
            return found

        def made(path: str, kind: str, **fields: object) -> str:
            answer = nova.other("POST", f"/volume/v3/{path}", {kind: fields})
            assert answer.status == 202, answer.content
            return f"{path.partition('/')[0]}/{answer.json[kind].get('id') or answer.json[kind]['volume_id']}"

        def while_copied(place: str, kind: str, during: str, failed: str) -> None:
            nova.wait(60)
            assert state(place, kind)["status"] == during
            driver.copies = succeeds
            nova.wait(1)
            assert state(place, kind)["status"] == ("available" if succeeds else failed)
            driver.copies = True
            if not succeeds:
                reset = {"os-reset_status": {"status": "available"}}
                path = f"/volume/v3/{place}/action"
                assert served.call("POST", path, reset, served.token("admin", "demo")).status < 300
                nova.wait(1)
            driver.copies = None

        volume = made("volumes", "volume", size=1)
        nova.wait(1)
        key = volume.partition("/")[2]
        driver.copies = None
        snapshot = made("snapshots", "snapshot", volume_id=key)
        while_copied(snapshot, "snapshot", "creating", "error")
        backup = made("backups", "backup", volume_id=key)
        while_copied(backup, "backup", "creating", "error")
        copy = made("volumes", "volume", size=1, snapshot_id=snapshot.partition("/")[2])
        while_copied(copy, "volume", "creating", "error")
        restored = made(f"{backup}/restore", "restore", volume_id=copy.partition("/")[2])
        assert restored.startswith("backups/")
        while_copied(copy, "volume", "restoring-backup", "error_restoring")


def swap(nova: Nova, key: str, old: str, new: str) -> None:
    """Begin to replace a volume of a server, which administrators may."""
    path, body = f"/compute/v2.1/servers/{key}/os-volume_attachments/{old}", {"volumeAttachment": {"volumeId": new}}
    assert nova.served.call("PUT", path, body, nova.served.token("admin", "demo")).status == 202


def test_volume_is_available_after_guest_detached_it(watched: Nova, recorder: Recorder) -> None:
    key, volume, other = watched.boot(), watched.volume(), watched.volume()
    attachments = f"/servers/{key}/os-volume_attachments"

    def attach() -> None:
        assert watched.call("POST", attachments, {"volumeAttachment": {"volumeId": volume}}).status == 200
        watched.wait()

    def status_while_attached(during: str) -> None:
        recorder.obeys = False
        watched.wait(60)
        assert watched.volume_status(volume) == during
        assert watched.other("POST", "/volume/v3/backups", {"backup": {"volume_id": volume}}).status == 400
        recorder.obeys = True
        watched.wait()
        assert watched.volume_status(volume) == "available"

    attach()
    watched.call("DELETE", f"{attachments}/{volume}")
    status_while_attached("detaching")
    attach()
    swap(watched, key, volume, other)
    status_while_attached("detaching")
    assert recorder.contents == [(f"volume-{volume}", f"volume-{other}")]
    assert (watched.volume_status(other), recorder.taken()[-1]) == ("in-use", "attach /dev/vdb")
    watched.call("DELETE", f"{attachments}/{other}")
    watched.wait()
    attach()
    watched.call("DELETE", f"/servers/{key}")
    status_while_attached("in-use")
    assert watched.status(key) == "gone"


def test_a_volume_that_cannot_be_copied_is_not_swapped(watched: Nova, recorder: Recorder) -> None:
    key, volume, other = watched.boot(), watched.volume(), watched.volume()
    attachments = f"/servers/{key}/os-volume_attachments"
    watched.call("POST", attachments, {"volumeAttachment": {"volumeId": volume}})
    watched.wait()
    recorder.copies = False
    swap(watched, key, volume, other)
    watched.wait()
    assert (watched.volume_status(volume), watched.volume_status(other)) == ("in-use", "available")
    assert recorder.taken() == ["start", "attach /dev/vdb", "detach /dev/vdb", "attach /dev/vdb"]


@pytest.mark.guests
def test_guests_end_with_a_killed_cloud_and_are_started_once_with_the_next(tmp_path: Path) -> None:
    port_file, log = tmp_path / "port", tmp_path / "log"
    command = [sys.executable, "-m", "openstack_emulator", "up", "--port", "0", "--port-file", str(port_file)]
    command += [
        "--password",
        "secret",
        "--state",
        str(tmp_path / "cloud.db"),
        "--guests",
        "namespace",
        "--guest-image",
        "host",
    ]
    command += ["--services", "image,network,volume,compute"]

    @contextmanager
    def cloud() -> Iterator[tuple[Popen[bytes], RealNova]]:
        port_file.unlink(missing_ok=True)
        with log.open("ab") as file, Popen(command, stdout=file, stderr=file) as process:
            while not port_file.exists():
                if process.poll() is not None:
                    pytest.skip(log.read_text().strip())
                time.sleep(0.05)
            try:
                yield process, RealNova(CloudClient(int(port_file.read_text())))
            finally:
                process.terminate()

    def groups() -> list[Path]:
        name = cloud_group(tmp_path / "guests")
        return [place.directory / name for place in allowed_places() if (place.directory / name).exists()]

    def runs(key: str) -> bool:
        """Whether any process of a guest is left: each of them holds the lock."""
        with (tmp_path / "guests" / key / "lock").open() as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                return True
            return False

    with cloud() as (process, nova):
        key = nova.boot()
        console = tmp_path / "guests" / key / "console.log"
        nova.until(lambda: console.exists() and "has booted" in console.read_text())
        assert len(processes_at(tmp_path)) >= 3, "the cloud, its networks, and the launcher of the guest"
        process.send_signal(SIGKILL)
        process.wait()
        nova.until(lambda: not runs(key))
        nova.until(lambda: not processes_at(tmp_path))
        made = groups()
        for place in made:
            (place / "of a server that is deleted meanwhile").mkdir()
    with cloud() as (process, nova):
        nova.until(lambda: console.read_text().count("has booted") == 2)
        assert nova.status(key) == "ACTIVE"
        assert runs(key)
        assert groups() == made
        assert all({one.name for one in place.iterdir() if one.is_dir()} == {key} for place in made)
    assert not runs(key)
    assert groups() == []
    assert console.read_text().count("Shutting down.") == 1
    with cloud() as (process, nova):
        nova.call("DELETE", f"/servers/{key}")
        nova.until(lambda: not console.parent.exists())
    assert "Traceback" not in log.read_text()


@pytest.mark.guests
def test_user_data_runs_at_the_first_boot_or_at_each_one_where_asked() -> None:
    with guest_cloud() as nova:
        each = "#cloud-boothook\n#!/bin/sh\necho RAN AT EACH BOOT\n"
        once = "#!/bin/sh\necho RAN ONCE\n"
        keys = [nova.boot(user_data=base64.b64encode(text.encode()).decode()) for text in (each, once)]
        for key in keys:
            nova.until(lambda: nova.console(key).count("has booted.") == 1)  # noqa: B023  it is called at once
            nova.act(key, "reboot", {"type": "HARD"})
            nova.until(lambda: nova.console(key).count("has booted.") == 2)  # noqa: B023
        consoles = [nova.console(key) for key in keys]
        assert consoles[0].count("RAN AT EACH BOOT") == 2
        assert consoles[1].count("RAN ONCE") == 1
        assert consoles[1].count("is not run again") == 1


CONNECT = """
import socket, sys
one = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
print("CONNECTED", flush=True)
one.recv(1)
"""


@pytest.mark.guests
def test_no_task_is_left_of_connections_of_guests_that_have_ended(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service, guest_cloud() as nova:  # which answers nothing
        port = service.getsockname()[1]
        nova.served.cloud.extra_endpoints["other"] = f"http://127.0.0.1:{port}/"
        keys = [boot(nova, program(CONNECT, port)) for _ in range(2)]
        for key in keys:
            nova.until(lambda: "CONNECTED" in nova.console(key))  # noqa: B023  it is called at once
        nova.call("DELETE", f"/servers/{keys[0]}")
    gc.collect()
    assert "Task was destroyed" not in caplog.text
