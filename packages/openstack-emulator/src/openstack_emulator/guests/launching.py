"""How the program `launch` is called, and what it finds in the directory of a guest."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from uuid import uuid4

import orjson

from openstack_emulator.core.guests.driver import Guest, GuestsUnavailable
from openstack_emulator.guests.ids import IdMaps
from openstack_emulator.guests.images import Image
from stoker_foundation.interpreter import bare_python_command

LAUNCH = f"""
import sys
sys.path.append({str(Path(__file__).parents[2])!r})
from openstack_emulator.guests.launch.main import main
sys.exit(main())
"""
"""The program `launch`, as Python's option `-c` takes it; it starts quickly, without the environment's packages."""
WIRED, READY = b"wired", b"ready"
GO = b"go"
NAMESPACES = 3
"""How many descriptors of namespaces come with the message `wired`."""
LONGEST_MESSAGE = 4096
MOST_DESCRIPTORS = 16
BIN = "run/stoker/bin"
"""Where the programs are in a guest that treat volumes, which are directories, as block devices."""
ENVIRONMENT = {
    "PATH": f"/{BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "TERM": "linux",
    "LANG": "C.UTF-8",
    "container": "stoker",
    "product_name": "OpenStack Nova",  # by which cloud-init recognizes the cloud in a container
}
PROGRAMS = Path(__file__).with_name("programs")
INIT = Path(__file__).with_name("init.sh")
INSIDE = "run/stoker-init"
"""Where the program of a guest's first process is in the guest."""
SEED = "var/lib/cloud/seed/config_drive"
"""Where cloud-init finds a config drive in a container, which has no block devices."""
DRIVE = "config_drive"
"""The directory with the content of a guest's config drive, in the guest's directory."""
HINT = (
    "Guests need a Linux kernel of version 5.11 or newer that allows user namespaces to this user. An administrator "
    "allows them with `sysctl -w user.max_user_namespaces=10000`, on Debian also with "
    "`sysctl -w kernel.unprivileged_userns_clone=1`, on Ubuntu with "
    "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`. In a container, run it with `--privileged`, or run "
    "the cloud outside. `--guests none` starts a cloud without guests."
)
BINARIES = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where programs are besides the user's search path."""
CHECK_SECONDS = 20
FORMATTED = "lost+found"
"""The directory by which `blkid` and `mount` in guests recognize a volume with a file system."""
_NAME = re.compile("(check-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def programs() -> dict[str, str]:
    """Return the files of a guest by which `mkfs`, `mount` and `blkid` work with volumes."""
    found = {path.name: path.read_text() for path in PROGRAMS.iterdir() if path.is_file()}
    kinds = ("mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mke2fs")
    return {f"{BIN}/{name}": text for name, text in (found | dict.fromkeys(kinds, found["mkfs"])).items()}


def find_program(name: str) -> str | None:
    """Return the path of a program of the system, also of one that is not in the search path of users."""
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{BINARIES}")


class LaunchFailed(Exception):
    """A guest was not started; the message says why."""


def task_command(task: str, ids: IdMaps, directory: Path, **more: object) -> list[str]:
    """Return the command that runs a task of the package `launch`, whose docstring lists the arguments."""
    task_data = {"task": task, "ids": ids.to_data(), "directory": str(directory), "parent": os.getpid(), **more}
    return bare_python_command("-c", LAUNCH, orjson.dumps(task_data).decode())


@dataclass(frozen=True)
class VolumeMount:
    """A volume of a guest in namespaces. source: its directory. target: its path in the guest, without the first slash.

    layered: the directory has only what is different from the image.
    """

    source: str
    target: str
    layered: bool = False


@dataclass(frozen=True)
class Launcher(ABC):
    """Starts guests whose disks are based on an image, with these users."""

    image: Image
    ids: IdMaps

    @abstractmethod
    def check(self, directory: Path, within: int) -> None:
        """Try to start a guest. directory: of the guests. within: see `NamespaceLauncher.boot_command`.

        Raises: GuestsUnavailable if this machine does not allow it.
        """

    def make_owner(self, file: Path | int) -> None:
        """Make the root user of guests the owner of a file."""
        if os.getuid() != self.ids.base:
            os.chown(file, self.ids.base, self.ids.base)

    def own(self, directory: Path) -> None:
        """Make a directory of the root user of guests, if it does not exist."""
        if not directory.exists():
            directory.mkdir(parents=True)
            directory.chmod(0o755)
            self.make_owner(directory)

    def write_drive(self, directory: Path, files: Mapping[str, bytes]) -> None:
        """Write the config drive of a guest, whose directory this is, in place of the previous one."""
        drive = directory / DRIVE
        shutil.rmtree(drive, ignore_errors=True)
        self.own(directory)
        self.own(drive)
        for path, content in files.items():
            place = drive / path
            for parent in reversed([parent for parent in place.parents if drive in parent.parents]):
                self.own(parent)
            place.write_bytes(content)
            place.chmod(0o644)
            self.make_owner(place)


@dataclass(frozen=True)
class NamespaceLauncher(Launcher):
    """Starts guests in namespaces."""

    def prepare(self, directory: Path, guest: Guest) -> None:
        """Write the config drive into the directory of a guest; it belongs to the root user of the guest."""
        self.write_drive(directory, guest.config_drive())
        self.own(directory / "root")

    def prepare_disk(self, disk: Path) -> None:
        """Create what an empty disk consists of, if it does not exist; it belongs to the root user of guests."""
        new = not disk.exists()
        self.own(disk)
        for name in {"base", *(target or "base" for _, target in self.image.layers)}:
            self.own(disk / name)
            self.own(disk / f".work-{name}")
        if new:  # later, guests may have put links there
            self.own(disk / "base" / FORMATTED)

    def boot_command(
        self,
        directory: Path,
        disk: Path,
        guest: Guest,
        addresses: Sequence[tuple[str, int]],
        control: int,
        within: int,
        volumes: Sequence[VolumeMount] = (),
        command: Sequence[str] = ("/bin/sh", f"/{INSIDE}"),
    ) -> list[str]:
        """Return the command that runs a guest. directory, disk: of the guest.

        control: the descriptor of its end of the control socket. within: that of the user namespace in which the
        guest's is made. command: the guest's first process.
        """
        return task_command(
            "boot",
            self.ids.inner(),
            directory,
            within=within,
            disk=str(disk),
            volumes=[astuple(volume) for volume in volumes],
            layers=self.image.layers,
            links=self.image.links,
            binds=[(DRIVE, SEED)],
            files={INSIDE: INIT.read_text(), **programs(), **guest.files()},
            hostname=guest.hostname,
            environment=ENVIRONMENT,
            command=command,
            listen=addresses,
            control=control,
        )

    async def delete_disks(self, directory: Path, *names: str) -> None:
        """Delete those disks of a guest that exist; it does not run. Raises: LaunchFailed."""
        if not (found := [name for name in names if (directory / name).exists()]):
            return
        process = await asyncio.create_subprocess_exec(*task_command("delete", self.ids, directory, names=found))
        if await process.wait() != 0:
            raise LaunchFailed(f"The disks {' and '.join(found)} in {directory} cannot be deleted.")

    def check(self, directory: Path, within: int) -> None:
        """Run the program `true` as a guest."""
        place = directory / f"check-{uuid4()}"
        guest = Guest("check", "check", dict)
        control, inside = control_sockets()
        with control:
            control.settimeout(CHECK_SECONDS)
            try:
                self.prepare(place, guest)
                self.prepare_disk(place / "disk")
                addresses, end = [("169.254.169.254", 80)], inside.fileno()
                disk = place / "disk"
                command = self.boot_command(place, disk, guest, addresses, end, within, command=["/bin/true"])
                with subprocess.Popen(  # noqa: S603  this interpreter and Stoker's program
                    command, pass_fds=[end, within], stderr=subprocess.PIPE
                ) as running:
                    inside.close()
                    start_failure = begun(control)
                    _, problem = running.communicate(timeout=CHECK_SECONDS)
                if start_failure or running.returncode != 0:
                    lines = problem.decode(errors="replace").strip().splitlines()
                    reason = start_failure or (lines[-1] if lines else f"the status is {running.returncode}")
                    raise GuestsUnavailable(f"A guest cannot be started on this machine: {reason}. {HINT}")
                subprocess.run(  # noqa: S603  as above
                    task_command("delete", self.ids, place, names=["disk"]), check=False
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise GuestsUnavailable(f"A guest cannot be started on this machine: {error}. {HINT}") from error
            finally:
                inside.close()
                shutil.rmtree(place, ignore_errors=True)


def begun(control: socket.socket) -> str:
    """Let a guest begin without networks, and return why it does not."""
    message, descriptors = received(control)
    for descriptor in descriptors:
        os.close(descriptor)
    if message == WIRED:
        control.send(GO)
        message, _ = received(control)
    return "" if message == READY else message.decode(errors="replace")


def is_guest_directory(place: Path) -> bool:
    """Whether a directory has been made by `Launcher.write_drive`, so that it may be deleted."""
    return bool(_NAME.fullmatch(place.name)) and (place / DRIVE).is_dir()


def control_sockets() -> tuple[socket.socket, socket.socket]:
    """Return the cloud's end and the guest's end of a control socket."""
    control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.setblocking(False)
    return control, inside


def received(control: socket.socket) -> tuple[bytes, list[int]]:
    """Return the message that has arrived, and its descriptors; an empty message if the other end has been closed."""
    message, descriptors, _, _ = socket.recv_fds(control, LONGEST_MESSAGE, MOST_DESCRIPTORS)
    return message, descriptors
