"""A filter of system calls for guests in namespaces, which share the kernel of this machine (seccomp(2)).

Root in a guest has all capabilities in its own namespaces, so that the kernel's own checks refuse it little. Closed are
calls with which programs of containers have left them or changed the kernel: new namespaces, new file systems, the
kernel's keys, programs, rings and traces. Their numbers are those of the kernel's tables `arch/*/syscall*.tbl`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from openstack_emulator.guests.launch.linux import LaunchFailed, libc, require

SET_SECCOMP, MODE_FILTER = 22, 2
X86_64 = "x86_64"
ARCHITECTURES = {X86_64: 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}
"""The machines on which guests run, and what the kernel calls their system calls (`AUDIT_ARCH_*`)."""
X32 = 0x40000000
"""Added to the numbers of x86_64 by programs with short pointers."""
NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "clone": (56, 220), "clone3": (435, 435),
    "delete_module": (176, 106), "fanotify_init": (300, 262), "finit_module": (313, 273), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fsopen": (430, 430), "fspick": (433, 433), "init_module": (175, 105),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "kcmp": (312, 272),
    "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219), "lookup_dcookie": (212, 18),
    "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429), "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241), "pivot_root": (155, 41),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "request_key": (249, 218), "setns": (308, 268),
    "socket": (41, 198), "socketpair": (53, 199), "swapoff": (168, 225), "swapon": (167, 224), "syslog": (103, 116),
    "unshare": (272, 97), "userfaultfd": (323, 282),
}  # fmt: skip
"""The numbers of x86_64, and of the machines whose tables are the generic one."""
OLD_NUMBERS = {"_sysctl": 156, "ioperm": 173, "iopl": 172, "modify_ldt": 154, "sysfs": 139, "uselib": 134, "ustat": 136}
"""Calls that x86_64 has and later machines do not."""
UNKNOWN = frozenset(
    {
        *("clone3", "fsconfig", "fsmount", "fsopen", "fspick", "mount_setattr", "move_mount", "open_tree"),
        *("io_uring_enter", "io_uring_register", "io_uring_setup"),
    }
)
"""Calls that seem not to exist: programs then use older ones, whose arguments the filter can read."""
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17}
"""The kinds of sockets that guests may have: not AF_VSOCK, which leads to this machine, and no rare ones."""
NAMESPACES = 0x7E020000
"""Of users, mounts, host names, IPC, processes, networks and control groups, as flags of clone and unshare."""
TIMES = 0x80
"""A namespace of clocks, for unshare; in the flags of clone, it belongs to a signal."""
BIND, REMOUNT, MOVE, KIND = 4096, 32, 8192, 0x1E0000
"""Flags of mounts that make no new file system; KIND: those that change how mounts are passed on."""
MAGIC, MAGIC_BITS = 0xC0ED0000, 0xFFFF0000
"""What old programs add to the flags of mounts; the kernel then ignores all flags in these bits."""

LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
ALLOW, ERROR = 0x7FFF0000, 0x00050000


@dataclass(frozen=True)
class Step:
    """An instruction (struct sock_filter). matched, other: how many instructions a comparison skips."""

    code: int
    value: int
    matched: int = 0
    other: int = 0

    def to_bytes(self) -> bytes:
        """Return the instruction as the kernel reads it."""
        return struct.pack("=HBBI", self.code, self.matched, self.other, self.value)


def _refused(number: int) -> Step:
    return Step(RETURN, ERROR | number)


def _argument(index: int) -> Step:
    """Load the lower half of an argument, in which all flags are."""
    return Step(LOAD, ARGUMENTS_AT + 8 * index)


def _only_for(number: int, steps: list[Step]) -> list[Step]:
    """Return steps, which must end with a result, for the system call of a number."""
    return [Step(EQUAL, number, 0, len(steps)), *steps]


def _without(flags: int) -> list[Step]:
    """Permit the call if its first argument has none of the flags."""
    return [_argument(0), Step(ANY_BIT, flags, 0, 1), _refused(errno.EPERM), Step(RETURN, ALLOW)]


def _of_families(families: Iterable[int]) -> list[Step]:
    """Permit the call if its first argument is one of these."""
    permitted = [step for family in families for step in (Step(EQUAL, family, 0, 1), Step(RETURN, ALLOW))]
    return [_argument(0), *permitted, _refused(errno.EAFNOSUPPORT)]


def _of_no_new_file_system() -> list[Step]:
    """Permit the call if its fourth argument, the flags of a mount, says so."""
    return [
        _argument(3),
        Step(AND, MAGIC_BITS),
        Step(EQUAL, MAGIC, 2, 0),
        _argument(3),
        Step(ANY_BIT, KIND, 2, 0),
        _argument(3),
        Step(ANY_BIT, BIND | REMOUNT | MOVE, 0, 1),
        Step(RETURN, ALLOW),
        _refused(errno.EPERM),
    ]


def system_call(name: str, machine: str) -> int:
    """Return the number of a system call. Raises: LaunchFailed on machines that are not known."""
    if machine not in ARCHITECTURES:
        raise LaunchFailed(f"Guests are not supported on {machine} machines")
    return NUMBERS[name][machine != X86_64]


def guest_filter(machine: str) -> list[Step]:
    """Return the filter of guests on a kind of machine. Raises: LaunchFailed."""
    by_arguments = {
        "clone": _without(NAMESPACES),
        "unshare": _without(NAMESPACES | TIMES),
        "socket": _of_families(FAMILIES.values()),
        "socketpair": _of_families(FAMILIES.values()),
        "mount": _of_no_new_file_system(),
    }
    numbers = {name: system_call(name, machine) for name in NUMBERS}
    steps = [
        Step(LOAD, ARCHITECTURE_AT),
        Step(EQUAL, ARCHITECTURES[machine], 1, 0),
        _refused(errno.ENOSYS),  # programs of 32 bits, whose calls have other numbers
        Step(LOAD, NUMBER_AT),
    ]
    if machine == X86_64:
        steps += [Step(AT_LEAST, X32, 0, 1), _refused(errno.ENOSYS)]
        numbers |= OLD_NUMBERS
    for name, number in numbers.items():
        refusal = _refused(errno.ENOSYS if name in UNKNOWN else errno.EPERM)
        steps += _only_for(number, by_arguments.get(name, [refusal]))
    return [*steps, Step(RETURN, ALLOW)]


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def close_system_calls() -> None:
    """Filter the system calls of this process, which is root in its namespaces, and of all that it starts.

    Raises: LaunchFailed.
    """
    steps = guest_filter(os.uname().machine)
    program = _Program(len(steps), b"".join(step.to_bytes() for step in steps))
    done = libc.prctl(SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0)
    require(done, "The system calls of the guest cannot be filtered")
