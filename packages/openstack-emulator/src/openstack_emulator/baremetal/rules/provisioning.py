"""The provision state machine of nodes, as data.

The names of states and actions are those of Ironic's API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from openstack_emulator.core.http import Version

AVAILABLE, ACTIVE, ENROLL, MANAGEABLE = "available", "active", "enroll", "manageable"
DELETABLE = frozenset({
    ENROLL, MANAGEABLE, AVAILABLE, "inspect failed", "clean failed", "adopt failed", "error", "deploy failed",
})  # fmt: skip
"""States in which a node can be deleted; in maintenance it can be deleted in all."""


@dataclass(frozen=True)
class Step:
    """A state that a node is in for a while, the state that follows, and the one that follows a failure."""

    during: str
    then: str
    failed: str


VERIFY = Step("verifying", MANAGEABLE, ENROLL)
CLEAN = Step("cleaning", AVAILABLE, "clean failed")
CLEAN_BY_HAND = Step("cleaning", MANAGEABLE, "clean failed")
INSPECT = Step("inspecting", MANAGEABLE, "inspect failed")
ADOPT = Step("adopting", ACTIVE, "adopt failed")
DEPLOY = Step("deploying", ACTIVE, "deploy failed")
TEAR_DOWN = Step("deleting", "cleaning", "error")
RESCUE = Step("rescuing", "rescue", "rescue failed")
UNRESCUE = Step("unrescuing", ACTIVE, "unrescue failed")
MANAGE_AGAIN = Step("", MANAGEABLE, "")
"""A change that takes no time."""

ACTIONS: Mapping[str, Mapping[str, Step]] = {
    "manage": {
        ENROLL: VERIFY,
        **dict.fromkeys((AVAILABLE, "clean failed", "inspect failed", "adopt failed"), MANAGE_AGAIN),
    },
    "provide": {MANAGEABLE: CLEAN},
    "clean": {MANAGEABLE: CLEAN_BY_HAND},
    "inspect": dict.fromkeys((MANAGEABLE, "inspect failed"), INSPECT),
    "adopt": dict.fromkeys((MANAGEABLE, "adopt failed"), ADOPT),
    "active": dict.fromkeys((AVAILABLE, "deploy failed"), DEPLOY),
    "rebuild": dict.fromkeys((ACTIVE, "deploy failed", "error"), DEPLOY),
    "deleted": dict.fromkeys(
        (ACTIVE, "deploy failed", "error", "rescue", "rescue failed", "unrescue failed"), TEAR_DOWN
    ),
    "rescue": dict.fromkeys((ACTIVE, "rescue", "rescue failed", "unrescue failed"), RESCUE),
    "unrescue": dict.fromkeys(("rescue", "rescue failed", "unrescue failed"), UNRESCUE),
}
"""Action → state in which it can be requested → what follows."""
SINCE: Mapping[str, Version] = {
    "manage": (1, 4), "provide": (1, 4), "inspect": (1, 6), "clean": (1, 15), "adopt": (1, 17), "rescue": (1, 38),
    "unrescue": (1, 38),
}  # fmt: skip
"""Microversions that brought actions; the others have always been there."""
POWER: Mapping[str, tuple[str, Version]] = {
    "power on": ("power on", (1, 1)),
    "power off": ("power off", (1, 1)),
    "rebooting": ("power on", (1, 1)),
    "soft power off": ("power off", (1, 27)),
    "soft rebooting": ("power on", (1, 27)),
}
"""Power action → the power state that follows, and the microversion that brought it."""
STEPS: Mapping[str, Step] = {
    step.during: step for step in (VERIFY, INSPECT, ADOPT, DEPLOY, TEAR_DOWN, RESCUE, UNRESCUE)
}
"""Steps by their state; `cleaning` has two, which differ in the node's target."""

STATES = frozenset(
    state
    for steps in ACTIONS.values()
    for before, step in steps.items()
    for state in (before, step.during, step.then, step.failed)
    if state
)
"""All provision states."""
