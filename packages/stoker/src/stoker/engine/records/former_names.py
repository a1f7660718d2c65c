"""The names that a resource had before it was moved: with them it is found by its earlier URLs and events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import orjson

from stoker.engine.records.state import ResourceState
from stoker.store.records import Resource


class FormerName(NamedTuple):
    """A name that a resource had when the stack was defined by one of these `inputs` (IDs)."""

    name: str
    inputs: tuple[str, ...]


def former_names(row: Resource) -> list[FormerName]:
    """Return the names that a resource had before, the first one first: also the present one, if it had it twice."""
    return [FormerName(name, tuple(inputs)) for name, inputs in orjson.loads(row.former_names or "[]")]


def first_name(row: Resource) -> str:
    """Return the name with which a resource was created, which is part of its URLs."""
    return next((each.name for each in former_names(row)), row.name)


def had_name(row: Resource, name: str) -> bool:
    """Return whether a resource had this name before."""
    return row.former_names is not None and any(each.name == name for each in former_names(row))


def formerly_named(current: Mapping[str, ResourceState], name: str) -> ResourceState | None:
    """Return the resource that had this name before it was moved, which is still part of its URLs."""
    return next((state for state in current.values() if had_name(state.row, name)), None)


def rename(states: Iterable[ResourceState], names: Mapping[str, str], inputs: Sequence[str]) -> list[Resource]:
    """Give resources of a stack new names, by their present ones, and return the rows that have changed.

    `inputs` are the IDs of those that the stack had with the former names. The name of the object in the cloud stays.
    """
    changed = []
    for state in states:
        row = state.row
        requires = {names.get(name, name) for name in state.requires}
        if row.name not in names and requires == state.requires:
            continue
        row.requires = orjson.dumps(sorted(requires)).decode()
        if row.name in names:
            state.stored.physical_name = state.physical_name
            row.former_names = with_present_name(row, inputs)
            row.name = names[row.name]
        changed.append(state.seal())
    return changed


def with_present_name(row: Resource, inputs: Sequence[str]) -> str:
    """Return the names of a resource that is about to get another one, each with all inputs that it had it with."""
    known = {each.name: each.inputs for each in former_names(row)}
    known[row.name] = tuple(dict.fromkeys((*known.get(row.name, ()), *inputs)))
    return orjson.dumps(list(known.items())).decode()
