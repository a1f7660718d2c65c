"""How the live values of a type's properties are known, and whether there is anything to compare."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

from stoker.plugins.recovery import RecoveryMethod
from stoker.plugins.resource import ResourceType
from stoker.schema.live import Live, managed, never, same
from stoker.schema.property import Property, Type

_KEPT = managed("Stoker itself keeps the resource")
_INSIDE = managed("the resources of the nested stack are compared in its place")
_WITHOUT_EFFECT = managed("it has no effect")
_NO_COMPARISON = never("objects of this type cannot be compared")


def has_object(kind: ResourceType) -> bool:
    """Return whether the resources of a type have objects of their own outside of Stoker's database."""
    by = kind.recovery.by if kind.recovery is not None else None
    # A software configuration has an ID that is chosen in advance, and is stored by this service itself.
    own = by is RecoveryMethod.RECORD or (by is RecoveryMethod.IDENTIFIER and kind.service == "heat")
    return not (kind.local or kind.nested or own)


def live_values(kind: ResourceType) -> Mapping[str, Live]:
    """Return how the live value of each property is known; properties for which nothing says it are missing.

    A property that another one replaces is known as that one.
    """
    known = _known.get(kind)
    if known is None:  # a comparison of many resources asks for each of them
        known = _known[kind] = _declared(kind)
    return known


_known: WeakKeyDictionary[ResourceType, Mapping[str, Live]] = WeakKeyDictionary()


def _declared(kind: ResourceType) -> Mapping[str, Live]:
    newer = {prop.replaces: name for name, prop in kind.properties.items() if prop.replaces}
    names = {name: newer.get(name, name) for name in kind.properties}
    found = {name: _live(kind, known, kind.properties[known]) for name, known in names.items()}
    return {name: live for name, live in found.items() if live is not None}


def _live(kind: ResourceType, name: str, prop: Property) -> Live | None:
    if prop.live is not None:
        return prop.live
    if not prop.implemented:
        return _WITHOUT_EFFECT
    if kind.nested:
        return _INSIDE
    if not has_object(kind):
        return _KEPT
    if kind.live_otherwise is not None:
        return kind.live_otherwise
    return kind.derived_live.get(name, _NO_COMPARISON if type(kind).observe is ResourceType.observe else None)


def has_drifted(prop: Property, live: Live, declared: object, shown: object) -> bool:
    """Return whether a live value differs from what was sent.

    Keys that are not in the template are differences in a map without a schema, unless others may add them.
    """
    if live.shared and isinstance(declared, list) and isinstance(shown, list):
        return not all(any(same(item, other) for other in shown) for item in declared)
    if not same(declared, shown):
        return True
    if live.ordered and isinstance(declared, list) and isinstance(shown, list):
        return not all(map(same, declared, shown))
    free = prop.type is Type.MAP and prop.schema is None and not live.shared
    return (
        free and isinstance(shown, Mapping) and isinstance(declared, Mapping) and bool(shown.keys() - declared.keys())
    )
