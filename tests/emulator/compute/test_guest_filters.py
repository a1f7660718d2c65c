"""The filter of system calls of guests in namespaces, evaluated as the kernel does it."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from openstack_emulator.guests.launch import filters
from openstack_emulator.guests.launch.filters import ARCHITECTURES, NUMBERS, OLD_NUMBERS, X32, X86_64, guest_filter
from openstack_emulator.guests.launch.linux import LaunchFailed

HEADERS = {
    X86_64: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "generic": Path("/usr/include/asm-generic/unistd.h"),
}
ALLOWED = "allowed"


def decided(machine: str, number: int, *arguments: int, architecture: int | None = None) -> str:
    """What the filter of a machine decides: an error's name, or that the call is permitted."""
    kind = ARCHITECTURES[machine] if architecture is None else architecture
    data = struct.pack("=IIQ6Q", number, kind, 0, *arguments, *[0] * (6 - len(arguments)))
    at = value = 0
    program = b"".join(step.to_bytes() for step in guest_filter(machine))
    while True:
        code, matched, other, operand = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        match code:
            case filters.LOAD:
                (value,) = struct.unpack_from("=I", data, operand)
            case filters.AND:
                value &= operand
            case filters.EQUAL:
                at += matched if value == operand else other
            case filters.AT_LEAST:
                at += matched if value >= operand else other
            case filters.ANY_BIT:
                at += matched if value & operand else other
            case filters.RETURN if operand == filters.ALLOW:
                return ALLOWED
            case filters.RETURN:
                return errno.errorcode[operand & 0xFFFF]


def called(machine: str, name: str, *arguments: int) -> str:
    return decided(machine, filters.system_call(name, machine), *arguments)


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_system_calls_filtered_by_arguments(machine: str) -> None:
    new_user, thread = 0x10000000, 0x3D0F00
    assert [called(machine, "clone", flags) for flags in (17, thread, new_user | 17)] == [ALLOWED, ALLOWED, "EPERM"]
    assert [called(machine, "unshare", flags) for flags in (0x200, new_user, 0x80)] == [ALLOWED, "EPERM", "EPERM"]
    assert called(machine, "clone3") == "ENOSYS", "its flags cannot be read, so that programs must use clone"
    families = {1: ALLOWED, 2: ALLOWED, 10: ALLOWED, 16: ALLOWED, 17: ALLOWED, 40: "EAFNOSUPPORT", 38: "EAFNOSUPPORT"}
    for call in ("socket", "socketpair"):
        assert {one: called(machine, call, one) for one in families} == families
        assert called(machine, call, 40 | 1 << 32) == "EAFNOSUPPORT", "the kernel reads the lower half"
    bind, remount, move, private, magic = 4096, 32, 8192, 1 << 18, 0xC0ED0000
    for flags in (bind, remount | bind, move, private, magic | bind, 1 << 20 | 16384):
        assert called(machine, "mount", 1, 2, 0, flags) == ALLOWED
    for flags in (0, 1, magic, magic | 1, magic | 2, 1 << 24):
        assert called(machine, "mount", 1, 2, 3, flags) == "EPERM", "a new file system"


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_denied_system_calls(machine: str) -> None:
    by_arguments = {"clone", "mount", "socket", "socketpair", "unshare"}
    for name in NUMBERS.keys() - by_arguments:
        assert called(machine, name) == ("ENOSYS" if name in filters.UNKNOWN else "EPERM"), name
    assert {decided(machine, number) for number in (0, 1, 3, 57, 63, 64, 200)} == {ALLOWED}
    assert decided(machine, 1, architecture=0x40000003) == "ENOSYS", "a program for 32 bits"


def test_system_call_numbers_of_other_architectures() -> None:
    for number in (NUMBERS["unshare"][0], 1):
        assert decided(X86_64, X32 | number) == "ENOSYS"
    assert decided(X86_64, OLD_NUMBERS["iopl"]) == "EPERM"


def test_filter_refuses_unknown_architectures() -> None:
    with pytest.raises(LaunchFailed, match="not supported on sparc machines"):
        guest_filter("sparc")


@pytest.mark.parametrize("kind", HEADERS)
def test_system_call_numbers_equal_the_kernel_headers(kind: str) -> None:
    if not HEADERS[kind].exists():
        pytest.skip(f"{HEADERS[kind]} does not exist: it is in the package linux-libc-dev.")
    lines = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)$", HEADERS[kind].read_text(), re.MULTILINE)
    known = {name: int(number) for name, number in lines}
    ours = {name: numbers[kind != X86_64] for name, numbers in NUMBERS.items()}
    ours |= OLD_NUMBERS if kind == X86_64 else {}
    assert {name: known.get(name) for name in ours} == ours
