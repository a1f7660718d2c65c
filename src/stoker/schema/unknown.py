"""A value that exists only later: explicit, comparable, contagious."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for a value that will be known after some resources have been made.

    `sources` are the references it waits for, as `(resource, attribute, *path)`; `attribute` is None for
    the resource's own reference id. Two unknowns made from the same sources are equal, so a graph can be
    compared before anything exists.
    """

    sources: frozenset[tuple[str | int | None, ...]]

    @classmethod
    def of(cls, resource: str, attribute: str | None = None, *path: str | int) -> Unknown:
        """The value of one reference."""
        return cls(frozenset({(resource, attribute, *path)}))

    def resources(self) -> frozenset[str]:
        """Names of the resources that it waits for."""
        return frozenset(str(source[0]) for source in self.sources)

    def __repr__(self) -> str:
        return "(known after apply)"


def is_unknown(value: object) -> TypeGuard[Unknown]:
    """Whether this very value is unknown (not whether it contains unknowns)."""
    return isinstance(value, Unknown)


def find_unknowns(value: Any) -> Iterable[Unknown]:
    """Every unknown at any depth inside plain data."""
    if isinstance(value, Unknown):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from find_unknowns(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from find_unknowns(item)


def has_unknown(value: Any) -> bool:
    """Whether an unknown is inside `value` at any depth."""
    return next(iter(find_unknowns(value)), None) is not None


def combine(values: Iterable[Any]) -> Unknown:
    """The unknown that waits for everything that the unknowns inside `values` wait for."""
    return Unknown(frozenset(source for value in values for found in find_unknowns(value) for source in found.sources))
