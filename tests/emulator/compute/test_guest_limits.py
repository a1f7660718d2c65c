"""Limits of guests in namespaces: control groups have what the flavor of the server gives, and nothing remains."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from subprocess import Popen

import pytest

from openstack_emulator.compute.rules.metering import utilization
from openstack_emulator.core.guests.driver import Size
from openstack_emulator.guests import limits
from openstack_emulator.guests.limits import CONTROLLERS, ControlGroup, Limits, allowed_places, missing_limits

from .guest_cloud import RealNova, boot, ended, guest_cloud, program

FILES = {
    "memory": {1: "memory.limit_in_bytes", 2: "memory.max"},
    "cpu": {1: "cpu.cfs_quota_us", 2: "cpu.max"},
    "pids": {1: "pids.max", 2: "pids.max"},
}
TAKE = """
import os, sys
taken = bytearray()
for at in range(int(sys.argv[1])):
    taken += os.urandom(1 << 20)
print("TAKEN", len(taken) >> 20, flush=True)
"""


@contextmanager
def limited_cloud() -> Iterator[RealNova]:
    """A cloud whose guests are limited; the test is skipped, with the reason, where this is not allowed."""
    if missing := missing_limits(allowed_places()):
        pytest.skip(missing)
    with guest_cloud() as nova:
        yield nova


@pytest.fixture(scope="module")
def cloud() -> Iterator[RealNova]:
    with limited_cloud() as nova:
        yield nova


def groups(key: str) -> list[Path]:
    """The directories of the control group of a guest."""
    return [path for place in allowed_places() for path in place.directory.glob(f"stoker-*/{key}")]


def limited(key: str) -> dict[str, int]:
    """The limits of a guest, by controller."""
    found = {}
    for controller, files in FILES.items():
        for place in allowed_places():
            for path in place.directory.glob(f"stoker-*/{key}/{files[place.version]}"):
                found[controller] = int(path.read_text().split()[0])
    return found


def booted(cloud: RealNova, key: str, times: int) -> None:
    cloud.until(lambda: cloud.console(key).count("has booted.") == times)


@pytest.mark.guests
def test_control_groups_follow_flavor_and_are_removed_with_guest(cloud: RealNova) -> None:
    small = {"memory": 512 << 20, "cpu": 100_000, "pids": limits.MOST_TASKS}
    key = cloud.script("cat /proc/self/cgroup")
    booted(cloud, key, 1)
    assert limited(key) == small
    assert all(
        f"/{key}" in line for line in cloud.console(key).splitlines() if line.partition(":")[2].startswith("pids")
    )
    cloud.act(key, "resize", {"flavorRef": "3"})
    cloud.until(lambda: cloud.status(key) == "VERIFY_RESIZE")
    booted(cloud, key, 2)
    assert limited(key) == {"memory": 4096 << 20, "cpu": 200_000, "pids": limits.MOST_TASKS}
    cloud.act(key, "revertResize")
    cloud.until(lambda: cloud.status(key) == "ACTIVE")
    booted(cloud, key, 3)
    assert limited(key) == small
    cloud.act(key, "os-stop")
    cloud.until(lambda: cloud.status(key) == "SHUTOFF")
    cloud.until(lambda: not groups(key))
    cloud.act(key, "os-start")
    booted(cloud, key, 4)
    assert groups(key)
    cloud.call("DELETE", f"/servers/{key}")
    cloud.until(lambda: not groups(key))


@pytest.mark.guests
def test_out_of_memory_guest_is_stopped_with_console_message(cloud: RealNova) -> None:
    fits = cloud.script(program(TAKE, 300))
    assert "TAKEN 300" in cloud.console(fits)
    key = cloud.script(program(TAKE, 700), "echo THE SCRIPT SURVIVES")
    cloud.until(lambda: "Out of memory: processes killed: 1. The guest has 512 MiB." in cloud.console(key))
    assert "TAKEN" not in cloud.console(key)
    assert "THE SCRIPT SURVIVES" in cloud.console(key)
    assert (cloud.status(fits), cloud.status(key)) == ("ACTIVE", "ACTIVE")


@pytest.mark.guests
def test_the_processor_time_of_a_guest_is_that_of_its_group(cloud: RealNova) -> None:
    key = boot(cloud, program("while __import__('time').process_time() < 1: pass"))
    ended(cloud, key)
    driver = cloud.served.cloud.guests
    time = cloud.served.do(lambda: driver.processor_time(key))
    assert time is not None
    assert time.used >= 1
    shown = [path / file for path in groups(key) for file in ("cpuacct.usage", "cpu.stat")]
    assert any(path.exists() for path in shown)


SPIN = "while True: pass"


@contextmanager
def busy_machine() -> Iterator[None]:
    """Other processes of this machine use all of its processors."""
    others = [Popen([sys.executable, "-c", SPIN]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


@pytest.mark.guests
def test_guest_cpu_weight_follows_processor_count() -> None:
    """Beside busy processes of the machine, each guest is one process for each of its processors, and not all guests
    together one; and busy guests are seen to be busy."""
    with limited_cloud() as cloud:
        keys = [boot(cloud, program(SPIN) + " &", flavorRef=flavor) for flavor in ("1", "1", "3")]
        for key in keys:
            ended(cloud, key)
        [place] = [place for place in allowed_places() if "cpu" in place.controllers]
        file, value = limits.WEIGHTS[place.version]
        shown = [path / file for key in keys for path in groups(key) if (path / file).exists()]
        assert [path.read_text().strip() for path in shown] == [value(number) for number in (1, 1, 2)]
        whole = shown[0].parents[1] / file
        assert whole.read_text().strip() == value(4)
        cloud.call("DELETE", f"/servers/{keys.pop()}")
        cloud.until(lambda: whole.read_text().strip() == value(2))
        with busy_machine():
            assert all(busy_percent(cloud, key) > 70 for key in keys)


def busy_percent(cloud: RealNova, key: str) -> float:
    """What `cpu_util` would be of a guest with one processor until it has used some processor time."""
    driver, began = cloud.served.cloud.guests, time.monotonic()
    before = now = driver.processor_time(key)
    assert before is not None
    while now is not None and now.used < before.used + 0.3:
        time.sleep(0.05)
        now = driver.processor_time(key)
    assert now is not None
    return utilization(before, now, time.monotonic() - began)


COUNT = "i=0; while :; do i=$((i + 1)); echo COUNT $i; sleep 0.05; done &"


@pytest.mark.guests
def test_guest_is_frozen_and_resumed(cloud: RealNova) -> None:
    if not any(limits.FREEZER in place.controllers for place in allowed_places()):
        pytest.skip("This process may not freeze guests.")
    key = boot(cloud, COUNT)
    ended(cloud, key)

    def count() -> int:
        return cloud.console(key).count("COUNT")

    for before, after, status in (("pause", "unpause", "PAUSED"), ("suspend", "resume", "SUSPENDED")):
        assert cloud.act(key, before).status == 202
        cloud.until(partial(has_status, cloud, key, status))
        cloud.until(lambda: any(frozen(path) for path in groups(key)))
        then = count()
        time.sleep(0.3)  # in which six lines would be written
        assert count() <= then + 1, "a line that was on its way"
        assert cloud.act(key, after).status == 202
        cloud.until(lambda: cloud.status(key) == "ACTIVE")
        more = then + 3
        while count() <= more:
            time.sleep(0.02)
    numbers = [int(line.split()[1]) for line in cloud.console(key).splitlines() if line.startswith("COUNT")]
    assert numbers == list(range(1, len(numbers) + 1)), "it was not started again"
    cloud.act(key, "suspend")
    cloud.until(lambda: cloud.status(key) == "SUSPENDED")
    cloud.act(key, "reboot", {"type": "HARD"})
    cloud.until(lambda: cloud.console(key).count("has booted.") == 2 and cloud.status(key) == "ACTIVE")
    cloud.act(key, "pause")
    cloud.until(lambda: cloud.status(key) == "PAUSED")
    cloud.call("DELETE", f"/servers/{key}")
    cloud.until(lambda: not groups(key))


def has_status(cloud: RealNova, key: str, status: str) -> bool:
    return cloud.status(key) == status


def frozen(group: Path) -> bool:
    """Whether the processes of a group are stopped."""
    for file, seen in (("freezer.state", "FROZEN"), ("cgroup.freeze", "1")):
        if (group / file).exists():
            return (group / file).read_text().strip() == seen
    return False


@pytest.mark.guests
def test_no_group_is_left_when_the_cloud_ends() -> None:
    with limited_cloud() as nova:
        key, frozen_one = nova.script("true"), nova.script("true")
        if nova.act(frozen_one, "suspend").status == 202:
            nova.until(lambda: nova.status(frozen_one) == "SUSPENDED")
        [*found] = groups(key) + groups(frozen_one)
        assert found
    assert not [path for path in found if path.parent.exists()]


# -- what is allowed ---------------------------------------------------------------------------------------------


WHOLE = frozenset({*CONTROLLERS, limits.FREEZER, limits.PRESSURE})


def process_in(own: Path, root: Path, **files: str) -> Path:
    """A directory like /proc/self of a process in a group of version 2. root: of the hierarchy."""
    own.mkdir(parents=True, exist_ok=True)
    for name, content in {"procs": f"{os.getpid()}\n", "controllers": "cpu memory pids rdma", **files}.items():
        own.joinpath(f"cgroup.{name}").write_text(content)
    own.joinpath("cpu.pressure").write_text("")
    process = root.parent / "self"
    process.mkdir(exist_ok=True)
    process.joinpath("mountinfo").write_text(
        f"24 18 0:22 / /proc rw - proc proc rw\n31 24 0:27 / {root} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
    )
    process.joinpath("cgroup").write_text(f"1:name=systemd:/x\n0::/{own.relative_to(root)}\n")
    return process


def delegate(group: Path) -> None:
    try:
        os.setxattr(group, "user.delegate", b"1")
    except OSError as error:
        pytest.skip(f"The file system has no extended attributes: {error}")


def test_a_group_of_version_2_is_used_if_it_is_delegated_or_the_root_that_the_process_sees(tmp_path: Path) -> None:
    root = tmp_path / "cgroup"
    scope = root / "user.slice" / "run-1.scope"
    process = process_in(scope, root, type="domain")
    assert allowed_places(process) == ()
    delegate(scope)
    expected = (ControlGroup(2, scope, WHOLE),)
    assert allowed_places(process) == expected
    assert allowed_places(process_in(scope / limits.PROCESSES, root)) == expected, "after its processes were moved"
    scope.joinpath("cgroup.controllers").write_text("memory pids")
    assert allowed_places(process) == (ControlGroup(2, scope, frozenset({"memory", "pids", "freezer", "pressure"})),)

    at_root = process_in(root, root)
    assert allowed_places(at_root) == (ControlGroup(2, root, WHOLE),)
    root.joinpath("cgroup.type").write_text("domain")  # that of a container, whose processes are not the cloud's
    assert allowed_places(at_root) == ()
    root.joinpath("cgroup.procs").write_text("")
    assert allowed_places(at_root) == (ControlGroup(2, root, WHOLE),)


def test_hierarchies_of_version_1_are_used_below_the_own_group_where_they_are_writable(tmp_path: Path) -> None:
    process, memory, both = tmp_path / "self", tmp_path / "memory" / "job", tmp_path / "cpu"
    for place in (process, memory, both):
        place.mkdir(parents=True)
    process.joinpath("mountinfo").write_text(
        f"33 31 0:30 / {tmp_path}/memory rw - cgroup cgroup rw,memory\n"
        f"34 31 0:31 /outer {both} rw - cgroup cgroup rw,cpu,cpuacct\n"
        f"35 31 0:32 /other {tmp_path}/pids rw - cgroup cgroup rw,pids\n"
        f"36 31 0:33 / {tmp_path}/blkio rw - cgroup cgroup rw,blkio\n"
    )
    process.joinpath("cgroup").write_text("4:memory:/job\n3:cpu,cpuacct:/outer\n2:pids:/elsewhere\n1:blkio:/\n")
    found = allowed_places(process)
    assert found == (
        ControlGroup(1, memory, frozenset({"memory"})),
        ControlGroup(1, both, frozenset({"cpu", "cpuacct"})),
    )
    assert missing_limits(found).startswith("Flavors do not limit the number of processes of guests in namespaces")
    assert missing_limits(()).startswith("Flavors do not limit the memory, processors and number of processes of")


def test_a_delegated_group_is_emptied_and_limits_are_written_as_version_2_names_them(tmp_path: Path) -> None:
    root, guests = tmp_path / "cgroup", tmp_path / "guests"
    scope = root / "run-1.scope"
    process = process_in(scope, root, type="domain", subtree_control="")
    delegate(scope)
    cloud = scope / limits.cloud_group(guests)
    for place in (cloud, guests):
        place.mkdir()
    cloud.joinpath("cgroup.subtree_control").write_text("")
    made = Limits(guests, allowed_places(process))
    assert scope.joinpath(limits.PROCESSES, "cgroup.procs").read_text() == str(os.getpid())
    for place in (scope, cloud):
        assert place.joinpath("cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    (cloud / "guest").mkdir()
    cloud.joinpath("guest", "memory.swap.max").write_text("max")
    group = made.group("guest")
    group.limit(Size(2, 64))
    written = {path.name: path.read_text() for path in (cloud / "guest").iterdir()}
    assert written == {
        "memory.max": str(256 << 20), "memory.swap.max": "0", "cpu.max": "200000 100000", "pids.max": "2048",
        "cpu.weight": "200",
    }  # fmt: skip
    assert cloud.joinpath("cpu.weight").read_text() == "200"
    pressure = "some avg10=97.80 avg60=96.80 avg300=90.71 total=4500000\nfull avg10=0.00 avg60=0.00 total=2000000\n"
    cloud.joinpath("guest", "cpu.pressure").write_text(pressure)
    assert group.withheld_seconds() == 6.5
    cloud.joinpath("guest", "cpu.stat").write_text("usage_usec 1500000\nuser_usec 7\n")
    cloud.joinpath("guest", "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
    assert (group.processor_seconds(), group.killed()) == (1.5, 2)


def test_guests_run_without_limits_if_control_groups_are_not_writable(tmp_path: Path) -> None:
    made = Limits(tmp_path, [ControlGroup(1, tmp_path / "missing", frozenset({"memory"}))])
    assert made.places == ()
    group = made.group("guest")
    group.limit(Size())
    group.add(os.getpid())
    assert (group.processor_seconds(), group.killed()) == (None, 0)
    made.close()
    assert list(tmp_path.iterdir()) == []
