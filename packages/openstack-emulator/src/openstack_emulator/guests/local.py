"""The driver of guests that are processes of this machine: of one or several kinds, in the same networks."""

from __future__ import annotations

import asyncio
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from fcntl import LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import IO

from openstack_emulator.core.guests.driver import (
    CloudInterface,
    Guest,
    GuestDriver,
    GuestsUnavailable,
    ProcessorTime,
    Volume,
)
from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.core.guests.topology import Port, Topology
from openstack_emulator.guests.forwarding import Forwarders
from openstack_emulator.guests.ids import id_maps
from openstack_emulator.guests.images import Image
from openstack_emulator.guests.launching import Launcher, is_guest_directory
from openstack_emulator.guests.machine import Machine
from openstack_emulator.guests.metering import INTERVAL
from openstack_emulator.guests.namespace_process import NamespaceProcess
from openstack_emulator.guests.network_reconciler import NetworkReconciler
from openstack_emulator.guests.spaces import Plan, PlanPort
from openstack_emulator.guests.volumes import DIRECTORIES, Contents


@dataclass(frozen=True)
class GuestEnvironment:
    """What the guests of a cloud share. directory: with the directories of guests and of contents of volumes."""

    directory: Path
    cloudside: CloudInterface
    namespace_process: NamespaceProcess
    network_reconciler: NetworkReconciler


class Hypervisor(ABC):
    """Runs the guests of one driver.

    launcher: starts guests. disk: the name of the disk in the directory of a guest. contents: the name of the directory
    with the contents of volumes. plan_port: connects a port with the namespace of its guest.
    """

    def __init__(self, launcher: Launcher, disk: str, contents: str, plan_port: PlanPort) -> None:
        self.launcher = launcher
        self.disk = disk
        self.contents = contents
        self.plan_port = plan_port

    @abstractmethod
    def open(self, site: GuestEnvironment) -> Contents:
        """Prepare for guests; called once, before `machine`. Returns the contents of volumes."""

    def cannot_freeze(self) -> str:
        """Return why guests cannot be frozen; empty if they can. Called after `open`."""
        return ""

    def close(self) -> None:  # noqa: B027  most drivers leave nothing
        """Give up what `open` has prepared, when no guest runs any more."""

    @abstractmethod
    def machine(self, guest_id: str) -> Machine:
        """Return a guest that does not run."""


class LocalDriver(GuestDriver):
    """Runs guests whose disks are files of this machine, and connects them with networks in namespaces.

    Guests end with the process of the cloud. When a cloud with a state file is started again, the guests of its active
    servers are started again from their disks.

    hypervisors: by the names of the drivers that are selected. directory: of the disks; None: a temporary one.

    Raises: GuestsUnavailable if this machine does not allow such guests, or if an image is being built.
    """

    connected = True
    serves_load_balancers = True
    metering_interval = INTERVAL

    def __init__(
        self, selection: Selection, hypervisors: Mapping[str, Hypervisor], directory: Path | None = None
    ) -> None:
        self.selection = selection
        self._hypervisors = dict(hypervisors)
        self._drivers: dict[str, str] = {}
        self._machines: dict[str, Machine] = {}
        self._endings: dict[str, asyncio.Task[None]] = {}
        self._site: GuestEnvironment | None = None
        self._contents: list[Contents] = []
        self._copies: dict[str, list[asyncio.Future[bool]]] = {}
        self._detachments: dict[tuple[str, str], asyncio.Future[bool]] = {}
        with ExitStack() as held:
            for hypervisor in self._hypervisors.values():
                image = hypervisor.launcher.image
                if image.lock is not None:
                    _lock(held.enter_context(image.lock.open("a")), image)
            self._temporary = directory is None
            self._directory = directory or Path(
                held.enter_context(tempfile.TemporaryDirectory(prefix="stoker-guests-"))
            )
            self._directory.mkdir(parents=True, exist_ok=True)
            for hypervisor in self._hypervisors.values():
                for contents in (DIRECTORIES, hypervisor.contents):
                    (self._directory / contents).mkdir(exist_ok=True)
                    hypervisor.launcher.make_owner(self._directory / contents)
            with closing(self._new_namespace_process()) as namespace_process:
                for hypervisor in self._hypervisors.values():
                    hypervisor.launcher.check(self._directory, namespace_process.users)
            self._held = held.pop_all()

    def open(self, cloudside: CloudInterface, drivers: Mapping[str, str]) -> None:
        namespace_process = self._new_namespace_process()
        network_reconciler = NetworkReconciler(namespace_process, cloudside, self._plan_port)
        network_reconciler.followers.append(self._ports_changed)
        self._site = GuestEnvironment(self._directory, cloudside, namespace_process, network_reconciler)
        self._contents = [hypervisor.open(self._site) for hypervisor in self._hypervisors.values()]
        self.unsupported = {"trigger_crash_dump": "guests dump nothing"}
        if why := next(filter(None, (hypervisor.cannot_freeze() for hypervisor in self._hypervisors.values())), ""):
            self.unsupported |= dict.fromkeys(("pause", "unpause", "suspend", "resume"), why)
        self._forwarders = Forwarders(namespace_process)
        self._drivers = {key: driver for key, driver in drivers.items() if driver in self._hypervisors}
        for left in self._directory.iterdir():
            if left.name not in drivers and is_guest_directory(left):
                self._remove_left(left)

    def connect(self, topology: Topology) -> None:
        self._opened.network_reconciler.change(topology)
        self._forwarders.change(topology.forwarded_addresses)

    def start(self, guest: Guest) -> None:
        self._drivers[guest.id] = guest.driver
        self._machine(guest.id).start(guest)

    def stop(self, guest_id: str) -> None:
        if guest_id in self._machines:
            self._machines[guest_id].stop()

    def freeze(self, guest_id: str) -> None:
        if guest_id in self._machines:
            self._machines[guest_id].freeze()

    def reset(self, guest_id: str) -> None:
        if guest_id in self._drivers:
            self._machine(guest_id).reset()

    def remove(self, guest_id: str) -> bool:
        if guest_id in self._drivers and guest_id not in self._endings:
            machine = self._machine(guest_id)
            del self._machines[guest_id]
            machine.remove()
            ending = asyncio.get_running_loop().create_task(self._end(guest_id, machine))
            self._endings[guest_id] = ending
            ending.add_done_callback(lambda _: self._endings.pop(guest_id))
        return guest_id not in self._drivers

    async def _end(self, guest_id: str, machine: Machine) -> None:
        await machine.close()
        del self._drivers[guest_id]  # not before: its ports are connected while it runs

    def attach(self, guest_id: str, volume: Volume) -> None:
        if guest_id in self._machines:
            self._machines[guest_id].attach(volume)

    def detach(self, guest_id: str, volume: Volume) -> bool:
        key = guest_id, volume.id
        if key not in self._detachments:
            if guest_id not in self._machines:
                return guest_id not in self._endings
            self._detachments[key] = self._machines[guest_id].detach(volume)
        return self._detachments[key].done() and self._detachments.pop(key).result()

    def copy(self, source: str, target: str) -> bool | None:
        if self._site is None:
            return None
        if target not in self._copies:
            self._copies[target] = [contents.copy(source, target) for contents in self._contents]
        if not all(copy.done() for copy in self._copies[target]):
            return None
        return all(copy.result() for copy in self._copies.pop(target))

    def delete_content(self, name: str) -> None:
        for contents in self._contents:
            contents.delete(name)

    def console(self, guest_id: str) -> str | None:
        return self._machine(guest_id).console.read() if guest_id in self._drivers else None

    def processor_time(self, guest_id: str) -> ProcessorTime | None:
        return self._machines[guest_id].processor_time() if guest_id in self._machines else None

    def answers(self, member_id: str) -> bool | None:
        return None if self._site is None else self._site.network_reconciler.load_balancer_proxies.answers(member_id)

    async def close(self) -> None:
        if self._site is not None:
            await self._forwarders.close()
            self._site.network_reconciler.freeze()
        for machine in self._machines.values():
            machine.stop()
        await asyncio.gather(*self._endings.values(), *(machine.close() for machine in self._machines.values()))
        if self._site is not None:
            for contents in self._contents:
                await contents.close()
                if self._temporary:
                    await contents.delete_all()
            for hypervisor in self._hypervisors.values():
                hypervisor.close()
            await self._site.network_reconciler.close()
        self._machines.clear()
        if self._temporary:
            for left in [place for place in self._directory.iterdir() if is_guest_directory(place)]:
                self._remove_left(left)
            await asyncio.gather(*self._endings.values())
        self._held.close()

    def _new_namespace_process(self) -> NamespaceProcess:
        return NamespaceProcess(id_maps(), self._directory / DIRECTORIES)

    def _plan_port(self, plan: Plan, topology: Topology, port: Port, number: int) -> None:
        self._hypervisors[self._drivers[port.guest_id]].plan_port(plan, topology, port, number)

    def _ports_changed(self) -> None:
        for machine in self._machines.values():
            machine.ports_changed()

    def _remove_left(self, directory: Path) -> None:
        """Delete the directory of a guest that does not run, with the driver that has made its disk."""
        makers = [name for name, hypervisor in self._hypervisors.items() if (directory / hypervisor.disk).exists()]
        self._drivers[directory.name] = next(iter(makers or self._hypervisors))
        self.remove(directory.name)

    @property
    def _opened(self) -> GuestEnvironment:
        if self._site is None:
            raise ValueError("The driver has not been opened.")
        return self._site

    def _machine(self, guest_id: str) -> Machine:
        if guest_id not in self._machines:
            self._machines[guest_id] = self._hypervisors[self._drivers[guest_id]].machine(guest_id)
        return self._machines[guest_id]


def _lock(file: IO[str], image: Image) -> None:
    """Lock an image against being built or deleted."""
    try:
        flock(file, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        raise GuestsUnavailable(f"The guest image {image.name!r} is being built; try again later.") from None
