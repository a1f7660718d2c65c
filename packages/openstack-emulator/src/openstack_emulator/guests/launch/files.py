"""The files that a guest sees, which are mounted in its directory `root`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from openstack_emulator.guests.launch.filters import system_call
from openstack_emulator.guests.launch.linux import (
    BIND,
    DETACH,
    NO_DEVICES,
    NO_EXEC,
    NO_SUID,
    READ_ONLY,
    REMOUNT,
    LaunchFailed,
    libc,
    mount,
    require,
)

VOLUMES = "run/stoker/volumes"
"""Where volumes are mounted in a guest; their devices are links to them."""
PARTITIONS = "run/stoker/partitions"
"""What a guest sees as /proc/partitions: its volumes, and no disks of this machine."""
VIRTUAL_DISKS, MINORS_PER_DISK = 252, 16
DEVICE_LINKS = {
    "ptmx": "pts/ptmx",
    "console": "/proc/1/fd/1",
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}


def directory_of_guest(path: str, root: Path = Path("root")) -> Path:
    """Return a directory below `root`, which is made if it is missing.

    A link of the guest's disk is replaced by a directory: until `root` is the root directory, it would lead to files of
    this machine.
    """
    place = root
    for part in Path(path).parts:
        place /= part
        if place.is_symlink() or not place.is_dir():
            place.unlink(missing_ok=True)
            place.mkdir()
    return place


def opened_layers(layers: list[list[str]]) -> list[tuple[int, str]]:
    """Return the descriptors of directories of this machine, with their paths in the guest."""
    return [(os.open(source, os.O_PATH), target) for source, target in layers]


def mount_layers(layers: list[tuple[int, str]], opened: int, root: Path) -> None:
    """Mount a disk at a directory: the layers, which no write reaches, below the directories of the disk.

    layers: see `opened_layers`. opened: the descriptor of the disk.
    """
    disk = Path(f"/proc/self/fd/{opened}")
    if not any(target == "" for _, target in layers):
        mount(str(disk / "base"), str(root), None, BIND)
    for descriptor, target in layers:
        upper, work = disk / (target or "base"), disk / f".work-{target or 'base'}"
        place = directory_of_guest(target, root)
        options = f"lowerdir=/proc/self/fd/{descriptor},upperdir={upper},workdir={work},userxattr"
        mount("overlay", str(place), "overlay", NO_DEVICES, options)


def mount_system() -> None:
    """Mount what every system has, below `root`."""
    for name in ("proc", "sys", "dev", "run", "tmp", "root"):
        directory_of_guest(name)
    Path("root/tmp").chmod(0o1777)
    mount("proc", "root/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC)
    with suppress(LaunchFailed):  # refused where parts of this machine's /sys are hidden; few programs need it
        mount("sysfs", "root/sys", "sysfs", NO_SUID | NO_DEVICES | NO_EXEC | READ_ONLY)
    mount("tmpfs", "root/run", "tmpfs", NO_SUID | NO_DEVICES, "mode=755,size=64m")
    Path("root/run/lock").mkdir()
    Path("root/run/lock").chmod(0o1777)
    mount("tmpfs", "root/dev", "tmpfs", NO_SUID | NO_EXEC, "mode=755,size=1m")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        Path("root/dev", name).touch()
        mount(f"/dev/{name}", f"root/dev/{name}", None, BIND)
    for name in ("pts", "shm"):
        Path("root/dev", name).mkdir()
    mount("devpts", "root/dev/pts", "devpts", NO_SUID | NO_EXEC, "newinstance,ptmxmode=0666,mode=620")
    mount("tmpfs", "root/dev/shm", "tmpfs", NO_SUID | NO_DEVICES, "mode=1777,size=64m")
    for name, to in DEVICE_LINKS.items():
        Path("root/dev", name).symlink_to(to)


def mount_read_only(source: str, target: str) -> None:
    """Show a directory below the guest's own at a path of the guest, which cannot change it."""
    place = directory_of_guest(target)
    mount(source, str(place), None, BIND)
    mount(source, str(place), None, BIND | REMOUNT | READ_ONLY | NO_SUID | NO_DEVICES)


def list_partitions(root: Path) -> None:
    """Write the volumes that are mounted in a guest as /proc/partitions does. root: the guest's root directory."""
    lines = ["major minor  #blocks  name", ""]
    for number, place in enumerate(sorted(root.joinpath(VOLUMES).glob("*")), start=1):
        if place.is_mount():
            room = os.statvfs(place)
            kibibytes = room.f_blocks * room.f_frsize // 1024
            lines.append(f"{VIRTUAL_DISKS:4} {number * MINORS_PER_DISK:7} {kibibytes:10} {place.name}")
    with suppress(OSError):  # a guest may have put something else there, which must not stop this process
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(root.joinpath(PARTITIONS), flags, 0o644), "w") as file:
            file.writelines(f"{line}\n" for line in lines)


def change_root() -> None:
    """Make `root` the root directory, and unmount everything else."""
    os.chdir("root")
    number = system_call("pivot_root", os.uname().machine)
    require(libc.syscall(number, b".", b"."), "The root directory cannot be changed")
    require(libc.umount2(b".", DETACH), "The files of this machine cannot be unmounted")
    os.chdir("/")
