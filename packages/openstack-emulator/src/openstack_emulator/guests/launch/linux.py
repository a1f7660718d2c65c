"""Calls of the kernel that Python has no functions for, and what they need."""

from __future__ import annotations

import ctypes
import os
import signal

NEW_MOUNTS, NEW_UTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NETWORK = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = (
    1, 2, 4, 8, 32, 4096, 16384, 1 << 18,
)  # fmt: skip
DETACH = 2
SET_DEATH_SIGNAL, SET_DUMPABLE = 1, 4
BACKLOG = 64
OWN_NETWORK = "/proc/self/ns/net"

libc = ctypes.CDLL(None, use_errno=True)


class LaunchFailed(Exception):
    """A step failed; the message says which one, and why."""


def require(result: int, what: str) -> None:
    """Raise LaunchFailed unless the result of a function of libc is 0. what: what has failed then."""
    if result != 0:
        raise LaunchFailed(f"{what}: {os.strerror(ctypes.get_errno())}")


def mount(source: str, target: str, kind: str | None, flags: int = 0, options: str | None = None) -> None:
    """Mount a file system, as mount(2) does. Raises: LaunchFailed."""
    encoded = [None if text is None else text.encode() for text in (source, target, kind, options)]
    done = libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    require(done, f"{kind or source} cannot be mounted at {target}")


def live_with_parent() -> None:
    """Have this process killed when its parent ends."""
    libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL)


def join(namespace: int, kind: int) -> None:
    """Move this process into a namespace, which a descriptor names."""
    require(libc.setns(namespace, kind), "A namespace cannot be joined")
