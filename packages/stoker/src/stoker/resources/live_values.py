"""Comparison of the live values of properties with those of the template."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.base.errors import StokerError
from stoker.plugins.live_values import live_values
from stoker.plugins.resource import Call, ResourceType
from stoker.resources.wire import same
from stoker.schema.live import Live
from stoker.schema.property import Property, Type

Reader = Callable[[Any, Call, Mapping[str, Any]], Awaitable[Any]]
"""Returns the live value of a property, in the form that `call.properties` has it, or the recorded value itself if the
live one means the same: `(resource type, call, object as its service shows it)`. Raises StokerError, or NotShown."""


class NotShown(Exception):
    """The service does not show the value; the message says why, as part of a sentence."""


async def read_differences(
    kind: ResourceType, readers: Mapping[str, Reader], call: Call, shown: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the properties with readers whose live value differs from the one that the template gives.

    A value that cannot be read is noted in `call.unread`, and the others are compared nevertheless.
    """
    found: dict[str, Any] = {}
    known = live_values(kind)
    for name, read in readers.items():
        value = call.properties.get(name)
        if value is None or not call.gives(name):
            continue
        try:
            live = await read(kind, call, shown)
        except NotShown as problem:
            call.unread[name] = str(problem)
        except StokerError as error:
            call.unread[name] = error.message
        else:
            call.compared.add(name)
            if has_drifted(kind.properties[name], known[name], value, live):
                found[name] = live
    return found


def has_drifted(prop: Property, live: Live, wanted: Any, shown: Any) -> bool:
    """Return whether a live value differs from what was sent.

    Keys that are not in the template are differences in a map without a schema, unless others may add them.
    """
    if live.shared and isinstance(wanted, list) and isinstance(shown, list):
        return not all(any(same(item, other) for other in shown) for item in wanted)
    if not same(wanted, shown):
        return True
    if live.ordered and isinstance(wanted, list) and isinstance(shown, list):
        return not all(map(same, wanted, shown))
    free = prop.type is Type.MAP and prop.schema is None and not live.shared
    return free and isinstance(shown, Mapping) and isinstance(wanted, Mapping) and bool(shown.keys() - wanted.keys())
