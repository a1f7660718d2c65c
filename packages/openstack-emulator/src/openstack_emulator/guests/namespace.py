"""Guests in Linux namespaces: each server is a small system on the kernel of this machine."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Collection, Mapping
from pathlib import Path

from openstack_emulator.core.guests.driver import (
    LEAST_MEMORY,
    RESCUED_DEVICE,
    Address,
    CloudInterface,
    Guest,
    ProcessorTime,
    Volume,
)
from openstack_emulator.guests.ids import id_maps
from openstack_emulator.guests.images import Image
from openstack_emulator.guests.launching import LaunchFailed, NamespaceLauncher, VolumeMount
from openstack_emulator.guests.limits import FREEZER, HINT, Group, Limits, allowed_places, missing_limits
from openstack_emulator.guests.local import GuestEnvironment, Hypervisor
from openstack_emulator.guests.machine import Machine
from openstack_emulator.guests.network_reconciler import NetworkReconciler
from openstack_emulator.guests.rules import endpoints_filter
from openstack_emulator.guests.spaces import plan_port
from openstack_emulator.guests.volumes import DIRECTORIES, Volumes

log = logging.getLogger(__name__)

REBOOTED = 128 + signal.SIGHUP
"""The status of a guest that has called reboot(2): the kernel ends its first process by this signal."""
DISK, RESCUE_DISK = "disk", "rescue"
"""The names of a guest's own disk, and of the one from which it is rescued, in its directory."""
WATCH_SECONDS = 1.0
"""How often processes that were killed for want of memory are counted."""


SETTINGS = {f"ipv6/conf/{interfaces}/accept_ra": "0" for interfaces in ("all", "default")}
"""The cloud configures the interfaces of guests in namespaces; what routers announce is for others."""


class NamespaceMachine(Machine):
    """A guest in namespaces.

    limits: makes its control group. users: the descriptor of the user namespace in which those of guests are made.
    """

    settings = SETTINGS

    def __init__(
        self,
        guest_id: str,
        directory: Path,
        launcher: NamespaceLauncher,
        cloudside: CloudInterface,
        network_reconciler: NetworkReconciler,
        volumes: Volumes,
        limits: Limits,
        users: int,
    ) -> None:
        super().__init__(guest_id, directory, cloudside, network_reconciler, volumes)
        self._launcher = launcher
        self._volumes = volumes
        self._limits = limits
        self._users = users
        self._disk = directory / DISK
        self._rescued: Path | None = None
        self._group: Group | None = None
        self._killed = self._memory = 0
        self._watch: asyncio.Task[None] | None = None

    def attach(self, volume: Volume) -> None:
        self._volumes.attach(self._id, volume)

    def detach(self, volume: Volume) -> asyncio.Future[bool]:
        return self._volumes.detach(self._id, volume)

    def ports_changed(self) -> None:
        """The interfaces are changed from outside."""

    def _grant_access(self, file: int) -> None:
        self._launcher.make_owner(file)  # the guest opens it again as /dev/console

    async def _prepare(self, guest: Guest) -> None:
        self._launcher.prepare(self._directory, guest)
        await self._prepare_disks(guest)
        try:
            self._group = self._limits.group(self._id)
            self._group.limit(guest.size)
        except OSError as error:
            raise LaunchFailed(f"The guest cannot be started: its control group cannot be made: {error}.") from error
        self._killed, self._memory = 0, max(LEAST_MEMORY, guest.size.memory)

    async def _prepare_disks(self, guest: Guest) -> None:
        """Create the disk from which the guest is to run, and what is behind it."""
        if (root := guest.root()) is None:
            own = self._directory / DISK
            self._launcher.prepare_disk(own)
        else:
            own = await self._volumes.disk(root)
        if guest.rescued():
            self._disk, self._rescued = self._directory / RESCUE_DISK, own
            self._launcher.prepare_disk(self._disk)
        else:
            self._disk, self._rescued = own, None
            await self._launcher.delete_disks(self._directory, RESCUE_DISK)

    def _admit(self, process: int) -> None:
        try:
            if self._group is not None:
                self._group.add(process)
        except ProcessLookupError:
            """It has ended; its message says why."""
        except OSError as error:
            raise LaunchFailed(f"The guest cannot be started: it cannot be limited: {error}.") from error

    async def _command(self, guest: Guest, listen: list[Address], control: int) -> tuple[list[str], Collection[int]]:
        volumes = await self._volumes.ready(self._id, guest.volumes())
        if self._rescued is not None:
            volumes.append(VolumeMount(str(self._rescued), RESCUED_DEVICE.strip("/"), layered=True))
        command = self._launcher.boot_command(self._directory, self._disk, guest, listen, control, self._users, volumes)
        return command, [self._users]

    def _place(self, address: Address) -> Address:
        return address

    def _translation(self, ports: Mapping[Address, int]) -> str:
        return endpoints_filter(ports)

    async def _after_launch(self, guest: Guest) -> None:
        self._volumes.begin(self._id, guest.volumes())
        self._watch = asyncio.create_task(self._watch_memory())

    async def _watch_memory(self) -> None:
        while True:
            self._report_killed()
            await asyncio.sleep(WATCH_SECONDS)

    def _report_killed(self) -> None:
        """Write on the console how many processes of the guest the kernel has killed for want of memory, if any."""
        killed = 0 if self._group is None else self._group.killed()
        if killed > self._killed:
            report = f"Out of memory: processes killed: {killed - self._killed}. The guest has {self._memory} MiB."
            self.console.write(f"{report}\n".encode())
            self._killed = killed

    async def _after_end(self) -> None:
        self._volumes.end(self._id)
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.cancel()
        self._report_killed()
        group, self._group = self._group, None
        if group is not None:
            await group.remove()

    def processor_time(self) -> ProcessorTime | None:
        """Return the processor time since the start; None if the guest does not run."""
        used = self._group.processor_seconds() if self._process is not None and self._group is not None else None
        if used is None or self._group is None:
            return super().processor_time()
        return ProcessorTime(used, self._group.withheld_seconds())

    async def _request_shutdown(self) -> None:
        self._signal(signal.SIGTERM)

    async def _freeze(self) -> None:
        if self._group is None or not self._group.freeze():
            raise LaunchFailed("The guest cannot be frozen.")

    async def _thaw(self) -> None:
        if self._group is not None:
            self._group.thaw()

    def _kill(self) -> None:
        if self._group is not None:
            self._group.thaw()
        self._signal(signal.SIGHUP)  # the launcher kills the guest and waits for its end

    def _restarts(self, status: int) -> bool:
        return status == REBOOTED

    async def _delete_disk(self) -> None:
        await self._launcher.delete_disks(self._directory, DISK, RESCUE_DISK)


class Namespaces(Hypervisor):
    """Runs guests as processes of this user in user, mount, PID, UTS, IPC and network namespaces of their own.

    image: what the guests' disks are based on.
    """

    def __init__(self, image: Image) -> None:
        self._launcher = NamespaceLauncher(image, id_maps())
        super().__init__(self._launcher, DISK, DIRECTORIES, plan_port)

    def open(self, site: GuestEnvironment) -> Volumes:
        ids = self._launcher.ids
        if ids.only_root:
            log.warning(
                "The guests have no user but root, since user %d has no subordinate IDs: programs that change their "
                "user fail in guests. An administrator assigns IDs with `usermod --add-subuids 100000-165535 "
                "--add-subgids 100000-165535 USER` (newuidmap is in the package uidmap).",
                ids.base,
            )
        self._site = site
        self._limits = Limits(site.directory, allowed_places())
        if missing := missing_limits(self._limits.places):
            log.warning("%s", missing)
        self._volumes = Volumes(site.directory / self.contents, self._launcher, site.namespace_process)
        return self._volumes

    def cannot_freeze(self) -> str:
        if any(FREEZER in place.controllers for place in self._limits.places):
            return ""
        return f"this process may not make control groups, which freeze guests in namespaces. {HINT}"

    def close(self) -> None:
        self._limits.close()

    def machine(self, guest_id: str) -> NamespaceMachine:
        site = self._site
        return NamespaceMachine(
            guest_id, site.directory / guest_id, self._launcher, site.cloudside, site.network_reconciler, self._volumes,
            self._limits, site.namespace_process.users,
        )  # fmt: skip
