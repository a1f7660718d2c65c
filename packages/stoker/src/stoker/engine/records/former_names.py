"""The names and paths that a resource had before it was moved: by its names it is found with its earlier URLs and
events, to its paths it goes back with a rollback.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from stoker.engine.records.state import ResourceState
from stoker.store.records import Resource, Stack

Path = tuple[str, ...]
"""The name of a resource, after those of the resources around its nested stack, from the top stack downwards."""

_SEPARATOR = "/"
"""No name contains it."""


class FormerName(NamedTuple):
    """A name that a resource had in its stack when that was defined by one of these `inputs` (IDs)."""

    name: str
    inputs: tuple[str, ...]


class FormerPath(NamedTuple):
    """A path that a resource had when the stack at the top of the path was defined by one of these `inputs` (IDs)."""

    path: Path
    inputs: tuple[str, ...]


def former_names(row: Resource) -> list[FormerName]:
    """Return the names that a resource had in its stack, the first one first.

    The present one is among them if it had it twice.
    """
    return [FormerName(name, tuple(inputs)) for name, inputs in _entries(row) if not name.startswith(_SEPARATOR)]


def former_paths(row: Resource, *, is_at_top: bool) -> list[FormerPath]:
    """Return the paths that a resource had, the first one first; `is_at_top` says that its stack is that of the path,
    so that its names are paths, too.
    """
    return [
        FormerPath(tuple(name.removeprefix(_SEPARATOR).split(_SEPARATOR)), tuple(inputs))
        for name, inputs in _entries(row)
        if is_at_top or name.startswith(_SEPARATOR)
    ]


def _entries(row: Resource) -> list[list[Any]]:
    found: list[list[object]] = orjson.loads(row.former_names or "[]")
    return found


def first_name(row: Resource) -> str:
    """Return the name with which a resource was created, which is part of its URLs."""
    return next((each.name for each in former_names(row)), row.name)


def had_name(row: Resource, name: str) -> bool:
    """Return whether a resource had this name before."""
    return row.former_names is not None and any(each.name == name for each in former_names(row))


def was_at(row: Resource, path: Path, *, is_at_top: bool) -> bool:
    """Return whether a resource had this path before."""
    return row.former_names is not None and any(each.path == path for each in former_paths(row, is_at_top=is_at_top))


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
    return _with(row, row.name, inputs)


def note_path(row: Resource, path: Path, inputs: Sequence[str]) -> None:
    """Record a path that a resource had with these inputs of the stack at its top."""
    row.former_names = _with(row, _SEPARATOR + _SEPARATOR.join(path), inputs)


def _with(row: Resource, name: str, inputs: Sequence[str]) -> str:
    known: dict[str, Sequence[str]] = dict(_entries(row))
    known[name] = tuple(dict.fromkeys((*known.get(name, ()), *inputs)))
    return orjson.dumps(list(known.items())).decode()


def relocate(state: ResourceState, source: Stack, target: Stack, name: str, position: int) -> list[str]:
    """Make a resource one of another stack, and return the names that it had in its former one.

    Its object keeps its name in the cloud. The names in another stack may be those of other resources here.
    """
    row = state.row
    state.stored.physical_name = state.physical_name
    names = sorted({row.name, *(known.name for known in former_names(row))})
    state.stored.first_place = state.stored.first_place or [source.name, source.id, first_name(row)]
    row.former_names = None
    row.name, row.stack_id, row.position = name, target.id, position
    return names


def shown(path: Path) -> str:
    """Return a path as plans print it."""
    return ".".join(path)


def former_labels(states: Iterable[ResourceState], before: str | None) -> dict[str, str]:
    """Return the paths that resources of a stack had with these inputs (an ID) and do not have any more, by name."""
    return {
        state.row.name: shown(each.path)
        for state in states
        if state.row.former_names
        for each in former_paths(state.row, is_at_top=True)
        if before in each.inputs
    }
