"""What runs in the servers of a cloud: the interface of a guest driver, and the driver of a cloud without guests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from socket import socket

from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.core.guests.topology import Topology

Address = tuple[str, int]
"""An IPv4 address and a port."""
LEAST_MEMORY = 256
"""MiB that the image `debian` needs."""


class GuestsUnavailable(Exception):
    """The driver cannot work on this machine; the message says what is missing and how to get it."""


IMAGE = "image"
"""The name of the content of the guests' image among those of volumes."""
RESCUED_DEVICE = "/dev/vdb"
"""Where a guest that is rescued sees its own disk."""


@dataclass(frozen=True)
class Volume:
    """A volume of a guest. device: its path in the guest. size: in GiB."""

    id: str
    device: str
    size: int = 1


@dataclass(frozen=True)
class Size:
    """What the flavor of a server gives its guest. memory: in MiB. disk: in GiB; 0: that of the image."""

    processors: int = 1
    memory: int = 512
    disk: int = 0


@dataclass(frozen=True)
class ProcessorTime:
    """Seconds of processors since a guest was started. withheld: needed, but not given, since others had them."""

    used: float
    withheld: float = 0.0


@dataclass(frozen=True)
class Guest:
    """The system of one server, as a driver needs it.

    id: of the server. hostname: without a domain.
    config_drive: returns the files of its config drive: path below the drive's root → content.
    files: returns the files that are written into the guest when it starts: path without the first slash → content.
    volumes: returns the volumes that are attached. size: of its flavor; drivers may exceed it.
    driver: the name of the driver that runs it, for those that comprise several.
    root: returns the volume that is its disk; None: it has a disk of its own.
    rescued: returns whether it is to run from a further disk with the image, where its own is `RESCUED_DEVICE`.
    """

    id: str
    hostname: str
    config_drive: Callable[[], Mapping[str, bytes]]
    files: Callable[[], Mapping[str, str]] = dict
    volumes: Callable[[], list[Volume]] = list
    size: Size = Size()
    driver: str = ""
    root: Callable[[], Volume | None] = lambda: None
    rescued: Callable[[], bool] = lambda: False


class CloudInterface(ABC):
    """What a driver needs from the cloud."""

    @abstractmethod
    def ended(self, guest_id: str, reason: str) -> None:
        """Note that a guest has ended without a request; reason: why it could not be started, if it could not."""

    @abstractmethod
    def addresses(self) -> list[Address]:
        """Return the addresses and ports at which a guest reaches the cloud."""

    @abstractmethod
    async def serve(self, guest_id: str, listeners: Mapping[Address, socket]) -> Callable[[], Awaitable[None]]:
        """Serve the cloud to a guest until the returned function is called.

        listeners: the sockets for the `addresses`.
        """

    @abstractmethod
    async def serve_metadata(self, listener: socket, sender: Callable[[str], str]) -> Callable[[], Awaitable[None]]:
        """Serve the metadata service to the guests of a network until the returned function is called.

        sender: returns the ID of the guest that has an address there; empty if none has it.
        """


class GuestDriver(ABC):
    """Runs the guests of a cloud.

    All methods are called on the thread of the cloud's event loop and return at once; what they begin is done for each
    guest in the order of the calls. Starting a guest that runs, or stopping one that does not, has no effect. Guests
    that cannot be started are reported to `CloudInterface.ended`.

    selection: which servers have guests, and of which driver.
    unsupported: the operations (`compute.states.OPERATIONS`) that servers with such guests cannot do, with the reasons.
    connected: guests have networks, so that `connect` is to be called when these change.
    metering_interval: seconds between two measures of the guests; None if the driver measures nothing.
    serves_load_balancers: load balancers of the topology pass connections on, and probe their members.
    """

    selection: Selection = Selection()
    unsupported: Mapping[str, str] = {}
    connected: bool = False
    metering_interval: float | None = None
    serves_load_balancers: bool = False

    @abstractmethod
    def open(self, cloudside: CloudInterface, drivers: Mapping[str, str]) -> None:
        """Prepare for guests; called once, before the other methods.

        drivers: of the servers of the cloud, by ID, as `selection` selects them. What is left of guests of other
        servers is deleted.
        """

    @abstractmethod
    def connect(self, topology: Topology) -> None:
        """Connect the guests, also those that are started later; called before the first one is started, and after each
        change."""

    @abstractmethod
    def start(self, guest: Guest) -> None:
        """Start a guest from its disk, which is created from the image if it does not exist; let one that is frozen
        continue. The disk from which it was rescued is deleted when it starts from its own."""

    @abstractmethod
    def stop(self, guest_id: str) -> None:
        """Shut a guest down; it is killed if it does not end in time."""

    @abstractmethod
    def freeze(self, guest_id: str) -> None:
        """Stop the processors of a guest, which keeps its memory."""

    @abstractmethod
    def reset(self, guest_id: str) -> None:
        """Shut a guest down, and delete its disk."""

    @abstractmethod
    def remove(self, guest_id: str) -> bool:
        """Kill a guest, delete its disk and its console log, and return whether that is finished: to be called again
        until then. Until it has ended, a guest writes to its volumes."""

    @abstractmethod
    def attach(self, guest_id: str, volume: Volume) -> None:
        """Attach a volume to a guest, if it runs."""

    @abstractmethod
    def detach(self, guest_id: str, volume: Volume) -> bool:
        """Detach a volume from a guest, and return whether the guest has it no more: to be called again until then,
        also after a restart."""

    @abstractmethod
    def copy(self, source: str, target: str) -> bool | None:
        """Replace the content of a volume, snapshot or backup by that of another (`volume-ID`, `snapshot-ID`,
        `backup-ID`), or by that of the guests' image (`IMAGE`). Return whether it succeeded, None as long as it is not
        finished: to be called again until then, also after a restart, which begins the copy again."""

    @abstractmethod
    def delete_content(self, name: str) -> None:
        """Delete the content of a volume, snapshot or backup."""

    @abstractmethod
    def console(self, guest_id: str) -> str | None:
        """Return what the guest has written to its console; None if the driver has no consoles."""

    def processor_time(self, guest_id: str) -> ProcessorTime | None:
        """Return the processor time of a guest since it was started; None if it does not run."""
        return None

    def answers(self, member_id: str) -> bool | None:
        """Return whether a member of a load balancer is healthy; None if it has not been probed."""
        return None

    @abstractmethod
    async def close(self) -> None:
        """End all guests; their disks are kept."""


class NoGuests(GuestDriver):
    """The servers are records only."""

    def __init__(self, selection: Selection | None = None) -> None:
        self.selection = selection or Selection()

    def open(self, cloudside: CloudInterface, drivers: Mapping[str, str]) -> None:
        pass

    def connect(self, topology: Topology) -> None:
        pass

    def start(self, guest: Guest) -> None:
        pass

    def stop(self, guest_id: str) -> None:
        pass

    def freeze(self, guest_id: str) -> None:
        pass

    def reset(self, guest_id: str) -> None:
        pass

    def remove(self, guest_id: str) -> bool:
        return True

    def attach(self, guest_id: str, volume: Volume) -> None:
        pass

    def detach(self, guest_id: str, volume: Volume) -> bool:
        return True

    def copy(self, source: str, target: str) -> bool | None:
        return True

    def delete_content(self, name: str) -> None:
        pass

    def console(self, guest_id: str) -> str | None:
        return None

    async def close(self) -> None:
        pass
