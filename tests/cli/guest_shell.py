"""A running Stoker with guests, and the image that their tests build with `stoker guests build`.

The image has all features. It is built once per machine and state of its recipe, in a cache of the tests: the images
of the user stay as they are. `STOKER_TEST_GUEST_IMAGE=host` runs what can run with this machine's own programs instead,
and so does a machine on which the image cannot be built.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest

from openstack_emulator.core.guests.driver import GuestsUnavailable
from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.guests import agents, building
from openstack_emulator.guests.building import FEATURES
from openstack_emulator.guests.choices import guest_driver
from openstack_emulator.guests.ids import id_maps
from openstack_emulator.guests.images import HOST
from openstack_emulator.guests.namespace_process import NamespaceProcess
from tests.cli.cli_shell import ANY_PORTS, BIN, Shell, shell_in

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stoker-tests"
BUILT = "debian"
WANTED = os.environ.get("STOKER_TEST_GUEST_IMAGE") or BUILT
BUILD_SECONDS = 480
"""How long a build may take; the test that waits for it fails after 600 seconds."""


@dataclass(frozen=True)
class GuestImage:
    """The image of the tests. missing: why it is not the built one, which has the features; else empty."""

    name: str
    missing: str = ""


@cache
def guest_image() -> GuestImage:
    """Return the image, and build it first if there is none of the present recipe."""
    if WANTED != BUILT:
        return GuestImage(WANTED, f"STOKER_TEST_GUEST_IMAGE is {WANTED!r}")
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # other runs of the tests wait for the image
        recipe, built = _recipe(), CACHE / "stoker" / "guests" / BUILT / "recipe"
        if built.is_file() and built.read_text() == recipe:
            return GuestImage(BUILT)
        if problem := _no_guests() or _build():
            return GuestImage(HOST, f"The guest image {BUILT!r} cannot be built: {problem}")
        built.write_text(recipe)
    return GuestImage(BUILT)


def _recipe() -> str:
    """A digest of what decides the content of the image."""
    sources = [Path(module.__file__ or "").read_bytes() for module in (agents, building)]
    return hashlib.sha256(b"".join(sources)).hexdigest()


def _no_guests() -> str:
    """Why no guests run on this machine; else empty."""
    with tempfile.TemporaryDirectory() as place:
        try:
            NamespaceProcess(id_maps(), Path(place)).close()
        except GuestsUnavailable as error:
            return str(error)
    return ""


def _build() -> str:
    """Build the image with the command for it, and return why that failed; else empty."""
    with subprocess.Popen(
        [BIN / "stoker", "guests", "build", BUILT, "--with", ",".join(FEATURES)],
        env={**os.environ, "XDG_CACHE_HOME": str(CACHE), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            _, output = process.communicate(timeout=BUILD_SECONDS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            return f"the build took more than {BUILD_SECONDS} seconds"
    return "" if process.returncode == 0 else output[-500:]


def require_built_image() -> None:
    """Skip the test, with the reason, without the built image, which has cloud-init, an SSH server and all features."""
    if missing := guest_image().missing:
        pytest.skip(missing)


def shell_with_guests(directory: Path) -> Iterator[Shell]:
    """Start Stoker, for a fixture; the test is skipped, with the reason, where guests cannot run."""
    image = guest_image().name
    with patch.dict(os.environ, XDG_CACHE_HOME=str(CACHE)):
        try:
            asyncio.run(guest_driver(Selection("namespace"), image).close())
        except GuestsUnavailable as error:
            pytest.skip(str(error))
    shell = shell_in(directory)
    shell.environment["XDG_CACHE_HOME"] = str(CACHE)
    shell.ok("up", "--detach", "--pace", "0.1", "--guests", "namespace", "--guest-image", image, *ANY_PORTS)
    yield shell
    shell.ok("down")
