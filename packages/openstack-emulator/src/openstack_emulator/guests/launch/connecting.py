"""Connect a guest that starts: it passes its namespaces to the cloud, and listens for it."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from typing import Any

from openstack_emulator.guests.launch.linux import BACKLOG, OWN_NETWORK, LaunchFailed

GET_FLAGS, SET_FLAGS, SET_ADDRESS, SET_NETMASK, UP = 0x8913, 0x8914, 0x8916, 0x891C, 1
OWN = (OWN_NETWORK, "/proc/self/ns/user", "/proc/self/ns/mnt")


def connect(addresses: list[list[Any]], control: socket.socket) -> None:
    """Pass the guest's namespaces and its listening sockets to the cloud, and wait until it has connected the guest."""
    listeners = listening_sockets(addresses)
    namespaces = [os.open(path, os.O_RDONLY) for path in OWN]
    socket.send_fds(control, [b"wired"], [*namespaces, *(listener.fileno() for listener in listeners)])
    for namespace in namespaces:
        os.close(namespace)
    for listener in listeners:
        listener.close()
    if not control.recv(1):
        raise LaunchFailed("The cloud has ended")


def listening_sockets(addresses: list[list[Any]]) -> list[socket.socket]:
    """Bring the loopback interface up, and listen at IPv4 addresses of it.

    The sockets have other ports than those of the addresses, which the guest's own services may use: the cloud has
    connections translated.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for index, address in enumerate(dict.fromkeys(address for address, _ in addresses)):
            if not address.startswith("127."):
                _add_address(control, f"lo:{index}", address)
        _set_up(control, "lo")
    found = []
    for address, _ in addresses:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind((address, 0))
        listener.listen(BACKLOG)
        found.append(listener)
    return found


def _add_address(control: socket.socket, label: str, address: str) -> None:
    for request, value in ((SET_ADDRESS, address), (SET_NETMASK, "255.255.255.255")):
        place = struct.pack("16sH2s4s8x", label.encode(), socket.AF_INET, b"", socket.inet_aton(value))
        fcntl.ioctl(control, request, place)


def _set_up(control: socket.socket, interface: str) -> None:
    name = interface.encode()
    flags = struct.unpack("16sH", fcntl.ioctl(control, GET_FLAGS, struct.pack("16sH14x", name, 0))[:18])[1]
    fcntl.ioctl(control, SET_FLAGS, struct.pack("16sH14x", name, flags | UP))
