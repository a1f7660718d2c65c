"""Comparison of the live values of properties with those of the template."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.base.errors import StokerError
from stoker.plugins.live_values import has_drifted, live_values
from stoker.plugins.resource import Call, ResourceType

Reader = Callable[[Any, Call, Mapping[str, Any]], Awaitable[Any]]
"""Returns the live value of a property, in the form that `call.properties` has it, or the recorded value itself if the
live one means the same: `(resource type, call, object as its service shows it)`. Raises StokerError, or NotShown."""


class NotShown(Exception):
    """The service does not show the value; the message says why, as part of a sentence."""


async def read_differences(
    kind: ResourceType, readers: Mapping[str, Reader], call: Call, shown: Mapping[str, object]
) -> dict[str, object]:
    """Return the properties with readers whose live value differs from the one that the template gives.

    A value that cannot be read is noted in `call.report.unread`, and the others are compared nevertheless.
    """
    found: dict[str, object] = {}
    known = live_values(kind)
    for name, read in readers.items():
        value = call.properties.get(name)
        if value is None or not call.gives(name):
            continue
        try:
            live = await read(kind, call, shown)
        except NotShown as problem:
            call.report.unread[name] = str(problem)
        except StokerError as error:
            call.report.unread[name] = error.message
        else:
            call.report.compared.add(name)
            if has_drifted(kind.properties[name], known[name], value, live):
                found[name] = live
    return found
