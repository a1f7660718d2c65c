"""A running Stoker with guests that have an image which `stoker guests build` has built."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stoker.emulator.guests.building import FEATURES, RECIPES, BuildFailed, build
from stoker.emulator.guests.choices import guest_driver
from stoker.emulator.guests.driver import GuestsUnavailable
from stoker.emulator.guests.images import built_images, cache_directory
from tests.cli.cli_shell import ANY_PORTS, Shell, shell_in

IMAGE = os.environ.get("STOKER_TEST_GUEST_IMAGE", "host")


def require_features(*names: str) -> None:
    """Skip the test, with the reason, unless the image has the features; build the image if there is none."""
    if IMAGE in RECIPES:
        cache_directory().mkdir(parents=True, exist_ok=True)
        with (cache_directory() / f".{IMAGE}.lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # other processes of the tests wait for the image
            if IMAGE not in [image["name"] for image in built_images()]:
                try:
                    build(IMAGE, features=FEATURES)
                except (BuildFailed, GuestsUnavailable) as error:
                    pytest.skip(f"The guest image {IMAGE!r} cannot be built: {error}")
    present = [feature for image in built_images() if image["name"] == IMAGE for feature in image["features"]]
    if missing := [name for name in names if name not in present]:
        pytest.skip(
            f"The guest image {IMAGE!r} has no {', '.join(missing)}. `stoker guests build --with {','.join(FEATURES)}` "
            "builds `debian`, and `make guests IMAGE=debian` uses it."
        )


def shell_with_guests(directory: Path) -> Iterator[Shell]:
    """Start Stoker, for a fixture; the test is skipped, with the reason, where guests cannot run."""
    try:
        asyncio.run(guest_driver("namespace", IMAGE).close())
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    shell = shell_in(directory)
    shell.environment["XDG_CACHE_HOME"] = str(cache_directory().parents[1])
    shell.ok("up", "--detach", "--guests", "namespace", "--guest-image", IMAGE, *ANY_PORTS)
    yield shell
    shell.ok("down")
