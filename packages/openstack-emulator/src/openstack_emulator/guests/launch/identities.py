"""User namespaces: whose rights the program has, and which IDs guests see."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from openstack_emulator.guests.launch.linux import NEW_USER, SET_DUMPABLE, LaunchFailed, libc, require


def enter(ids: dict[str, Any], kinds: int) -> None:
    """Move this process into a new user namespace and others, as their root user.

    A child that stays outside writes the ID maps: only a process outside may map other IDs than the user's own.
    """
    libc.prctl(SET_DUMPABLE, 1)  # the child may write this process's files in /proc
    reading, writing = os.pipe()
    process = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(writing)
        status = 1
        with suppress(OSError, subprocess.CalledProcessError):
            if os.read(reading, 1):
                _write_maps(process, ids)
                status = 0
        os._exit(status)
    os.close(reading)
    require(libc.unshare(NEW_USER | kinds), "The namespaces cannot be created")
    os.write(writing, b"+")
    os.close(writing)
    if os.waitpid(child, 0)[1] != 0:
        raise LaunchFailed("The IDs of the user namespace cannot be mapped")


def _write_maps(process: int, ids: dict[str, Any]) -> None:
    for kind in ("uid", "gid"):
        if ids["helpers"]:
            words = [word for line in ids[kind] for word in line.split()]
            subprocess.run([f"new{kind}map", str(process), *words], check=True)  # noqa: S603  the driver's own maps
            continue
        if kind == "gid" and ids["deny"]:
            Path(f"/proc/{process}/setgroups").write_text("deny")
        Path(f"/proc/{process}/{kind}_map").write_text("".join(f"{line}\n" for line in ids[kind]))


def become_root() -> None:
    """Take the IDs of the namespace's root user: all IDs of this machine's users are given up."""
    with suppress(PermissionError):  # where the maps have only the user's own IDs, groups cannot be given up
        os.setgroups([])
    take_root_ids()


def take_root_ids() -> None:
    """Take the user ID and the group ID of the namespace's root user; other groups are kept."""
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    libc.prctl(SET_DUMPABLE, 1)  # its own files in /proc stay readable
