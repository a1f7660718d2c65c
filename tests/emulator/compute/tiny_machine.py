"""A disk image of virtual machines whose kernel is a few instructions: it boots within a second of an emulated
processor.

The kernel writes lines to the serial port, gives back every device that is unplugged, and switches the machine off when
its power button is pressed. QEMU loads it by the Multiboot Specification 0.6.96, in the address format of its header.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import orjson

from openstack_emulator.guests.images import DISK, INITRD, KERNEL, LOCK, MANIFEST, Image

PLACE = 0x100000
MAGIC, ADDRESSES = 0x1BADB002, 1 << 16
BOOTED, POWER_BUTTON = b"The kernel has booted.\n", b"The power button is pressed.\n"
SERIAL, POWER_STATUS, POWER_ENABLE, POWER_CONTROL = 0x3F8, 0x600, 0x602, 0x604
"""I/O ports of the first serial port, and of ACPI (chapter 4.8.3), where QEMU's machine `pc` has them."""
PRESSED, SLEEP = 1 << 8, 1 << 13
UNPLUGGED, EJECT = 0xAE04, 0xAE08
"""I/O ports with the slots whose devices are to be given back (docs/specs/acpi_pci_hotplug of QEMU)."""


def kernel() -> bytes:
    """Return the kernel, in 32-bit instructions of x86."""

    def program(booted: int, pressed: int) -> bytes:
        """Return the instructions. booted, pressed: the addresses of the lines."""
        enable = b"\x66\xba" + struct.pack("<H", POWER_ENABLE) + b"\x66\xb8" + struct.pack("<H", PRESSED) + b"\x66\xef"
        eject = b"\x66\xba" + struct.pack("<H", UNPLUGGED) + b"\xed"  # mov dx, …; in eax, dx
        eject += b"\x66\xba" + struct.pack("<H", EJECT) + b"\xef"  # mov dx, …; out dx, eax
        poll = b"\x66\xba" + struct.pack("<H", POWER_STATUS) + b"\x66\xed"  # mov dx, …; in ax, dx
        poll += b"\x66\xa9" + struct.pack("<H", PRESSED)  # test ax, …
        again = eject + poll
        again += b"\x74" + struct.pack("b", -len(again) - 2)  # jz again
        off = b"\x66\xba" + struct.pack("<H", POWER_CONTROL) + b"\x66\xb8" + struct.pack("<H", SLEEP) + b"\x66\xef"
        return (
            b"\xfa" + print_instructions(booted) + enable + again + print_instructions(pressed) + off + b"\xf4\xeb\xfd"
        )

    def print_instructions(line: int) -> bytes:
        """Return instructions that write a line, whose address this is and which ends with a zero, to the port."""
        start = b"\x66\xba" + struct.pack("<H", SERIAL) + b"\xbe" + struct.pack("<I", line)  # mov dx, …; mov esi, …
        return start + b"\xac\x84\xc0\x74\x03\xee\xeb\xf8"  # lodsb; test al, al; jz end; out dx, al; jmp lodsb

    entry = PLACE + 32
    lines = entry + len(program(0, 0))
    text = program(lines, lines + len(BOOTED) + 1) + BOOTED + b"\0" + POWER_BUTTON + b"\0"
    end = entry + len(text)
    checksum = -(MAGIC + ADDRESSES) & 0xFFFFFFFF
    return struct.pack("<8I", MAGIC, ADDRESSES, checksum, PLACE, PLACE, end, end, entry) + text


def tiny_image(directory: Path) -> Image:
    """Make the image in an empty directory, and return it."""
    directory.mkdir(parents=True, exist_ok=True)
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", str(directory / DISK), "16M"], check=True)
    for name, content in ((KERNEL, kernel()), (INITRD, b"none")):
        directory.joinpath(name).write_bytes(content)
        directory.joinpath(name).chmod(0o644)  # whatever the umask is
    directory.joinpath(MANIFEST).write_bytes(orjson.dumps({"format": "qcow2", "sha256": "tiny"}))
    return Image("tiny", disk=directory, lock=directory / LOCK)
