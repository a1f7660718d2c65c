"""What starts virtual machines: the accelerator of this machine, QEMU's arguments, config drives and disks."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import orjson

from openstack_emulator.core.guests.driver import LEAST_MEMORY, Address, Guest, GuestsUnavailable, Size
from openstack_emulator.guests.disks import GIBIBYTE
from openstack_emulator.guests.images import DISK, INITRD, KERNEL, MANIFEST
from openstack_emulator.guests.launching import (
    CHECK_SECONDS,
    DRIVE,
    HINT,
    INIT,
    Launcher,
    LaunchFailed,
    begun,
    control_sockets,
    find_program,
    task_command,
)
from openstack_emulator.guests.rules import machine_filter

PROGRAM, DISK_PROGRAM = "qemu-system-x86_64", "qemu-img"
PROGRAMS = {PROGRAM: "qemu-system-x86", DISK_PROGRAM: "qemu-utils"}
"""The programs that virtual machines need, with their packages."""
KVM_DEVICE, TUN_DEVICE = Path("/dev/kvm"), Path("/dev/net/tun")
KVM, TCG = "kvm", "tcg"
PROCESSORS_FILE, HARDWARE = Path("/proc/cpuinfo"), {"vmx", "svm"}
CREATE_MACHINE = 0xAE01
"""The request KVM_CREATE_VM (linux/kvm.h)."""
PROCESSORS = {KVM: "host", TCG: "max"}
ACCELERATORS = {KVM: "kvm", TCG: "tcg,tb-size=128"}
"""With the MiB of memory for translated instructions."""
CLOUD = "169.254.169.253"
"""Where a virtual machine reaches what has a loopback address in the catalog."""
OVERLAY, RESCUE_OVERLAY, BASED_ON, ERRORS = "disk.qcow2", "rescue.qcow2", "image.sha256", "qemu.log"
LABEL = "config-2"
"""By which cloud-init finds a config drive (https://docs.openstack.org/nova/latest/user/metadata.html)."""
COMMAND_LINE = "root=/dev/vda rw console=ttyS0 net.ifnames=0 panic=5 init=/usr/share/stoker/boot"
SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
FILES = {name: Path(__file__).with_name(name) for name in ("start.sh", "dhclient.conf")} | {"init.sh": INIT}


def accelerator(device: Path = KVM_DEVICE, processors: Path = PROCESSORS_FILE) -> tuple[str, str]:
    """Return what runs the processors of virtual machines on this machine, KVM or TCG, and why not KVM.

    KVM without the processor's support interprets much of what a machine does, and is slower than TCG.
    """
    if not HARDWARE & set(processors.read_text().split()):
        return TCG, "the processor does not show support for virtual machines (vmx or svm)"
    try:
        with device.open("r+b", buffering=0) as file:
            os.close(fcntl.ioctl(file, CREATE_MACHINE, 0))
            mode = os.fstat(file.fileno())
    except OSError as error:
        return TCG, f"{device} cannot be used: {error.strerror}"
    if os.getuid() == 0 and not _group_of(mode) and not mode.st_mode & stat.S_IWOTH:
        return TCG, f"{device} can be used by root only, and QEMU does not run as root"
    return KVM, ""


def described_accelerator() -> str:
    """Return a sentence that says what runs the processors of virtual machines on this machine."""
    found, reason = accelerator()
    if found == KVM:
        return "Virtual machines use the processors of this machine (KVM)."
    return f"Virtual machines are slow, since QEMU emulates their processors (TCG): {reason}."


def _group_of(device: os.stat_result) -> list[int]:
    """Return the group, except root's, that may use a device."""
    return [device.st_gid] if device.st_gid and device.st_mode & stat.S_IWGRP else []


def require_programs() -> None:
    """Raise GuestsUnavailable if a program or device is missing that virtual machines need."""
    if missing := [name for name in PROGRAMS if find_program(name) is None]:
        packages = " ".join(PROGRAMS.values())
        raise GuestsUnavailable(
            f"Virtual machines need the program {' and '.join(missing)}: install QEMU, on Debian and Ubuntu with "
            f"`apt-get install {packages}`. `--guests namespace` needs no QEMU."
        )
    if not TUN_DEVICE.exists():
        raise GuestsUnavailable(
            f"Network cards of virtual machines need {TUN_DEVICE}, which is missing: load the kernel module tun with "
            "`modprobe tun`; in a container, pass the device on with `--device /dev/net/tun`."
        )


@dataclass(frozen=True)
class VirtualLauncher(Launcher):
    """Starts virtual machines. accelerated_by: KVM or TCG."""

    accelerated_by: str

    @property
    def folder(self) -> Path:
        """The directory of the image."""
        if self.image.disk is None:
            raise ValueError(f"The image {self.image.name!r} has no disk.")
        return self.image.disk

    def command(
        self,
        directory: Path,
        words: Sequence[str],
        listen: Sequence[Address],
        descriptors: tuple[int, int, int],
        opened: Mapping[str, Path],
    ) -> list[str]:
        """Return the command that runs QEMU in a network namespace of its own.

        words: the arguments besides those that all machines have. listen: see `Machine._command`. descriptors: those
        of the guest's ends of the control socket and of the monitor, and of the user namespace in which the guest's is
        made. opened: files, which QEMU reads.
        """
        control, monitor, within = descriptors
        fixed = [
            *(str(find_program(PROGRAM)), "-nodefaults", "-no-user-config", "-display", "none", "-S"),
            *("-machine", "pc", "-accel", ACCELERATORS[self.accelerated_by], "-cpu", PROCESSORS[self.accelerated_by]),
            *("-chardev", "socket,id=monitor,fd=@monitor@", "-mon", "chardev=monitor,mode=control"),
            *("-sandbox", SANDBOX),
        ]
        return task_command(
            "virtual",
            self.ids.inner(),
            directory,
            within=within,
            control=control,
            monitor=monitor,
            listen=listen,
            opened={name: str(path) for name, path in opened.items()},
            command=[*fixed, *words],
            environment={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            groups=self._groups(),
        )

    def _groups(self) -> list[int] | None:
        """Return the groups of QEMU's process; None for those of this user."""
        if os.getuid() == self.ids.base:
            return None
        return _group_of(KVM_DEVICE.stat()) if self.accelerated_by == KVM else []

    def machine_words(self, guest: Guest, rescued: bool) -> list[str]:
        """Return QEMU's arguments for a guest: its size, kernel, console, and disks besides volumes."""
        disks = [*([RESCUE_OVERLAY] if rescued else []), *([OVERLAY] if guest.root() is None else [])]
        size = allowed(guest.size)
        drive = {"driver": "vvfat", "node-name": "drive", "dir": DRIVE, "label": LABEL, "read-only": True}
        return [
            *("-name", f"guest={guest.id}", "-uuid", guest.id),
            *("-smp", str(size.processors), "-m", str(size.memory)),
            *("-smbios", f"type=1,manufacturer=OpenStack Foundation,product=OpenStack Nova,serial={guest.id}"),
            *("-kernel", "/dev/fd/@kernel@", "-initrd", "/dev/fd/@initrd@", "-append", COMMAND_LINE),
            *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
            *_overlays(disks),
            *("-blockdev", orjson.dumps(drive).decode()),
            *("-device", "virtio-scsi-pci", "-device", "scsi-hd,drive=drive"),
            *("-device", "virtio-rng-pci", "-device", "pvpanic-pci"),
        ]

    def opened(self) -> dict[str, Path]:
        """Return the files of the image: name → path."""
        return {"kernel": self.folder / KERNEL, "initrd": self.folder / INITRD, "disk": self.folder / DISK}

    async def prepare(self, directory: Path, guest: Guest, loopback: Sequence[Address], rescued: bool) -> None:
        """Write the config drive into the directory of a guest, and create its own disks if they do not exist.

        loopback: the addresses of this machine's that lead to the cloud in the guest. Raises: LaunchFailed.
        """
        own = {f"stoker/{name}": path.read_bytes() for name, path in FILES.items()}
        own["stoker/hostname"] = f"{guest.hostname}\n".encode()
        own["stoker/cloud.nft"] = machine_filter(loopback, CLOUD).encode()
        own |= {
            f"stoker/files/{path}": content.encode() for path, content in {"etc/.keep": "", **guest.files()}.items()
        }
        self.write_drive(directory, {**guest.config_drive(), **own})
        if guest.root() is None:
            await self._create_disk(directory, guest.size.disk * GIBIBYTE)
        if rescued:
            await self._create_overlay(directory, RESCUE_OVERLAY)
        else:
            (directory / RESCUE_OVERLAY).unlink(missing_ok=True)

    async def install(self, file: Path) -> None:
        """Write the image to a file, as a raw disk. Raises: OSError."""
        try:
            await _disk_program("convert", "-q", "-O", "raw", str(self.folder / DISK), str(file))
        except LaunchFailed as error:
            raise OSError(str(error)) from error

    async def _create_disk(self, directory: Path, size: int) -> None:
        """Create the disk of a guest, which keeps what is different from the image, or enlarge it. size: in bytes."""
        disk, based_on = directory / OVERLAY, directory / BASED_ON
        image = orjson.loads((self.folder / MANIFEST).read_bytes())["sha256"]
        if not disk.exists():
            based_on.write_text(image)
        elif based_on.read_text() != image:
            raise LaunchFailed(
                f"The guest cannot be started: the guest image {self.image.name!r} has been built again since the disk "
                "of the server was created. Rebuild the server (`openstack server rebuild`)."
            )
        await self._create_overlay(directory, OVERLAY)
        shown = orjson.loads(await _disk_program("info", "--output=json", str(disk)))
        if shown["virtual-size"] < size:
            await _disk_program("resize", "-q", str(disk), str(size))

    async def _create_overlay(self, directory: Path, name: str) -> None:
        """Create a disk that keeps what is different from the image, if it does not exist."""
        disk = directory / name
        if not disk.exists():
            base = str(self.folder / DISK)
            await _disk_program("create", "-q", "-f", "qcow2", "-b", base, "-F", "qcow2", str(disk))
        disk.chmod(0o600)
        self.make_owner(disk)

    def check(self, directory: Path, within: int) -> None:
        """Run QEMU without a system."""
        place = directory / f"check-{uuid4()}"
        control, inside = control_sockets()
        ours, theirs = socket.socketpair()
        with control, ours, inside, theirs:
            control.settimeout(CHECK_SECONDS)
            ours.settimeout(CHECK_SECONDS)
            try:
                self.write_drive(place, {})
                descriptors = (inside.fileno(), theirs.fileno(), within)
                command = self.command(place, ["-m", "16"], [(CLOUD, 80)], descriptors, {})
                with subprocess.Popen(command, pass_fds=descriptors, stdin=subprocess.DEVNULL) as running:  # noqa: S603
                    inside.close()
                    theirs.close()
                    reason = begun(control) or _quit(ours)
                    running.wait(CHECK_SECONDS)
                if reason:
                    raise GuestsUnavailable(
                        f"A virtual machine cannot be started on this machine: {last_error(place) or reason}. {HINT}"
                    )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise GuestsUnavailable(
                    f"A virtual machine cannot be started on this machine: {last_error(place) or error}. {HINT}"
                ) from error
            finally:
                shutil.rmtree(place, ignore_errors=True)


def _overlays(names: Sequence[str]) -> list[str]:
    """Return QEMU's arguments for disks that are different from the image; the first one is /dev/vda."""
    if not names:
        return []
    file = {"driver": "file", "filename": "/dev/fdset/1", "read-only": True}
    nodes = [{"driver": "qcow2", "node-name": "image", "read-only": True, "file": file}]
    nodes += [
        {
            "driver": "qcow2",
            "node-name": f"overlay-{number}",
            "discard": "unmap",
            "file": {"driver": "file", "filename": name},
            "backing": "image",
        }
        for number, name in enumerate(names)
    ]
    words = ["-add-fd", "fd=@disk@,set=1"]
    for node in nodes:
        words += ["-blockdev", orjson.dumps(node).decode()]
    for number in range(len(names)):
        words += ["-device", f"virtio-blk-pci,drive=overlay-{number}"]
    return words


def _quit(monitor: socket.socket) -> str:
    """End QEMU, and return why it cannot be used."""
    with monitor.makefile("rwb") as file:
        greeting = file.readline()
        if b'"QMP"' not in greeting:
            return "QEMU has ended"
        file.write(b'{"execute": "qmp_capabilities"}\n{"execute": "quit"}\n')
        file.flush()
        return "" if b"return" in file.readline() else "QEMU does not answer"


def last_error(directory: Path) -> str:
    """Return the last line that QEMU has written as an error; empty if there is none."""
    try:
        lines = (directory / ERRORS).read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def allowed(size: Size) -> Size:
    """Return the size of a virtual machine for that of a flavor: what this machine has, and the image needs."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // (1 << 20)
    memory = max(LEAST_MEMORY, min(size.memory, total // 2))
    return Size(min(size.processors, os.cpu_count() or 1), memory, size.disk)


async def _disk_program(*arguments: str) -> bytes:
    """Run qemu-img, and return its output. Raises: LaunchFailed."""
    process = await asyncio.create_subprocess_exec(
        str(find_program(DISK_PROGRAM)), *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, problem = await process.communicate()
    if process.returncode != 0:
        raise LaunchFailed(f"The disk of the guest cannot be created: {problem.decode(errors='replace').strip()}")
    return output
