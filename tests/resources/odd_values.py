"""Values that are odd but of the declared type, for each property of a resource type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.plugins.resource import ResourceType
from stoker.schema.constraints import AllowedValues, Length, Range
from stoker.schema.property import Property, Type

BROKEN_URL = "http://[::1"

STRINGS: tuple[str, ...] = (
    "", " ", "%", "/", "..", "{", "[]", "é☃\U0001f600", "a\r\nb: c\n\n", "x" * 300, BROKEN_URL, "http://h:99999999/",
    "http://h:x/?=&#", "//", "1e400", "nan", "-1", "9" * 30, "9" * 5000, "2026-99-99T99:99:99Z", "9999-12-31T23:59:59Z",
    "PT99999999999999999999H", "1.2.3.4/33", "::/999", "fe80::1%eth0", "ZZ==", "bm90IHlhbWw6IFs=", "{{{", "$.[",
    "* * * * 99", "b: [", "!!python/object:x {}", "-----BEGIN CERTIFICATE-----",
)  # fmt: skip
_VALUES: Mapping[Type, tuple[Any, ...]] = {
    Type.STRING: STRINGS,
    Type.INTEGER: (0, -1, 2**31, 2**63 - 1, -(2**63), "1" + "0" * 400, "1" + "0" * 30, "9" * 5000, "1_0", 1.5, True),
    Type.NUMBER: (0, -1, -0.0, 1.7e308, 5e-324, "1e400", "-inf", "nan", "1" + "0" * 400, 2**63 - 1),
    Type.BOOLEAN: (True, "FALSE"),
    Type.LIST: ([], [None], [[]], [{}], [""]),
    Type.MAP: ({}, {"": ""}, {"é\n": None}, {"a": {"b": [{}]}}, {"x" * 300: "y" * 300}),
    Type.ANY: ("", 0, -1, True, [], {}, [None], {"": None}, BROKEN_URL, "x" * 300, {"a": [{"b": 1.5}]}, "1" + "0" * 99),
}  # fmt: skip

_KNOWN: Mapping[str, str] = {
    "cinder.qos_specs": "qos", "cinder.snapshot": "snapshot", "cinder.volume": "volume", "cinder.vtype": "lvmdriver-1",
    "glance.image": "cirros", "keystone.domain": "default", "keystone.group": "admins", "keystone.project": "demo",
    "keystone.role": "member", "keystone.user": "demo", "neutron.network": "private", "neutron.router": "router1",
    "neutron.subnet": "private-subnet", "nova.flavor": "m1.tiny", "nova.server": "server",
}  # fmt: skip
"""Names of objects of the emulated cloud, by kind."""

_NAMED: Mapping[str, Any] = {"cidr": "10.9.0.0/24", "ip_address": "10.0.0.9", "ImageId": "cirros"}


@dataclass(frozen=True)
class Case:
    """Properties of one resource, of which the value at `path` is odd."""

    path: tuple[str | int, ...]
    properties: Mapping[str, Any]

    @property
    def odd(self) -> Any:
        found: Any = self.properties
        for key in self.path:
            found = found[key]
        return found


def cases(kind: ResourceType) -> Iterator[Case]:
    """Each property at each depth with each odd value of its type, the required others with plausible values."""
    for path, values in _of_map(kind.properties):
        yield Case(path, values)


def plausible(properties: Mapping[str, Property]) -> dict[str, Any]:
    """Values of the required properties."""
    return {name: _plausible(name, prop) for name, prop in properties.items() if prop.required}


def _plausible(name: str, prop: Property) -> Any:
    if prop.resolve is not None and prop.resolve in _KNOWN:
        return _KNOWN[prop.resolve]
    if name in _NAMED:
        return _NAMED[name]
    for constraint in prop.constraints:
        if isinstance(constraint, AllowedValues):
            return constraint.values[0] if prop.type is not Type.LIST else [constraint.values[0]]
    return _PLAUSIBLE[prop.type](prop)


def _length(prop: Property) -> int:
    return max((c.min or 0 for c in prop.constraints if isinstance(c, Length)), default=0)


def _least(prop: Property) -> Any:
    return max((c.min for c in prop.constraints if isinstance(c, Range) and c.min is not None), default=1)


_PLAUSIBLE: Mapping[Type, Any] = {
    Type.STRING: lambda prop: "a" * max(3, _length(prop)),
    Type.INTEGER: _least,
    Type.NUMBER: _least,
    Type.BOOLEAN: lambda prop: True,
    Type.LIST: lambda prop: [_plausible("", prop.items)] if prop.items else ["a"],
    Type.MAP: lambda prop: plausible(prop.schema) if prop.schema else {"a": "b"},
    Type.ANY: lambda prop: "a",
}


def _of_map(properties: Mapping[str, Property]) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    base = plausible(properties)
    for name, prop in properties.items():
        for path, value in _of(prop):
            yield (name, *path), {**base, name: value}


def _of(prop: Property) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    for value in _VALUES[prop.type]:
        yield (), value
    if prop.type is Type.MAP and prop.schema:
        yield from _of_map(prop.schema)
    elif prop.type is Type.LIST and prop.items:
        for path, value in _of(prop.items):
            yield (0, *path), [value]
