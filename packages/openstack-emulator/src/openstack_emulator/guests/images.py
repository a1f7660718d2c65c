"""Images of guests: root file systems below the user's cache directory, and this machine's own programs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from openstack_emulator.core.guests.driver import GuestsUnavailable

HOST = "host"
"""The image that consists of this machine's own programs and settings (`/usr` and `/etc`)."""
DEFAULT = "debian"
MANIFEST, ROOT, LOCK = "image.json", "root", "lock"
"""In the directory of an image; clouds and builds lock the file `lock`."""
ROOT_FILES, DISK_IMAGE = "root", "qcow2"
"""The formats of images: a directory, and a disk with a kernel."""
DISK_SUFFIX = f".{DISK_IMAGE}"
"""Of the names of the directories of disk images."""
DISK, KERNEL, INITRD = "disk.qcow2", "kernel", "initrd"
MOUNTS = Path("/proc/self/mountinfo")
_PROGRAMS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_STATE = {"var/run": "/run", "var/lock": "/run/lock"}
"""Links of every system, outside of the directories of this machine that guests have."""


@dataclass(frozen=True)
class Image:
    """Where the files of an image are.

    layers: directories and where they are in the guest (without the first slash; empty: everywhere).
    links: symbolic links of the guest: path → destination.
    disk: the directory of a disk and its kernel, instead of layers. lock: the file that a cloud locks while it uses the
    image.
    """

    name: str
    layers: tuple[tuple[str, str], ...] = ()
    links: dict[str, str] = field(default_factory=dict)
    disk: Path | None = None
    lock: Path | None = None


def cache_directory() -> Path:
    """Return `$XDG_CACHE_HOME/stoker/guests`, by default `~/.cache/stoker/guests`."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "stoker" / "guests"


def image_directory(name: str, kind: str = ROOT_FILES) -> Path:
    """Return the directory of an image in a format."""
    return cache_directory() / (f"{name}{DISK_SUFFIX}" if kind == DISK_IMAGE else name)


def find_disk(name: str) -> Image:
    """Return an image of virtual machines. name: with or without the suffix that lists of images show.

    Raises: GuestsUnavailable if there is none of this name.
    """
    directory = image_directory(name.removesuffix(DISK_SUFFIX), DISK_IMAGE)
    if "/" in name or not (directory / MANIFEST).is_file():
        raise GuestsUnavailable(
            f"There is no guest image {name!r} for virtual machines in {directory.parent}. `stoker guests build "
            f"--format {DISK_IMAGE}` builds `{DEFAULT}`."
        )
    return Image(name, disk=directory, lock=directory / LOCK)


def find_image(name: str) -> Image:
    """Return an image. Raises: GuestsUnavailable if there is none of this name."""
    if name == HOST:
        return _host_image()
    directory = image_directory(name)
    if "/" in name or name.endswith(DISK_SUFFIX) or not (directory / MANIFEST).is_file():
        raise GuestsUnavailable(
            f"There is no guest image {name!r} in {directory.parent}. `stoker guests build` builds `{DEFAULT}`; the "
            f"image `{HOST}` needs no building."
        )
    return Image(name, ((str(directory / ROOT), ""),), lock=directory / LOCK)


def _host_image() -> Image:
    layers, links = [("/usr", "usr"), ("/etc", "etc")], dict(_STATE)
    for name in _PROGRAMS:
        place = Path("/", name)
        if place.is_symlink():
            links[name] = str(place.readlink())
        elif place.is_dir():
            layers.append((str(place), name))
    _require_no_mounts([source for source, _ in layers])
    return Image(HOST, tuple(layers), links)


def _require_no_mounts(directories: list[str]) -> None:
    """Raise GuestsUnavailable if other file systems are mounted below: the kernel refuses overlays of such directories
    to unprivileged users."""
    points = [line.split()[4] for line in MOUNTS.read_text().splitlines()]
    if below := [point for point in points if any(point.startswith(f"{directory}/") for directory in directories)]:
        raise GuestsUnavailable(
            f"The guest image {HOST!r} cannot be used on this machine, since other file systems are mounted below its "
            f"directories, at {', '.join(below)} (as in containers). `stoker guests build` builds another image."
        )


def built_images() -> list[dict[str, object]]:
    """Return the manifests of the images that have been built, by name."""
    found = sorted(cache_directory().glob(f"*/{MANIFEST}"))
    return [
        {"name": path.parent.name, "format": ROOT_FILES, **orjson.loads(path.read_bytes()), "path": str(path.parent)}
        for path in found
    ]
