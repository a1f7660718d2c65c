"""Hostile guests in the emulated cloud."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from stoker.emulator.guests.console import LARGEST
from tests.emulator.compute.guest_cloud import RealNova, guest_cloud

pytestmark = pytest.mark.guests

ASK = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    request = urllib.request.Request(url, headers={"X-Instance-ID": "other", "X-Tenant-ID": "other"})
    try:
        print(url, urllib.request.urlopen(request).status)
    except urllib.error.HTTPError as error:
        print(url, error.code)
    except urllib.error.URLError as error:
        print(url, type(error.reason).__name__)
"""


@pytest.fixture(scope="module")
def cloud() -> Iterator[RealNova]:
    with guest_cloud() as nova:
        yield nova


def test_services_of_this_machine(cloud: RealNova) -> None:
    """A guest sends requests to the cloud's control API, and to a service of this machine that listens on loopback."""
    if not Path("/usr/bin/python3").exists():
        pytest.skip("The guest needs /usr/bin/python3.")
    with socket.create_server(("127.0.0.1", 0)) as private:
        urls = (
            "http://169.254.169.254/openstack/latest/meta_data.json",
            "http://169.254.169.254/../control/journal",
            f"{cloud.served.url}/identity/v3",
            f"{cloud.served.url}/control/journal",
            f"http://127.0.0.1:{private.getsockname()[1]}/",
        )
        key = cloud.script(f"/usr/bin/python3 -I -c '{ASK}' {' '.join(urls)}")
    found = dict(line.split() for line in cloud.console(key).splitlines() if line.startswith("http"))
    assert list(found.values()) == ["200", "404", "200", "403", "ConnectionRefusedError"], cloud.console(key)


def test_the_kernel_and_its_files(cloud: RealNova, tmp_path: Path) -> None:
    """A guest's root user changes settings of the kernel, makes a device file, and looks for files and processes."""
    secret = tmp_path / "secret"
    secret.write_text("")
    key = cloud.script(
        "(echo x >/proc/sys/kernel/core_pattern) 2>/dev/null && echo BROKEN setting",
        "(echo 1 >/proc/sys/vm/drop_caches) 2>/dev/null && echo BROKEN caches",
        "mknod /tmp/disk b 8 0 2>/dev/null && echo BROKEN device",
        f"for up in . .. ../../../../../..; do [ -e $up{secret} ] && echo BROKEN file; done",
        "[ $(ls -d /proc/[0-9]* | wc -l) -lt 20 ] || echo BROKEN processes",
        "(exec 3</proc/1/root/root/.ssh) 2>/dev/null && echo BROKEN home",
        "echo files: $(readlink /proc/1/fd/*)",
    )
    shown = cloud.console(key)
    assert "BROKEN" not in shown, shown
    open_files = next(line for line in shown.splitlines() if line.startswith("files:")).split()[1:]
    others = [Path(name).name for name in open_files if not name.startswith(("/dev/null", "pipe:", "/run/"))]
    assert others == ["lock"], "no other file of this machine is open in a guest"


def test_a_flood_on_the_console(cloud: RealNova) -> None:
    """A guest writes to its console without end, to fill the disk."""
    key = cloud.script(f"head -c {3 * LARGEST} /dev/zero | tr '\\0' 'x'", "echo")
    assert len(cloud.console(key)) <= LARGEST
