"""Tasks that start a guest: in namespaces, or as a virtual machine."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from openstack_emulator.guests.launch.connecting import connect
from openstack_emulator.guests.launch.files import (
    PARTITIONS,
    VOLUMES,
    change_root,
    directory_of_guest,
    list_partitions,
    mount_layers,
    mount_read_only,
    mount_system,
    opened_layers,
)
from openstack_emulator.guests.launch.filters import close_system_calls
from openstack_emulator.guests.launch.identities import become_root, enter, take_root_ids
from openstack_emulator.guests.launch.linux import (
    BIND,
    NEW_IPC,
    NEW_MOUNTS,
    NEW_NETWORK,
    NEW_PIDS,
    NEW_USER,
    NEW_UTS,
    PRIVATE,
    RECURSIVE,
    LaunchFailed,
    join,
    live_with_parent,
    mount,
)

DESCRIPTOR = re.compile("@[a-z]+@")


def boot(task: dict[str, Any]) -> int:
    """Run a guest until it ends, and return its status."""
    control = socket.socket(fileno=task["control"])
    try:
        lock = os.open("lock", os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the last process of a previous guest has ended
        join(task["within"], NEW_USER)
        enter(task["ids"], NEW_MOUNTS | NEW_UTS | NEW_IPC | NEW_PIDS | NEW_NETWORK)
        mount("none", "/", None, RECURSIVE | PRIVATE)
        layers, disk = opened_layers(task["layers"]), os.open(task["disk"], os.O_PATH)
        volumes = [(os.open(source, os.O_PATH), target, layered) for source, target, layered in task["volumes"]]
        become_root()
        live_with_parent()
        socket.sethostname(task["hostname"])
        connect(task["listen"], control)
        first = os.fork()
        if first == 0:
            live_with_parent()
            become_guest(task, layers, disk, volumes, control, lock)
    except (OSError, LaunchFailed) as error:
        with suppress(BrokenPipeError):  # where the cloud does not want the guest any more
            control.send(str(error).encode())
        return 1
    control.close()
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(first, signal.SIGTERM))
    signal.signal(signal.SIGHUP, lambda number, frame: os.kill(first, signal.SIGKILL))
    status = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    return status if status >= 0 else 128 - status


def virtual(task: dict[str, Any]) -> int:
    """Replace this process by a program that runs a virtual machine. Its errors are in the file `qemu.log`."""
    control = socket.socket(fileno=task["control"])
    try:
        kept_open = [os.open("lock", os.O_RDONLY | os.O_CREAT, 0o600)]
        fcntl.flock(kept_open[0], fcntl.LOCK_EX)  # until a previous machine with this disk has ended
        opened = {name: os.open(path, os.O_RDONLY) for name, path in task["opened"].items()}
        errors = os.open("qemu.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        if task["groups"] is not None:
            os.setgroups(task["groups"])
        join(task["within"], NEW_USER)
        enter(task["ids"], NEW_NETWORK)
        take_root_ids()
        live_with_parent()
        if os.getppid() != task["parent"]:
            return 1
        connect(task["listen"], control)
        for descriptor in (*kept_open, *opened.values(), task["monitor"]):
            os.set_inheritable(descriptor, True)
        numbers = {f"@{name}@": str(number) for name, number in {**opened, "monitor": task["monitor"]}.items()}
        command = [DESCRIPTOR.sub(lambda found: numbers[found[0]], word) for word in task["command"]]
        control.send(b"ready")
        os.dup2(errors, 2)
        os.execve(command[0], command, task["environment"])  # noqa: S606  the driver's own
    except (OSError, LaunchFailed) as error:
        with suppress(OSError):
            control.send(str(error).encode())
    return 1


def become_guest(
    task: dict[str, Any],
    layers: list[tuple[int, str]],
    disk: int,
    volumes: list[tuple[int, str, bool]],
    control: socket.socket,
    lock: int,
) -> None:
    """Replace this process, the first of its PID namespace, by the guest's first process; does not return."""
    try:
        mount_layers(layers, disk, Path("root"))
        mount_system()
        for path, to in task["links"].items():
            with suppress(FileExistsError):
                (directory_of_guest(str(Path(path).parent)) / Path(path).name).symlink_to(to)
        for source, target in task["binds"]:
            mount_read_only(source, target)
        for descriptor, target, layered in volumes:
            place = Path(VOLUMES, Path(target).name)
            Path("root", place).mkdir(parents=True, exist_ok=True)
            if layered:
                mount_layers(layers, descriptor, Path("root", place))
            else:
                mount(f"/proc/self/fd/{descriptor}", f"root/{place}", None, BIND)
            Path("root", target).symlink_to(Path("/", place))
        Path("root", PARTITIONS).parent.mkdir(parents=True, exist_ok=True)
        list_partitions(Path("root"))
        if Path("root/proc/partitions").exists():
            mount(f"root/{PARTITIONS}", "root/proc/partitions", None, BIND)
        change_root()
        for path, content in task["files"].items():
            place = Path("/", path)  # not before: links of the guest's disk lead to the guest's files now
            place.unlink(missing_ok=True)  # it may belong to a user that the guest does not have
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
            place.chmod(0o755 if place.parent.name == "bin" else 0o644)
        close_system_calls()
        control.send(b"ready")
        os.set_inheritable(lock, True)  # a file's lock lasts as long as any process of the guest
        os.execve(task["command"][0], task["command"], task["environment"])  # noqa: S606  the guest's program
    except (OSError, LaunchFailed) as error:
        control.send(str(error).encode())
        print(error, file=sys.stderr, flush=True)  # on the console, if the guest was ready
        os._exit(1)
