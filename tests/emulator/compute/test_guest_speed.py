"""What guests cost: processor time until they have booted, and memory when idle."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from openstack_emulator.core.guests.driver import GuestDriver
from openstack_emulator.guests.metering import processor_time

from .guest_cloud import guest_cloud

pytestmark = pytest.mark.guests

GUESTS = 20
BOOT_PROCESSOR_SECONDS = 30.0
"""Twenty guests are to boot within 15 seconds on two processors."""
IDLE_BYTES = 30 * 2**20


def resident_bytes(directory: str) -> int:
    """The memory of all processes whose command line names a directory, with what they have started."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            pages = int(place.joinpath("statm").read_text().split()[1])
            found[int(place.name)] = (parent, pages, directory.encode() in place.joinpath("cmdline").read_bytes())
        except OSError:  # it has ended
            continue

    def belongs(process: int) -> bool:
        return process in found and (found[process][2] or belongs(found[process][0]))

    return sum(pages for process, (_, pages, _) in found.items() if belongs(process)) * os.sysconf("SC_PAGE_SIZE")


def test_twenty_guests_boot_quickly_and_need_little_memory() -> None:
    with guest_cloud() as cloud:
        driver: GuestDriver = cloud.served.cloud.guests
        quotas = {"quota_set": {"instances": GUESTS, "cores": GUESTS}}
        project = cloud.served.call(
            "GET", "/identity/v3/projects?name=demo", token=cloud.served.token("admin", "admin")
        )
        key = project.json["projects"][0]["id"]
        assert cloud.call("PUT", f"/os-quota-sets/{key}", quotas, user="admin").status == 200
        began = processor_time(os.getpid()).used
        keys = [cloud.boot() for _ in range(GUESTS)]
        cloud.until(lambda: all("has booted." in (driver.console(key) or "") for key in keys), seconds=300)
        spent = processor_time(os.getpid()).used - began
        assert {cloud.status(key) for key in keys} == {"ACTIVE"}
        assert spent < BOOT_PROCESSOR_SECONDS
        used = [resident_bytes(key) for key in keys]
        assert 0 < max(used) < IDLE_BYTES, used
        for key in keys:
            cloud.call("DELETE", f"/servers/{key}")
