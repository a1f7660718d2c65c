"""Starts a guest in namespaces of its own, or holds the networks of a cloud.

Run as a program by the driver `namespace`; it imports nothing of Stoker.

The argument is a JSON object:

directory: of the guest; its disk is below it, in `disk`.
ids: `{"uid": […], "gid": […], "helpers": bool, "deny": bool}`: the lines of the namespace's ID maps. `helpers`: they
are written by newuidmap and newgidmap, which may use the subordinate IDs of an unprivileged user. `deny`: groups
cannot be changed, which the kernel demands of a user who maps only the own ID.
parent: the process that must live as long as the guest.
task: `boot`; or `delete` to delete directories (names); or `copy` to copy one (names: from, to); or `unpack` to unpack
the tar file on the standard input into the directory `root`; or `run` to run a command with the users of guests; or
`networks` to obey the orders that arrive at the socket `control` (see `networks`).
For `boot` also: within (the descriptor of a user namespace in which that of the guest is made), layers
(`[[source, target], …]`: read-only directories of this machine below the disk), links (path → destination), files
(path → content; programs in directories `bin`), binds (read-only: `[[source, target], …]`), volumes
(`[[source, target], …]`), hostname, environment, command, listen (`[[address, port], …]`) and control: the descriptor
of a socket that gets the guest's namespaces (network, user, mounts) and the sockets that listen there, with the
message `wired`, and waits for an answer; then the message `ready`. Another message says why the guest was not started.

For `virtual`, which replaces the process by a program that runs a virtual machine: within, listen and control as for
`boot`; opened (name → path of a file to open for reading), monitor (a descriptor that the program gets), command (words
in which `@name@` is the number of a descriptor), environment, and groups: those of the process; null: its user's.

For the other tasks, the process that is started waits for the guest and ends with its status, 128 and the number of the
signal if a signal ended it. SIGTERM is passed on to the guest's first process; SIGHUP kills the guest.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

NEW_MOUNTS, NEW_UTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NETWORK = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = (
    1, 2, 4, 8, 32, 4096, 16384, 1 << 18,
)  # fmt: skip
DETACH = 2
SET_DEATH_SIGNAL, SET_DUMPABLE = 1, 4
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "ppc64le": 203, "s390x": 217, "riscv64": 41}
GET_FLAGS, SET_FLAGS, SET_ADDRESS, SET_NETMASK, UP = 0x8913, 0x8914, 0x8916, 0x891C, 1
SET_INTERFACE, TAP, WITHOUT_INFORMATION, OFFLOAD = 0x400454CA, 0x0002, 0x1000, 0x4000
"""The request TUNSETIFF, and IFF_TAP, IFF_NO_PI and IFF_VNET_HDR (linux/if_tun.h)."""
BACKLOG = 64
VOLUMES = "run/stoker/volumes"
"""Where volumes are mounted in a guest; their devices are links to them."""
PARTITIONS = "run/stoker/partitions"
"""What a guest sees as /proc/partitions: its volumes, and no disks of this machine."""
VIRTUAL_DISKS, MINORS_PER_DISK = 252, 16
OWN_NETWORK = "/proc/self/ns/net"
OWN = (OWN_NETWORK, "/proc/self/ns/user", "/proc/self/ns/mnt")
LONGEST_ORDER = 1 << 16
MOST_DESCRIPTORS = 4
OPEN_TREE, MOVE_MOUNT = 428, 429  # the same numbers on all machines
HERE, CLONE, WITHOUT_PATH = -100, 1, 4
LONGEST_COMPLAINT = 2000
DESCRIPTOR = re.compile("@[a-z]+@")
NAME = re.compile("@([a-z]+-[0-9a-f-]+)@")
DEVICE_LINKS = {
    "ptmx": "pts/ptmx",
    "console": "/proc/1/fd/1",
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}

_libc = ctypes.CDLL(None, use_errno=True)


class LaunchFailed(Exception):
    """A step failed; the message says which one, and why."""


def _require(result: int, what: str) -> None:
    if result != 0:
        raise LaunchFailed(f"{what}: {os.strerror(ctypes.get_errno())}")


def _mount(source: str, target: str, kind: str | None, flags: int = 0, options: str | None = None) -> None:
    encoded = [None if text is None else text.encode() for text in (source, target, kind, options)]
    done = _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    _require(done, f"{kind or source} cannot be mounted at {target}")


# -- namespaces --------------------------------------------------------------------------------------------------


def enter(ids: dict[str, Any], kinds: int) -> None:
    """Move this process into a new user namespace and others, as their root user.

    A child that stays outside writes the ID maps: only a process outside may map other IDs than the user's own.
    """
    _libc.prctl(SET_DUMPABLE, 1)  # the child may write this process's files in /proc
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
    _require(_libc.unshare(NEW_USER | kinds), "The namespaces cannot be created")
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
    _libc.prctl(SET_DUMPABLE, 1)  # its own files in /proc stay readable


def live_with_parent() -> None:
    """Have this process killed when its parent ends."""
    _libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL)


def join(namespace: int, kind: int) -> None:
    """Move this process into a namespace, which a descriptor names."""
    _require(_libc.setns(namespace, kind), "A namespace cannot be joined")


# -- the guest's network -----------------------------------------------------------------------------------------


def listening_sockets(addresses: list[list[Any]]) -> list[socket.socket]:
    """Bring the loopback interface up, and listen at IPv4 addresses of it.

    The sockets have other ports than those of the addresses, which the guest's own services may use: the cloud has
    connections translated.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for at, address in enumerate(dict.fromkeys(address for address, _ in addresses)):
            if not address.startswith("127."):
                _add_address(asking, f"lo:{at}", address)
        _set_up(asking, "lo")
    found = []
    for address, _ in addresses:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind((address, 0))
        listener.listen(BACKLOG)
        found.append(listener)
    return found


def _add_address(asking: socket.socket, label: str, address: str) -> None:
    for request, value in ((SET_ADDRESS, address), (SET_NETMASK, "255.255.255.255")):
        place = struct.pack("16sH2s4s8x", label.encode(), socket.AF_INET, b"", socket.inet_aton(value))
        fcntl.ioctl(asking, request, place)


def _set_up(asking: socket.socket, interface: str) -> None:
    name = interface.encode()
    flags = struct.unpack("16sH", fcntl.ioctl(asking, GET_FLAGS, struct.pack("16sH14x", name, 0))[:18])[1]
    fcntl.ioctl(asking, SET_FLAGS, struct.pack("16sH14x", name, flags | UP))


# -- the guest's files -------------------------------------------------------------------------------------------


def directory_of_guest(path: str) -> Path:
    """Return a directory below `root`, which is made if it is missing.

    A link of the guest's disk is replaced by a directory: until `root` is the root directory, it would lead to files of
    this machine.
    """
    place = Path("root")
    for part in Path(path).parts:
        place /= part
        if place.is_symlink() or not place.is_dir():
            place.unlink(missing_ok=True)
            place.mkdir()
    return place


def mount_layers(layers: list[tuple[int, str]]) -> None:
    """Mount the disk at `root`: directories of this machine (as descriptors) that no write reaches, below the disk's.

    The working directory is that of the guest.
    """
    disk = Path("disk")
    if not any(target == "" for _, target in layers):
        _mount("disk/base", "root", None, BIND)
    for descriptor, target in layers:
        upper, work = disk / (target or "base"), disk / f".work-{target or 'base'}"
        place = directory_of_guest(target)
        options = f"lowerdir=/proc/self/fd/{descriptor},upperdir={upper},workdir={work},userxattr"
        _mount("overlay", str(place), "overlay", NO_DEVICES, options)


def mount_system() -> None:
    """Mount what every system has, below `root`."""
    for name in ("proc", "sys", "dev", "run", "tmp", "root"):
        directory_of_guest(name)
    Path("root/tmp").chmod(0o1777)
    _mount("proc", "root/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC)
    with suppress(LaunchFailed):  # refused where parts of this machine's /sys are hidden; few programs need it
        _mount("sysfs", "root/sys", "sysfs", NO_SUID | NO_DEVICES | NO_EXEC | READ_ONLY)
    _mount("tmpfs", "root/run", "tmpfs", NO_SUID | NO_DEVICES, "mode=755,size=64m")
    Path("root/run/lock").mkdir()
    Path("root/run/lock").chmod(0o1777)
    _mount("tmpfs", "root/dev", "tmpfs", NO_SUID | NO_EXEC, "mode=755,size=1m")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        Path("root/dev", name).touch()
        _mount(f"/dev/{name}", f"root/dev/{name}", None, BIND)
    for name in ("pts", "shm"):
        Path("root/dev", name).mkdir()
    _mount("devpts", "root/dev/pts", "devpts", NO_SUID | NO_EXEC, "newinstance,ptmxmode=0666,mode=620")
    _mount("tmpfs", "root/dev/shm", "tmpfs", NO_SUID | NO_DEVICES, "mode=1777,size=64m")
    for name, to in DEVICE_LINKS.items():
        Path("root/dev", name).symlink_to(to)


def mount_read_only(source: str, target: str) -> None:
    """Show a directory below the guest's own at a path of the guest, which cannot change it."""
    place = directory_of_guest(target)
    _mount(source, str(place), None, BIND)
    _mount(source, str(place), None, BIND | REMOUNT | READ_ONLY | NO_SUID | NO_DEVICES)


def list_partitions(root: Path) -> None:
    """Write the volumes that are mounted in a guest as /proc/partitions does. root: the guest's root directory."""
    lines = ["major minor  #blocks  name", ""]
    for at, place in enumerate(sorted(root.joinpath(VOLUMES).glob("*")), start=1):
        if place.is_mount():
            room = os.statvfs(place)
            kibibytes = room.f_blocks * room.f_frsize // 1024
            lines.append(f"{VIRTUAL_DISKS:4} {at * MINORS_PER_DISK:7} {kibibytes:10} {place.name}")
    with suppress(OSError):  # a guest may have put something else there, which must not stop this process
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(root.joinpath(PARTITIONS), flags, 0o644), "w") as file:
            file.writelines(f"{line}\n" for line in lines)


def change_root() -> None:
    """Make `root` the root directory, and unmount everything else."""
    os.chdir("root")
    number = PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise LaunchFailed(f"Guests are not supported on {os.uname().machine} machines")
    _require(_libc.syscall(number, b".", b"."), "The root directory cannot be changed")
    _require(_libc.umount2(b".", DETACH), "The files of this machine cannot be unmounted")
    os.chdir("/")


# -- the networks of a cloud -------------------------------------------------------------------------------------


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
        _require(_libc.unshare(NEW_NETWORK), "A network namespace cannot be made")
        self._held[name] = os.open(OWN_NETWORK, os.O_RDONLY)
        join(self._own, NEW_NETWORK)

    def keep(self, name: str, given: list[int]) -> None:
        """Take a guest's namespaces over: of its network, users and mounts."""
        network, users, mounts = [os.dup(one) for one in given]
        self._held[name], self._guests[name] = network, (users, mounts)

    def drop(self, name: str) -> None:
        """Give a namespace up; it ends with its last process."""
        for descriptor in (self._held.pop(name), *self._guests.pop(name, ())):
            os.close(descriptor)

    def attach(self, name: str, volume: str, device: str) -> None:
        """Show a directory below the working directory at a path of a guest that runs."""

        def act() -> None:
            path = ctypes.c_char_p(volume.encode())
            tree = _libc.syscall(OPEN_TREE, HERE, path, CLONE | os.O_CLOEXEC)
            _require(min(tree, 0), f"{volume} cannot be attached")
            self._enter(name)
            place = Path("/", VOLUMES, Path(device).name)
            place.mkdir(parents=True, exist_ok=True)
            to = ctypes.c_char_p(str(place).encode())
            moved = _libc.syscall(MOVE_MOUNT, tree, ctypes.c_char_p(b""), HERE, to, WITHOUT_PATH)
            _require(moved, f"{volume} cannot be attached")
            Path(device).symlink_to(place)
            list_partitions(Path("/"))

        in_child(act)

    def detach(self, name: str, device: str) -> None:
        """Undo `attach`."""

        def act() -> None:
            self._enter(name)
            place = Path("/", VOLUMES, Path(device).name)
            Path(device).unlink(missing_ok=True)
            _require(_libc.umount2(str(place).encode(), DETACH), f"{device} cannot be detached")
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

    def tap(self, name: str, interface: str) -> Any:
        """Make an interface of a namespace, and return the file with its frames: the network card of a virtual machine.

        The interface exists until the file is closed everywhere.
        """
        flags = TAP | WITHOUT_INFORMATION | OFFLOAD
        with self._inside(name):
            made = Path("/dev/net/tun").open("r+b", buffering=0)  # noqa: SIM115  passed on
        fcntl.ioctl(made, SET_INTERFACE, struct.pack("16sH22x", interface.encode(), flags))
        return made

    def write(self, name: str, files: dict[str, str]) -> None:
        """Write settings of a namespace, in /proc/sys/net."""
        with self._inside(name):
            for path, value in files.items():
                Path("/proc/sys/net", path).write_text(value)

    def run(self, name: str, command: list[str], given: list[int]) -> None:
        """Run a command in a namespace. Its input is that of the descriptor, with the paths of namespaces for the
        names in it (`@name@`)."""
        with os.fdopen(os.dup(given[0])) as file:
            file.seek(0)
            text = NAME.sub(lambda found: f"/proc/self/fd/{self._held[found[1]]}", file.read())
        with self._inside(name):
            ran = subprocess.run(  # noqa: S603  the driver's own commands
                command, input=text, capture_output=True, text=True, check=False, pass_fds=list(self._held.values())
            )
        if ran.returncode != 0:
            raise LaunchFailed(f"{command[0]} in {name}: {ran.stderr.strip()[:LONGEST_COMPLAINT]}")

    def open(
        self, name: str, kind: int, bound: list[Any] | None, listen: bool, device: str = "", protocol: int = 0
    ) -> socket.socket:
        """Return a socket of a namespace. kind, protocol: of socket. bound: its address and port. device: the interface
        that it is restricted to, also for broadcasts."""
        with self._inside(name):
            made = socket.socket(socket.AF_INET, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if device:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        if bound is not None:
            made.bind((bound[0], bound[1]))
        if listen:
            made.listen(BACKLOG)
        return made

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
        said = file.read()
    os.waitpid(child, 0)
    if said:
        raise LaunchFailed(said)


def networks(wanted: dict[str, Any]) -> int:
    """Obey the orders of the cloud until it ends: messages of a method of `Networks` and its arguments."""
    control = socket.socket(fileno=wanted["control"])
    try:
        enter(wanted["ids"], NEW_NETWORK | NEW_MOUNTS)
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
            order["given"] = descriptors
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


# -- the tasks ---------------------------------------------------------------------------------------------------


def boot(wanted: dict[str, Any]) -> int:
    """Run a guest until it ends, and return its status."""
    control = socket.socket(fileno=wanted["control"])
    try:
        lock = os.open("lock", os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the last process of a previous guest has ended
        join(wanted["within"], NEW_USER)
        enter(wanted["ids"], NEW_MOUNTS | NEW_UTS | NEW_IPC | NEW_PIDS | NEW_NETWORK)
        _mount("none", "/", None, RECURSIVE | PRIVATE)
        layers = [(os.open(source, os.O_PATH), target) for source, target in wanted["layers"]]
        volumes = [(os.open(source, os.O_PATH), target) for source, target in wanted["volumes"]]
        become_root()
        live_with_parent()
        socket.sethostname(wanted["hostname"])
        connect(wanted["listen"], control)
        first = os.fork()
        if first == 0:
            live_with_parent()
            become_guest(wanted, layers, volumes, control, lock)
    except (OSError, LaunchFailed) as error:
        with suppress(BrokenPipeError):  # where the cloud does not want the guest any more
            control.send(str(error).encode())
        return 1
    control.close()
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(first, signal.SIGTERM))
    signal.signal(signal.SIGHUP, lambda number, frame: os.kill(first, signal.SIGKILL))
    status = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    return status if status >= 0 else 128 - status


def virtual(wanted: dict[str, Any]) -> int:
    """Replace this process by a program that runs a virtual machine. Its errors are in the file `qemu.log`."""
    control = socket.socket(fileno=wanted["control"])
    try:
        kept = [os.open("lock", os.O_RDONLY | os.O_CREAT, 0o600)]
        fcntl.flock(kept[0], fcntl.LOCK_EX)  # until a previous machine with this disk has ended
        opened = {name: os.open(path, os.O_RDONLY) for name, path in wanted["opened"].items()}
        errors = os.open("qemu.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        if wanted["groups"] is not None:
            os.setgroups(wanted["groups"])
        join(wanted["within"], NEW_USER)
        enter(wanted["ids"], NEW_NETWORK)
        take_root_ids()
        live_with_parent()
        if os.getppid() != wanted["parent"]:
            return 1
        connect(wanted["listen"], control)
        for descriptor in (*kept, *opened.values(), wanted["monitor"]):
            os.set_inheritable(descriptor, True)
        numbers = {f"@{name}@": str(number) for name, number in {**opened, "monitor": wanted["monitor"]}.items()}
        command = [DESCRIPTOR.sub(lambda found: numbers[found[0]], word) for word in wanted["command"]]
        control.send(b"ready")
        os.dup2(errors, 2)
        os.execve(command[0], command, wanted["environment"])  # noqa: S606  the driver's own
    except (OSError, LaunchFailed) as error:
        with suppress(OSError):
            control.send(str(error).encode())
    return 1


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


def become_guest(
    wanted: dict[str, Any],
    layers: list[tuple[int, str]],
    volumes: list[tuple[int, str]],
    control: socket.socket,
    lock: int,
) -> None:
    """Replace this process, the first of its PID namespace, by the guest's first process; does not return."""
    try:
        os.umask(0o022)
        mount_layers(layers)
        mount_system()
        for path, to in wanted["links"].items():
            with suppress(FileExistsError):
                Path("root", path).symlink_to(to)
        for source, target in wanted["binds"]:
            mount_read_only(source, target)
        for descriptor, target in volumes:
            place = Path(VOLUMES, Path(target).name)
            Path("root", place).mkdir(parents=True, exist_ok=True)
            _mount(f"/proc/self/fd/{descriptor}", f"root/{place}", None, BIND)
            Path("root", target).symlink_to(Path("/", place))
        Path("root", PARTITIONS).parent.mkdir(parents=True, exist_ok=True)
        list_partitions(Path("root"))
        if Path("root/proc/partitions").exists():
            _mount(f"root/{PARTITIONS}", "root/proc/partitions", None, BIND)
        change_root()
        for path, content in wanted["files"].items():
            place = Path("/", path)  # not before: links of the guest's disk lead to the guest's files now
            place.unlink(missing_ok=True)  # it may belong to a user that the guest does not have
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
            place.chmod(0o755 if place.parent.name == "bin" else 0o644)
        control.send(b"ready")
        os.set_inheritable(lock, True)  # a file's lock lasts as long as any process of the guest
        os.execve(wanted["command"][0], wanted["command"], wanted["environment"])  # noqa: S606  the guest's program
    except (OSError, LaunchFailed) as error:
        control.send(str(error).encode())
        print(error, file=sys.stderr, flush=True)  # on the console, if the guest was ready
        os._exit(1)


def in_users_namespace(wanted: dict[str, Any]) -> None:
    """Become the root user of a namespace in which the files of guests have the IDs that guests see."""
    enter(wanted["ids"], NEW_MOUNTS)
    become_root()


def delete(wanted: dict[str, Any]) -> int:
    """Delete directories whose files may belong to users of guests."""
    in_users_namespace(wanted)
    for name in wanted["names"]:
        shutil.rmtree(name, ignore_errors=True)
    return 0


def copy(wanted: dict[str, Any]) -> int:
    """Replace a directory by a copy of another one, or by an empty one if that does not exist (names)."""
    in_users_namespace(wanted)
    source, target = wanted["names"]
    draft = f"{target}.part"
    shutil.rmtree(draft, ignore_errors=True)
    Path(draft).mkdir(mode=0o755)
    if Path(source).exists():
        subprocess.run(["cp", "-a", "--sparse=always", f"{source}/.", draft], check=True)  # noqa: S603, S607
    shutil.rmtree(target, ignore_errors=True)
    Path(draft).rename(target)
    return 0


def unpack(wanted: dict[str, Any]) -> int:
    """Unpack the tar file on the standard input into `root`; without device files, which only real root may make.

    An image contains absolute links and programs with special modes, which the filters of tarfile refuse or change.
    Instead, `root` becomes the root directory: no name and no link in the archive leads to a file of this machine.
    """
    only_root = wanted["ids"]["uid"][0].endswith(" 1") and len(wanted["ids"]["uid"]) == 1
    in_users_namespace(wanted)
    os.umask(0)
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|*") as archive:  # imports what decompresses, while it can
        archive.extraction_filter = lambda member, path: member  # without effect in releases before filters
        os.chroot("root")
        os.chdir("/")
        for member in archive:
            if only_root:
                member.uid = member.gid = 0
            if not member.isdev():
                archive.extract(member, "/", numeric_owner=True)
    return 0


def run(wanted: dict[str, Any]) -> int:
    """Run a command (command)."""
    in_users_namespace(wanted)
    return subprocess.run(wanted["command"], check=False).returncode  # noqa: S603  the driver's own


TASKS = {
    "run": run,
    "boot": boot,
    "delete": delete,
    "unpack": unpack,
    "networks": networks,
    "copy": copy,
    "virtual": virtual,
}


def main() -> int:
    wanted = json.loads(sys.argv[1])
    live_with_parent()
    if os.getppid() != wanted["parent"]:
        return 1
    os.chdir(wanted["directory"])
    given = sorted({2, *(wanted[name] for name in ("control", "within", "monitor") if name in wanted)})
    for descriptor in given[1:]:
        os.set_inheritable(descriptor, False)
    for before, after in pairwise([*given, os.sysconf("SC_OPEN_MAX")]):
        os.closerange(before + 1, after)  # the guest gets no other open file of this machine
    return TASKS[wanted["task"]](wanted)


if __name__ == "__main__":
    sys.exit(main())
