"""A cloud with real guests for tests: they have the programs of this machine."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from stoker.emulator.guests.choices import guest_driver
from stoker.emulator.guests.driver import GuestsUnavailable
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud

from .conftest import Nova


class RealNova(Nova):
    """The compute service in a cloud on the real clock."""

    def wait(self, seconds: float = 2) -> None:
        pass

    def until(self, what: Callable[[], bool], seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, "This did not happen in time."
            time.sleep(0.02)

    def console(self, key: str) -> str:
        answer = self.act(key, "os-getConsoleOutput", {})
        return str(answer.json["output"]) if answer.status == 200 else ""

    def script(self, *lines: str) -> str:
        """A new server that runs a script at its first boot; when the script has ended."""
        text = "\n".join(("#!/bin/sh", *lines, "echo END OF SCRIPT", ""))
        key = self.boot(user_data=base64.b64encode(text.encode()).decode(), hostname="web")
        self.until(lambda: "END OF SCRIPT" in self.console(key) or self.status(key) == "ERROR")
        return key


@contextmanager
def guest_cloud() -> Iterator[RealNova]:
    """A cloud in which guests run; the test is skipped, with the reason, where they cannot."""
    try:
        driver = guest_driver("namespace", "host")
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    with ServedCloud(new_cloud(pace=0.1, guests=driver)) as served:
        yield RealNova(served)
