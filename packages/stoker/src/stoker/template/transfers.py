"""The sections of an environment, or of a template of Stoker's own version, that say which resource an object belongs
to from now on: `imports`, `moved` and `removed`.

An entry that has been carried out already has no effect, so entries can stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from stoker.base.diagnostics import Diagnostic, Path, Position
from stoker.template.problems import suggestion, type_name

IMPORTS, MOVED, REMOVED = "imports", "moved", "removed"
TRANSFERS = (IMPORTS, MOVED, REMOVED)
"""The names of the sections."""

Locate = Callable[[str, Path], Position | None]
"""Returns the position of a path in the environment of this name, None where it is not known."""

_KEYS: Mapping[str, tuple[str, ...]] = {
    IMPORTS: ("to", "id", "identity"),
    MOVED: ("from", "to"),
    REMOVED: ("from", "destroy"),
}
_EITHER = ("id", "identity")
"""The keys of an import of which it has one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry about a resource of the stack.

    `written` is the place of the entry: the name of the environment, and the path in it. `positions` are those of the
    values of its keys, and of itself (""), where they are known. `above` is the path of the resource around the nested
    stack that the entry is about, with a dot at its end; empty for the stack with the environment.
    """

    written: tuple[str, Path] = field(default=("", ()), compare=False, kw_only=True)
    positions: Mapping[str, Position | None] = field(default_factory=dict, compare=False, kw_only=True)
    above: str = field(default="", compare=False, kw_only=True)

    def problem(self, message: str, key: str = "", hint: str = "") -> Diagnostic:
        """Return a problem with the entry, or with the value of one of its keys."""
        source, path = self.written
        found = _problem(message, (*path, key) if key else path, source, hint)
        return replace(found, position=self.positions.get(key))

    def located(self, locate: Locate) -> Self:
        """Return the same with its positions."""
        source, path = self.written
        keys = ("", *_KEYS[str(path[0])])
        return replace(self, positions={key: locate(source, (*path, key) if key else path) for key in keys})


@dataclass(frozen=True, slots=True)
class Import(Entry):
    """An existing object belongs to the resource `target` from now on: the one with the ID `identifier`, or, without
    one, the only one that its service lists with these fields (`identity`).
    """

    target: str
    identifier: str | None = None
    identity: tuple[tuple[str, str | int | bool], ...] = ()

    def to_data(self) -> dict[str, Any]:
        """Return the entry as it is written."""
        which = {"identity": dict(self.identity)} if self.identifier is None else {"id": self.identifier}
        return {"to": self.target, **which}

    @property
    def object(self) -> str:
        """The object, for messages."""
        return self.identifier or ", ".join(f"{name}={value}" for name, value in self.identity)


@dataclass(frozen=True, slots=True)
class Move(Entry):
    """The object of the resource `source` belongs to the resource `target` of the same stack from now on."""

    source: str
    target: str

    def to_data(self) -> dict[str, Any]:
        """Return the entry as it is written."""
        return {"from": self.source, "to": self.target}


class Location(NamedTuple):
    """A resource: the name of its stack, and its own."""

    stack: str
    resource: str

    def __str__(self) -> str:
        return f"{self.stack}/{self.resource}"


@dataclass(frozen=True, slots=True)
class StackMove(Entry):
    """The object of the resource `source` belongs to the resource `target` of another stack from now on."""

    source: Location
    target: Location

    @property
    def is_nested(self) -> bool:
        """Whether a place is in a nested stack: a refactoring moves the resources of the stacks themselves only, a
        deployment these, too.
        """
        return any("." in place.resource for place in self.places)

    @property
    def places(self) -> tuple[Location, Location]:
        """Where the object was, and where it is."""
        return self.source, self.target

    def to_data(self) -> dict[str, Any]:
        """Return the entry as it is written."""
        return {"from": self.source._asdict(), "to": self.target._asdict()}


@dataclass(frozen=True, slots=True)
class Release(Entry):
    """The object of the resource `source`, which the template does not have any more, belongs to nobody from now on."""

    source: str

    def to_data(self) -> dict[str, Any]:
        """Return the entry as it is written."""
        return {"from": self.source, "destroy": False}


@dataclass(frozen=True, slots=True)
class Transfers:
    """The entries of all the sections; equal entries of several environments count once.

    `between` are the entries of `moved` whose resources are in two stacks: a deployment of the second one carries them
    out, or a refactoring of both.
    """

    imports: tuple[Import, ...] = ()
    moved: tuple[Move, ...] = ()
    removed: tuple[Release, ...] = ()
    between: tuple[StackMove, ...] = ()

    @classmethod
    def of(cls, data: Mapping[str, Any], source: str = "") -> Transfers:
        """Return the entries of an environment without problems."""
        imports = (
            Import(
                each["to"],
                each.get("id"),
                tuple(sorted(each.get("identity", {}).items())),
                written=(source, (IMPORTS, number)),
            )
            for number, each in enumerate(data.get(IMPORTS, ()))
        )
        moved = (
            Move(each["from"], each["to"], written=(source, (MOVED, number)))
            for number, each in enumerate(data.get(MOVED, ()))
            if isinstance(each["from"], str)
        )
        between = (
            StackMove(Location(**each["from"]), Location(**each["to"]), written=(source, (MOVED, number)))
            for number, each in enumerate(data.get(MOVED, ()))
            if not isinstance(each["from"], str)
        )
        removed = (
            Release(each["from"], written=(source, (REMOVED, number)))
            for number, each in enumerate(data.get(REMOVED, ()))
        )
        return cls(tuple(imports), tuple(moved), tuple(removed), tuple(between))

    def __bool__(self) -> bool:
        return bool(self.imports or self.moved or self.removed or self.between)

    def with_further(self, others: Transfers) -> Transfers:
        """Return the entries together with those of another environment."""
        return Transfers(
            tuple(dict.fromkeys((*self.imports, *others.imports))),
            tuple(dict.fromkeys((*self.moved, *others.moved))),
            tuple(dict.fromkeys((*self.removed, *others.removed))),
            tuple(dict.fromkeys((*self.between, *others.between))),
        )

    def into(self, stack: str) -> Transfers:
        """Return the entries together with those that move resources of other stacks into a stack.

        As sources, these have the name of the other stack before the path of the resource: `a/net`.
        """
        arriving = (
            Move(str(each.source), each.target.resource, written=each.written, positions=each.positions)
            for each in self.between
            if each.target.stack == stack
        )
        return replace(self, moved=(*self.moved, *arriving))

    def located(self, locate: Locate) -> Transfers:
        """Return the entries with their positions."""
        return Transfers(
            tuple(each.located(locate) for each in self.imports),
            tuple(each.located(locate) for each in self.moved),
            tuple(each.located(locate) for each in self.removed),
            tuple(each.located(locate) for each in self.between),
        )

    def to_data(self) -> dict[str, Any]:
        """Return the sections as they are written, without empty ones."""
        sections: dict[str, Sequence[Import | Move | StackMove | Release]] = {
            IMPORTS: self.imports,
            MOVED: (*self.moved, *self.between),
            REMOVED: self.removed,
        }
        return {name: [entry.to_data() for entry in entries] for name, entries in sections.items() if entries}

    def conflicts(self) -> Iterator[Diagnostic]:
        """Yield a problem for each entry that contradicts another one, whatever the stack."""
        sources: dict[str, Move] = {}
        targets: dict[str, Move] = {}
        for move in self.moved:
            if move.source == move.target:
                yield move.problem(f"the resource {move.source} cannot be moved to its own name")
            elif (other := sources.setdefault(move.source, move)) is not move:
                yield move.problem(f"the resource {move.source} is also moved to {other.target}", "from")
            elif (other := targets.setdefault(move.target, move)) is not move:
                yield move.problem(f"the resource {other.source} is also moved to {move.target}", "to")
        for cycle in _cycles({move.source: move.target for move in sources.values()}):
            names = " to ".join((*cycle, cycle[0]))
            hint = "remove the entries that earlier deployments have carried out, or use a name in between"
            yield sources[cycle[0]].problem(f"the entries form a cycle: {names}", hint=hint)
        for release in self.removed:
            if (moved := sources.get(release.source)) is not None:
                yield release.problem(f"the resource {moved.source} is also moved to {moved.target}", "from")
        yield from self._import_conflicts()
        yield from self._conflicts_between()

    def _conflicts_between(self) -> Iterator[Diagnostic]:
        sources: dict[Location, StackMove] = {}
        targets: dict[Location, StackMove] = {}
        for move in self.between:
            if move.source.stack == move.target.stack:
                hint = f"{{from: {move.source.resource}, to: {move.target.resource}}} moves it within its stack"
                yield move.problem(f"{move.source} and {move.target} are resources of one stack", hint=hint)
            elif (other := sources.setdefault(move.source, move)) is not move:
                yield move.problem(f"the resource {move.source} is also moved to {other.target}", "from")
            elif (other := targets.setdefault(move.target, move)) is not move:
                yield move.problem(f"the resource {other.source} is also moved to {move.target}", "to")

    def _import_conflicts(self) -> Iterator[Diagnostic]:
        resources: dict[str, Import] = {}
        objects: dict[str, Import] = {}
        for each in self.imports:
            if (other := resources.setdefault(each.target, each)) is not each:
                yield each.problem(f"{other.object} is also imported as the resource {each.target}", "to")
            elif (other := objects.setdefault(each.object, each)) is not each and each.identifier is not None:
                yield each.problem(f"{each.identifier} is also imported as the resource {other.target}", "id")

    def refused_below(self) -> Iterator[Diagnostic]:
        """Yield a problem for each entry of the template of a nested stack."""
        for entry in (*self.imports, *self.moved, *self.between, *self.removed):
            hint = "write it into the template or the environment of the stack itself, with the path of the resource"
            yield entry.problem("a nested stack has no entries of its own", hint=hint)

    def imports_by_name(self, known: Collection[str]) -> dict[str, Import]:
        """Return the imports by the paths that their resources have now, after moves; `known` are the names in the
        template. Resources that were moved or removed from it are missing.
        """
        following = {each.source: each.target for each in self.moved}
        gone = {each.source for each in self.removed}
        found: dict[str, Import] = {}
        for each in self.imports:
            passed = list(_followed(each.target, following))
            name = next((name for name in passed if name in known), passed[-1])
            if name in known or name not in gone:
                found.setdefault(name, each)
        return found

    def inside(self, resource: str) -> Transfers:
        """Return the imports and removals in the nested stack of a resource, with their paths in that stack.

        The stack with the environment carries out the moves in the whole tree.
        """
        if not self.imports and not self.removed:
            return Transfers()
        prefix, following = f"{resource}.", {each.source: each.target for each in self.moved}
        gone = {each.source for each in self.removed}
        present = [(each, list(_followed(each.target, following))[-1]) for each in self.imports]
        imports = (
            replace(each, target=path.removeprefix(prefix), above=each.above + prefix)
            for each, path in present
            if path.startswith(prefix) and path not in gone
        )
        removed = (
            replace(each, source=each.source.removeprefix(prefix), above=each.above + prefix)
            for each in self.removed
            if each.source.startswith(prefix)
        )
        return Transfers(imports=tuple(imports), removed=tuple(removed))


def transfer_problems(data: Mapping[str, object], source: str) -> Iterator[Diagnostic]:
    """Yield the problems with the form of the sections of an environment, which are lists."""
    for section, keys in _KEYS.items():
        entries = data.get(section)
        for number, entry in enumerate(entries if isinstance(entries, Sequence) else ()):
            yield from _entry_problems(entry, keys, (section, number), source)


def _entry_problems(entry: object, keys: Iterable[str], path: Path, source: str) -> Iterator[Diagnostic]:
    if not isinstance(entry, Mapping):
        yield _problem(f"must be a map, not {type_name(entry)}", path, source)
        return
    for key in entry.keys() - set(keys):
        yield _problem(f"unknown key {key!r}", (*path, str(key)), source, suggestion(str(key), list(keys)))
    if keys == _KEYS[IMPORTS]:
        yield from _which_problems(entry, path, source)
    is_between = keys == _KEYS[MOVED] and any(isinstance(entry.get(key), Mapping) for key in keys)
    for key in keys:
        value = entry.get(key)
        if key in _EITHER:
            continue
        if key not in entry:
            yield _problem(f"the key {key!r} is missing", path, source)
        elif key == "destroy":
            if value is not False:
                hint = "a resource that is not in the template is deleted without an entry"
                yield _problem("must be false", (*path, key), source, hint)
        elif is_between:
            yield from _location_problems(value, (*path, key), source)
        elif not isinstance(value, str) or not value:
            yield _problem("must be the name of a resource of this stack", (*path, key), source)


def _location_problems(value: object, path: Path, source: str) -> Iterator[Diagnostic]:
    """Yield the problems with one side of a move between stacks."""
    if not isinstance(value, Mapping):
        yield _problem("must be a map like the other side: {stack: a, resource: net}", path, source)
        return
    for key in value.keys() - set(Location._fields):
        yield _problem(f"unknown key {key!r}", (*path, str(key)), source, suggestion(str(key), list(Location._fields)))
    for key in Location._fields:
        if key not in value:
            yield _problem(f"the key {key!r} is missing", path, source)
        elif not isinstance(value[key], str) or not value[key]:
            yield _problem(f"must be the name of a {key}", (*path, key), source)


def _which_problems(entry: Mapping[str, Any], path: Path, source: str) -> Iterator[Diagnostic]:
    """Yield the problems with the keys of an import that say which object it is about."""
    keys = [key for key in _EITHER if key in entry]
    if len(keys) != 1:
        yield _problem("must have either the key 'id' or the key 'identity'", path, source)
        return
    [key], value = keys, entry[keys[0]]
    if key == "id" and (not isinstance(value, str) or not value):
        yield _problem("must be the ID of an object", (*path, key), source)
    elif key == "identity" and (not isinstance(value, Mapping) or not value):
        hint = "for example {name: shop}"
        yield _problem("must be a map of fields by which its service lists the object", (*path, key), source, hint)
    elif key == "identity":
        for name, each in value.items():
            if not isinstance(name, str) or not isinstance(each, str | int):
                yield _problem("must be a string, a number or a boolean", (*path, key, str(name)), source)


def _followed(path: str, following: Mapping[str, str]) -> Iterator[str]:
    """Yield a path, and those that moves give to it one after the other, also by moving what is around it."""
    passed = set[str]()
    while path not in passed:
        passed.add(path)
        yield path
        parts = path.split(".")
        outer = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
        moved = next((each for each in outer if each in following), None)
        if moved is None:
            return
        path = following[moved] + path.removeprefix(moved)


def _cycles(following: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield the cycles of a map from names to names, each once."""
    seen: set[str] = set()
    for start in following:
        path: list[str] = []
        name = start
        while name in following and name not in seen:
            seen.add(name)
            path.append(name)
            name = following[name]
        if name in path and following[name] != name:
            yield path[path.index(name) :]


def _problem(message: str, path: Path, source: str, hint: str = "") -> Diagnostic:
    return Diagnostic(rule="transfer", message=message, path=path, source=source, hint=hint)
