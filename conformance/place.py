"""An embedded Stoker for the time of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

STOKER = str(Path(sys.executable).with_name("stoker"))
HIDDEN_TAG = "hidden"
"""Stacks with this tag are left out of lists, as the suite is told."""


@dataclass(frozen=True, slots=True)
class Place:
    """The URL of the identity service, and the file by which clients find everything."""

    identity: str
    clouds: Path


@contextmanager
def embedded(home: Path) -> Iterator[Place]:
    """A Stoker and its emulated cloud on free ports, with their data and logs in `home`; stopped in the end."""
    data = home / "data"
    settings = home / "stoker.conf"
    settings.write_text(f"[DEFAULT]\nhidden_stack_tags = {HIDDEN_TAG}\n")
    free = [word for name in ("api", "cfn", "cloud") for word in (f"--{name}-port", "0")]
    try:
        _stoker("up", "--detach", "--data-dir", str(data), "--config-file", str(settings), *free)
        addresses = json.loads((data / "endpoints.json").read_text())
        yield Place(addresses["identity"], data / "clouds.yaml")
    finally:
        _stoker("down", "--data-dir", str(data))


def _stoker(*arguments: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "STOKER_"))}
    subprocess.run([STOKER, *arguments], check=True, env=kept, stdout=subprocess.DEVNULL)
