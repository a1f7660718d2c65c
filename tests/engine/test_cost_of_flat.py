"""What each resource of a stack without nested stacks costs: calls of Python functions, which no load changes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import stoker
from openstack_emulator.testing import ServedCloud
from testing.harness import World

FEW, MANY = 50, 250
"""A step that called one function for each other resource would take 200 calls more with the many, a third of all."""

SOURCES = str(Path(stoker.__file__).parent)
NOT_COUNTED = tuple(
    f"{SOURCES}/{path}" for path in ("store/", "engine/ownership/", "engine/scheduling.py", "base/context.py")
)
"""What depends on the time: how many resources are committed together, heartbeats, turns of projects."""

STRING, NETWORK = "OS::Heat::RandomString", "OS::Neutron::Net"
MOST = {
    STRING: {"create": 570, "replace": 595, "delete": 162},
    NETWORK: {"create": 740, "delete": 380},
}
"""Calls for each resource, a tenth more than were counted."""


class Calls:
    """Counts calls of Stoker's functions on the event loop, and on threads that begin later."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(SOURCES) and not name.startswith(NOT_COUNTED):
            self.number += 1


@contextmanager
def counted() -> Iterator[Calls]:
    calls = Calls()
    threading.setprofile(calls)
    sys.setprofile(calls)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def template(kind: str, size: int, length: int) -> dict[str, Any]:
    properties = {STRING: {"length": length}, NETWORK: {}}
    resource = {"type": kind, "properties": properties[kind]}
    return {"heat_template_version": "2018-08-31", "resources": {f"r{number}": resource for number in range(size)}}


async def calls_for_each(tmp_path: Path, served: ServedCloud, kind: str, size: int) -> dict[str, float]:
    world = await World(tmp_path / f"{size}.db", served).start()
    taken = {}
    try:
        for action in MOST[kind]:
            with counted() as calls:
                if action == "create":
                    stack = await world.create("flat", template(kind, size, 16))
                elif action == "replace":
                    stack = await world.update("flat", template(kind, size, 24))
                else:
                    stack = await world.delete("flat")
            assert stack["status"] == "COMPLETE"
            taken[action] = calls.number / size
    finally:
        await world.stop()
    return taken


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", MOST)
async def test_each_resource_costs_as_much_in_a_large_stack(tmp_path: Path, served: ServedCloud, kind: str) -> None:
    few, many = [await calls_for_each(tmp_path, served, kind, size) for size in (FEW, MANY)]
    assert {action: calls for action, calls in many.items() if calls > 1.1 * few[action]} == {}
    assert {action: calls for action, calls in many.items() if calls > MOST[kind][action]} == {}
