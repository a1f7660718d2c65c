"""Packages with plug-ins, installed for one test."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base import extensions
from testing.harness import World

Install = Callable[..., None]
"""`install(package, entry_points, source)`: `entry_points` maps groups to objects, `source` is that of the module."""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install packages of one module each, which has the package's name."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def installed(package: str, entry_points: Mapping[str, str], source: str) -> None:
        info = site / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"[{group}]\nown = {value}\n" for group, value in entry_points.items()]
        (info / "entry_points.txt").write_text("\n".join(lines))
        (site / f"{package}.py").write_text(source)
        monkeypatch.delitem(sys.modules, package, raising=False)
        extensions.forget()

    yield installed
    extensions.forget()


@pytest.fixture
async def begin(served: ServedCloud, tmp_path: Path) -> AsyncIterator[Callable[[], Awaitable[World]]]:
    """`await begin()`: a whole Stoker, which loads the packages that are installed by then."""
    begun: list[World] = []

    async def start() -> World:
        begun.append(await World(tmp_path / "stoker.db", served).start())
        return begun[-1]

    yield start
    for world in begun:
        await world.stop()
