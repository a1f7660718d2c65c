"""A plug-in for engines under attack: `install` makes the directory that Python has to find it in."""

from __future__ import annotations

from pathlib import Path

SOURCE = '''
import os
from pathlib import Path

from stoker.plugins.outcome import Done, InProgress
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Property


class Poison(ResourceType):
    """Kills the engine while the file is there."""

    type_name = "Test::Poison"
    description = "Kills the engine while the file is there."
    local = True
    properties = {"file": Property(description="Path of the file.", required=True)}

    async def create(self, call):
        if Path(call.properties["file"]).exists():
            os._exit(9)
        return Done(physical_id=call.physical_name)

    async def delete(self, call):
        return Done()


class Slow(Poison):
    """Is ready once the file is gone."""

    type_name = "Test::Slow"

    async def create(self, call):
        if Path(call.properties["file"]).exists():
            return InProgress(after=0.2, physical_id=call.physical_name)
        return Done(physical_id=call.physical_name)


TYPES = [Poison, Slow]
'''
ENTRY_POINTS = "[stoker.resources]\npoison = stoker_poison:TYPES\n"


def install(directory: Path) -> Path:
    """A directory to put on Python's path."""
    path = directory / "plug-in"
    information = path / "stoker_poison-1.dist-info"
    information.mkdir(parents=True)
    (path / "stoker_poison.py").write_text(SOURCE)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: stoker-poison\nVersion: 1\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    return path


def template(kind: str, file: Path) -> str:
    return (
        "heat_template_version: 2021-04-16\nresources:\n"
        "  first: {type: 'OS::Heat::RandomString'}\n"
        f"  it: {{type: 'Test::{kind}', properties: {{file: '{file}'}}, depends_on: first}}\n"
    )


NESTING = """
heat_template_version: 2021-04-16
resources:
  inner: {type: inner.yaml}
  beside: {type: OS::Heat::RandomString}
"""
