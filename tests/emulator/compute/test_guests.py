"""Guests in servers: what the compute service has a driver do, and the driver `namespace` with real processes."""

from __future__ import annotations

import base64
import socket
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from signal import SIGKILL
from subprocess import Popen

import pytest

from stoker.base.clock import ManualClock
from stoker.emulator.compute.records import ComputeRecords
from stoker.emulator.guests.choices import chosen_image, guest_driver
from stoker.emulator.guests.driver import Cloudside, Guest, GuestDriver, GuestsUnavailable
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import CloudClient, ServedCloud

from .conftest import Nova


class Recorder(GuestDriver):
    """A driver that runs nothing and keeps what it is called with."""

    unsupported = frozenset({"pause"})

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.known: set[str] = set()
        self.guests: dict[str, Guest] = {}
        self.cloudside: Cloudside | None = None

    def open(self, cloudside: Cloudside, guest_ids: Collection[str]) -> None:
        self.cloudside, self.known = cloudside, set(guest_ids)

    def start(self, guest: Guest) -> None:
        self.guests[guest.id] = guest
        self.calls.append("start")

    def stop(self, guest_id: str) -> None:
        self.calls.append("stop")

    def reset(self, guest_id: str) -> None:
        self.calls.append("reset")

    def remove(self, guest_id: str) -> None:
        self.calls.append("remove")

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


def test_the_guest_follows_what_is_done_to_its_server(watched: Nova, recorder: Recorder) -> None:
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
    }
    for action, (arguments, status, calls) in expected.items():
        assert watched.act(key, action, arguments).status in (202, 204), action
        watched.wait()
        assert (action, watched.status(key), recorder.taken()) == (action, status, calls)

    refused = watched.act(key, "pause")
    assert refused.status == 501
    assert "do not support the operation pause" in refused.content.decode()
    shown = watched.act(key, "os-getConsoleOutput", {"length": 2}).json
    assert shown == {"output": "two\nthree"}
    watched.call("DELETE", f"/servers/{key}")
    watched.wait()
    assert (watched.status(key), recorder.taken()) == ("gone", ["remove"])


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


def test_the_guests_of_active_servers_are_started_with_the_cloud(tmp_path: Path) -> None:
    state, clock = tmp_path / "cloud.db", ManualClock()
    with ServedCloud(new_cloud(clock=clock, state_path=state, guests=Recorder())) as served:
        nova = Nova(served)
        active, stopped = nova.boot(), nova.boot()
        nova.act(stopped, "os-stop")
        nova.wait()
    again = Recorder()
    with ServedCloud(new_cloud(clock=clock, state_path=state, guests=again)) as served:
        served.do(lambda: served.cloud.of(ComputeRecords))
        assert again.known == {active, stopped}
        assert list(again.guests) == [active]
    assert again.taken()[-1] == "close"


def test_a_guest_asks_for_its_own_metadata_and_may_not_use_the_control_api(watched: Nova, recorder: Recorder) -> None:
    from stoker.emulator.core.dispatch import dispatch
    from stoker.emulator.core.http import Request

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


def test_what_cannot_run_guests_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(GuestsUnavailable, match="qemu is not supported yet: choose none or namespace"):
        chosen_image("qemu")
    with pytest.raises(GuestsUnavailable, match=r"no guest image 'debian' .* `stoker guests build`"):
        chosen_image("namespace")
    with pytest.raises(GuestsUnavailable, match=r"no guest image '\.\./x'"):
        chosen_image("namespace", "../x")
    assert chosen_image("none") is None


# -- real guests -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealNova]:
    """A cloud with real guests, made of the programs of this machine."""
    try:
        driver = guest_driver("namespace", "host", tmp_path_factory.mktemp("guests"))
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    with ServedCloud(new_cloud(pace=0.1, guests=driver)) as served:
        yield RealNova(served)


class RealNova(Nova):
    """The compute service in a cloud on the real clock."""

    def wait(self, seconds: float = 2) -> None:
        pass

    def until(self, what: Callable[[], bool], seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, "This did not happen in time."
            time.sleep(0.02)

    def console(self, key: str) -> str:
        answer = self.act(key, "os-getConsoleOutput", {})
        return str(answer.json["output"]) if answer.status == 200 else ""

    def script(self, *lines: str) -> str:
        """A new server that runs a script at its first boot; when the script has ended."""
        text = "\n".join(("#!/bin/sh", *lines, "echo END OF SCRIPT", ""))
        key = self.boot(user_data=base64.b64encode(text.encode()).decode(), hostname="web")
        self.until(lambda: "END OF SCRIPT" in self.console(key) or self.status(key) == "ERROR")
        return key


@pytest.mark.guests
def test_a_guest_boots_runs_its_user_data_and_ends(running: RealNova) -> None:
    key = running.script(
        "echo host=$(cat /proc/sys/kernel/hostname) user=$(id -u) first=$(cat /proc/1/comm)",
        "cat /var/lib/cloud/seed/config_drive/openstack/latest/meta_data.json; echo",
        "echo changed >/etc/of-the-guest",
        "touch /var/lib/cloud/seed/config_drive/x || echo the drive is read-only",
        "echo files: $(readlink /proc/1/fd/*)",
    )
    shown = running.console(key)
    assert "host=web user=0 first=sh" in shown
    assert f'"uuid":"{key}"' in shown
    assert "the drive is read-only" in shown
    open_files = next(line for line in shown.splitlines() if line.startswith("files:")).split()[1:]
    kinds = [name for name in open_files if not name.startswith(("/dev/null", "pipe:", "socket:", "/run/"))]
    assert [Path(name).name for name in kinds] == ["lock"], "no other file of this machine is open in a guest"
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


ASK = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        print(url, urllib.request.urlopen(url).status)
    except urllib.error.HTTPError as error:
        print(url, error.code)
    except urllib.error.URLError as error:
        print(url, type(error.reason).__name__)
"""


@pytest.mark.guests
def test_a_guest_reaches_the_cloud_but_neither_its_control_api_nor_this_machine(running: RealNova) -> None:
    """A guest asks for the cloud's control API, and for a service of this machine that it has nothing to do with."""
    if not Path("/usr/bin/python3").exists():
        pytest.skip("The guest needs /usr/bin/python3.")
    with socket.create_server(("127.0.0.1", 0)) as private:
        urls = (
            "http://169.254.169.254/openstack/latest/meta_data.json",
            f"{running.served.url}/identity/v3",
            f"{running.served.url}/control/journal",
            f"http://127.0.0.1:{private.getsockname()[1]}/",
        )
        key = running.script(f"/usr/bin/python3 -I -c '{ASK}' {' '.join(urls)}")
    found = dict(line.split() for line in running.console(key).splitlines() if line.startswith("http"))
    assert list(found.values()) == ["200", "200", "403", "ConnectionRefusedError"], running.console(key)


@pytest.mark.guests
@pytest.mark.slow
def test_guests_end_with_a_killed_cloud_and_are_started_once_with_the_next(tmp_path: Path) -> None:
    port_file, log = tmp_path / "port", tmp_path / "log"
    command = [sys.executable, "-m", "stoker.emulator", "--port", "0", "--port-file", str(port_file)]
    command += ["--state", str(tmp_path / "cloud.db"), "--guests", "namespace", "--guest-image", "host"]
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
        process.send_signal(SIGKILL)
        process.wait()
        nova.until(lambda: not runs(key))
    with cloud() as (process, nova):
        nova.until(lambda: console.read_text().count("has booted") == 2)
        assert nova.status(key) == "ACTIVE"
        assert runs(key)
    assert not runs(key)
    assert console.read_text().count("Shutting down.") == 1
    assert "Traceback" not in log.read_text()
