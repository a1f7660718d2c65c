"""A network appliance with a blocking client library, which the plug-ins of the tests configure."""

from __future__ import annotations

import threading
from typing import Any

OBJECTS: dict[str, dict[str, Any]] = {}
CALLS: list[str] = []
OPERATIONS: list[str] = []
GATES: dict[str, threading.Event] = {}
"""Calls that wait until a test opens the gate, by name."""
ENTERED: dict[str, threading.Event] = {}


class NotThere(Exception):
    """The appliance has no such object."""

    status_code = 404


def reset() -> None:
    """Forget everything."""
    for gate in GATES.values():
        gate.set()
    OBJECTS.clear()
    CALLS.clear()
    OPERATIONS.clear()
    GATES.clear()
    ENTERED.clear()


def hold(name: str) -> None:
    """Make the next calls with this name wait."""
    GATES[name], ENTERED[name] = threading.Event(), threading.Event()


class Client:
    """Blocks, as vendors' libraries do."""

    def __init__(self, host: str = "appliance") -> None:
        self.host = host

    def create(self, name: str, **values: Any) -> str:
        self._called("create", name)
        identifier = f"id-{len(OBJECTS)}-{name}"
        OBJECTS[identifier] = {"name": name, "polls": 0, **values}
        return identifier

    def build(self, name: str) -> None:
        self._called("build", name)

    def label(self, identifier: str) -> None:
        self._called("label", identifier)

    def show(self, identifier: str) -> dict[str, Any]:
        self._called("show", identifier)
        if identifier not in OBJECTS:
            raise NotThere(f"no object {identifier}")
        OBJECTS[identifier]["polls"] += 1
        return dict(OBJECTS[identifier])

    def change(self, identifier: str, **values: Any) -> None:
        self._called("change", identifier)
        OBJECTS[identifier].update(values)

    def delete(self, identifier: str) -> None:
        self._called("delete", identifier)
        if OBJECTS.pop(identifier, None) is None:
            raise NotThere(f"no object {identifier}")

    def _called(self, method: str, name: str) -> None:
        if method != "show":
            CALLS.append(f"{method} {name}")
        if method in GATES:
            ENTERED[method].set()
            GATES[method].wait(30)
