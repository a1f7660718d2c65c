"""What a method sees of an object in passing, and what the search over all stacks finds the resource by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stoker.plugins.call import Call
from stoker.plugins.resource import ResourceType

NAME = "name"
ADDRESS = "address"


def see(call: Call, shown: Mapping[str, Any] | None, name: str | None, addresses: Iterable[str]) -> None:
    """Note in `call.seen` what the service shows of an object: its name, in the field `name`, and the IP addresses at
    the paths `addresses` (see `ResourceType.addresses_at`). What an answer leaves out is not noted.
    """
    if not shown:
        return
    if name is not None and name in shown:
        call.seen[NAME] = frozenset({shown[name]} if isinstance(shown[name], str) else ())
    paths = [parts for path in addresses if (parts := path.split("."))[0] in shown]
    if paths:
        found = (value for path in paths for value in _at(shown, path))
        call.seen[ADDRESS] = frozenset(value for value in found if isinstance(value, str))


def to_see(kind: ResourceType) -> frozenset[str]:
    """Return which of both the objects of a type have: none if they are not objects of its own."""
    own = kind.id_is_new or kind.object_ids is not None
    named = {NAME} if own and kind.named_in is not None else set()
    return frozenset(named | ({ADDRESS} if kind.addresses_at else set()))


def _at(value: Any, path: list[str]) -> Iterator[Any]:
    """Yield the values at a path, whose part `*` stands for all elements of a list or values of a map."""
    if not path:
        yield value
    elif path[0] == "*":
        elements = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        for element in elements:
            yield from _at(element, path[1:])
    elif isinstance(value, Mapping):
        yield from _at(value.get(path[0]), path[1:])
