"""The network namespaces of a cloud, and the orders by which the cloud uses them."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from openstack_emulator.guests.launch.files import VOLUMES, list_partitions, mount_layers, opened_layers
from openstack_emulator.guests.launch.identities import become_root, enter
from openstack_emulator.guests.launch.linux import (
    BACKLOG,
    DETACH,
    NEW_MOUNTS,
    NEW_NETWORK,
    NEW_USER,
    OWN_NETWORK,
    PRIVATE,
    RECURSIVE,
    LaunchFailed,
    join,
    libc,
    live_with_parent,
    mount,
    require,
)

SET_INTERFACE, TAP, WITHOUT_INFORMATION, OFFLOAD = 0x400454CA, 0x0002, 0x1000, 0x4000
"""The request TUNSETIFF, and IFF_TAP, IFF_NO_PI and IFF_VNET_HDR (linux/if_tun.h)."""
LONGEST_ORDER = 1 << 16
MOST_DESCRIPTORS = 4
OPEN_TREE, MOVE_MOUNT = 428, 429  # the same numbers on all machines
HERE, CLONE, WITHOUT_PATH, ALL_BELOW = -100, 1, 4, 0x8000
LONGEST_COMPLAINT = 2000
NAME = re.compile("@([a-z]+-[0-9a-f-]+)@")


class Networks:
    """Network namespaces by name, of networks, routers and guests. The methods are the orders of the cloud.

    They run in the user namespace in which those of guests are made: root here has all rights in guests' networks.
    """

    def __init__(self) -> None:
        self._own = os.open(OWN_NETWORK, os.O_RDONLY)
        self._held: dict[str, int] = {}
        self._guests: dict[str, tuple[int, int]] = {}

    def make(self, name: str) -> None:
        """Make a namespace."""
        require(libc.unshare(NEW_NETWORK), "A network namespace cannot be made")
        self._held[name] = os.open(OWN_NETWORK, os.O_RDONLY)
        join(self._own, NEW_NETWORK)

    def keep(self, name: str, descriptors: list[int]) -> None:
        """Take a guest's namespaces over: of its network, users and mounts."""
        network, users, mounts = [os.dup(descriptor) for descriptor in descriptors]
        self._held[name], self._guests[name] = network, (users, mounts)

    def drop(self, name: str) -> None:
        """Give a namespace up; it ends with its last process."""
        for descriptor in (self._held.pop(name), *self._guests.pop(name, ())):
            os.close(descriptor)

    def attach(self, name: str, volume: str, device: str, layers: list[list[str]]) -> None:
        """Show a directory below the working directory at a path of a guest that runs.

        layers: if there are any, the directory is a disk with these layers.
        """

        def act() -> None:
            if layers:
                require(libc.unshare(NEW_MOUNTS), "The mounts cannot be changed")
                mount("none", "/", None, RECURSIVE | PRIVATE)
                mount_layers(opened_layers(layers), os.open(volume, os.O_PATH), Path(volume))
            path = ctypes.c_char_p(volume.encode())
            tree = libc.syscall(OPEN_TREE, HERE, path, CLONE | ALL_BELOW | os.O_CLOEXEC)
            require(min(tree, 0), f"{volume} cannot be attached")
            self._enter(name)
            place = Path("/", VOLUMES, Path(device).name)
            place.mkdir(parents=True, exist_ok=True)
            to = ctypes.c_char_p(str(place).encode())
            moved = libc.syscall(MOVE_MOUNT, tree, ctypes.c_char_p(b""), HERE, to, WITHOUT_PATH)
            require(moved, f"{volume} cannot be attached")
            Path(device).symlink_to(place)
            list_partitions(Path("/"))

        in_child(act)

    def detach(self, name: str, device: str) -> None:
        """Undo `attach`."""

        def act() -> None:
            self._enter(name)
            place = Path("/", VOLUMES, Path(device).name)
            Path(device).unlink(missing_ok=True)
            require(libc.umount2(str(place).encode(), DETACH), f"{device} cannot be detached")
            with suppress(OSError):  # where the guest has mounted it elsewhere too
                place.rmdir()
            list_partitions(Path("/"))

        in_child(act)

    def _enter(self, name: str) -> None:
        if name not in self._guests:
            raise LaunchFailed(f"{name} does not run")
        users, mounts = self._guests[name]
        join(users, NEW_USER)
        join(mounts, NEW_MOUNTS)

    def tap(self, name: str, interface: str) -> object:
        """Make an interface of a namespace, and return the file with its frames: the network card of a virtual machine.

        The interface exists until the file is closed everywhere.
        """
        flags = TAP | WITHOUT_INFORMATION | OFFLOAD
        with self._inside(name):
            device = Path("/dev/net/tun").open("r+b", buffering=0)  # noqa: SIM115  passed on
        fcntl.ioctl(device, SET_INTERFACE, struct.pack("16sH22x", interface.encode(), flags))
        return device

    def write(self, name: str, files: dict[str, str]) -> None:
        """Write settings of a namespace, in /proc/sys/net."""
        with self._inside(name):
            for path, value in files.items():
                Path("/proc/sys/net", path).write_text(value)

    def run(self, name: str, command: list[str], descriptors: list[int]) -> None:
        """Run a command in a namespace. Its input is that of the descriptor, with the paths of namespaces for the
        names in it (`@name@`)."""
        with os.fdopen(os.dup(descriptors[0])) as file:
            file.seek(0)
            text = NAME.sub(lambda found: f"/proc/self/fd/{self._held[found[1]]}", file.read())
        with self._inside(name):
            ran = subprocess.run(  # noqa: S603  the driver's own commands
                command, input=text, capture_output=True, text=True, check=False, pass_fds=list(self._held.values())
            )
        if ran.returncode != 0:
            raise LaunchFailed(f"{command[0]} in {name}: {ran.stderr.strip()[:LONGEST_COMPLAINT]}")

    def open(
        self,
        name: str,
        kind: int,
        bound: list[object] | None,
        listen: bool,
        device: str = "",
        protocol: int = 0,
        family: int = socket.AF_INET,
        group: str = "",
    ) -> socket.socket:
        """Return a socket of a namespace. kind, protocol, family: of socket. bound: its address and port.

        device: the interface that it is restricted to, also for broadcasts. group: an IPv6 multicast address whose
        receiver it is there.
        """
        with self._inside(name):
            opened = socket.socket(family, kind, protocol)
            if group:
                membership = socket.inet_pton(socket.AF_INET6, group) + struct.pack("@I", socket.if_nametoindex(device))
                opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if device:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        if bound is not None:
            opened.bind((bound[0], bound[1]))
        if listen:
            opened.listen(BACKLOG)
        return opened

    @contextmanager
    def _inside(self, name: str) -> Iterator[None]:
        join(self._held[name], NEW_NETWORK)
        try:
            yield
        finally:
            join(self._own, NEW_NETWORK)


def in_child(act: Callable[[], None]) -> None:
    """Run something in a child process, since it enters namespaces that cannot be left."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException as error:  # it must never return: there would be two processes that obey orders
            os.write(writing, (str(error) or type(error).__name__).encode()[:LONGEST_COMPLAINT])
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        answer = file.read()
    os.waitpid(child, 0)
    if answer:
        raise LaunchFailed(answer)


def networks(task: dict[str, Any]) -> int:
    """Obey the orders of the cloud until it ends: messages of a method of `Networks` and its arguments."""
    control = socket.socket(fileno=task["control"])
    try:
        enter(task["ids"], NEW_NETWORK | NEW_MOUNTS)
        become_root()
        live_with_parent()
        held, own = Networks(), os.open("/proc/self/ns/user", os.O_RDONLY)
        socket.send_fds(control, [b"ready"], [own])
        os.close(own)
    except (OSError, LaunchFailed) as error:
        control.send(str(error).encode())
        return 1
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, LONGEST_ORDER, MOST_DESCRIPTORS)
        if not message:
            return 0
        order = json.loads(message)
        if descriptors:
            order["descriptors"] = descriptors
        try:
            found = getattr(held, order.pop("do"))(**order)
            if found is None:
                control.send(b"done")
            else:
                socket.send_fds(control, [b"done"], [found.fileno()])
                found.close()
        except (OSError, LaunchFailed, KeyError) as error:
            control.send(str(error).encode())
        for descriptor in descriptors:
            os.close(descriptor)
