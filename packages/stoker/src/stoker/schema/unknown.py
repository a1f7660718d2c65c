"""Placeholders for values that are not known yet. Anything computed from one is unknown as well."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeGuard

from stoker_foundation.value_types import MAPPINGS, SCALARS


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is known only after some resources have been created.

    `sources` are the references that it depends on, as `(resource, attribute, *path)`; `attribute` is None for the
    resource's own reference ID. Unknowns with the same sources are equal, so that graphs can be compared before any
    resource exists.
    """

    sources: frozenset[tuple[str | int | None, ...]]

    @classmethod
    def of(cls, resource: str, attribute: str | None = None, *path: str | int) -> Unknown:
        """Return the unknown value of one reference."""
        return cls(frozenset({(resource, attribute, *path)}))

    def resources(self) -> frozenset[str]:
        """The names of the resources that it depends on."""
        return frozenset(str(source[0]) for source in self.sources)

    def __repr__(self) -> str:
        return "(known after apply)"


def is_scalar(value: object) -> bool:
    """Return whether a value of plain data has no parts; it is then known."""
    return type(value) in SCALARS


def is_unknown(value: object) -> TypeGuard[Unknown]:
    """Return whether the value itself is unknown (not whether it contains unknowns)."""
    return isinstance(value, Unknown)


def find_unknowns(value: object) -> Iterable[Unknown]:
    """Return every unknown in plain data, at any depth."""
    if type(value) in SCALARS:
        return
    if isinstance(value, Unknown):
        yield value
    elif isinstance(value, MAPPINGS):
        for item in value.values():
            yield from find_unknowns(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from find_unknowns(item)


def has_unknown(value: object) -> bool:
    """Return whether `value` contains an unknown at any depth."""
    if type(value) in SCALARS:
        return False
    if isinstance(value, MAPPINGS):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        compound = [item for item in value if type(item) not in SCALARS]  # most are scalars, which need no call
        return any(map(has_unknown, compound)) if compound else False
    return isinstance(value, Unknown)


def combine(values: Iterable[object]) -> Unknown:
    """Return an unknown that has the sources of all unknowns in `values`."""
    return Unknown(frozenset(source for value in values for found in find_unknowns(value) for source in found.sources))
