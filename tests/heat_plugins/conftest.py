"""Stoker with modules that were written for Heat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base import extensions
from stoker.engine.settings import EngineSettings
from stoker_heat_plugins import client_plugins, entry_points, loading, performance, template_formats
from testing.harness import World
from tests.heat_plugins import appliance

MODULES = Path(__file__).with_name("modules")
ENTRY_POINTS = """
[stoker.resources]
heat = stoker_heat_plugins.loading:TYPES
[stoker.constraints]
heat = stoker_heat_plugins.loading:CONSTRAINTS
[stoker.lifecycle]
heat = stoker_heat_plugins.entry_points:LIFECYCLE
[stoker.event_sinks]
heat = stoker_heat_plugins.entry_points:EVENT_SINKS
[stoker.template_functions]
heat = stoker_heat_plugins.template_formats:FUNCTIONS
[stoker.template_versions]
heat = stoker_heat_plugins.template_formats:VERSIONS
[heat.templates]
heat_template_version.2030-01-01 = tests.heat_plugins.formats:RackTemplate
[heat.stack_lifecycle_plugins]
auditor = tests.heat_plugins.services:Auditor
[heat.event_sinks]
appliance-log = tests.heat_plugins.services:ApplianceLog
[heat.clients]
appliance = tests.heat_plugins.services:ApplianceClientPlugin
[heat.constraints]
appliance.network = tests.heat_plugins.services:NetworkConstraint
"""

Begin = Callable[..., Awaitable[World]]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package, and one with entry points for Heat, are installed for a test."""
    site = tmp_path / "site"
    information = site / "stoker_heat_plugins-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: stoker-heat-plugins\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(site)
    _forget()
    appliance.reset()
    yield
    appliance.reset()
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    extensions.forget()
    template_formats.forget()
    client_plugins.forget()
    loading.loaded.cache_clear()
    entry_points.LIFECYCLE.forget()
    entry_points.EVENT_SINKS.forget()


@pytest.fixture
async def begin(installed: None, served: ServedCloud, tmp_path: Path) -> AsyncIterator[Begin]:
    """`await begin(*directories)`: a whole Stoker, which loads the modules in directories.

    `instead_of` another one, which is stopped; the new one has none of its threads.
    """
    begun: list[World] = []
    stopped: list[World] = []

    async def start(*directories: Path, instead_of: World | None = None, **options: Any) -> World:
        if instead_of is not None:
            stopped.append(instead_of)
            await instead_of.stop()
            performance.RUNNING.clear()
        named = {"plugin_dirs": [str(place) for place in directories or (MODULES,)], **options}
        world = World(
            tmp_path / "stoker.db",
            served,
            settings=EngineSettings(type_options=named, enable_stack_abandon=True, enable_stack_adopt=True),
        )
        begun.append(await world.start())
        return world

    yield start
    for world in begun:
        if world not in stopped:
            await world.stop()
