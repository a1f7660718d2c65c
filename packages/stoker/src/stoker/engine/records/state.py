"""A recorded resource in memory: its row, and its sealed parts, which are opened on first use.

A resource that was moved also has the names and paths that it had before: by its names it is found with its earlier
URLs and events, to its paths it goes back with a rollback.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from weakref import ref

import orjson

from stoker.base.ids import new_id, physical_name
from stoker.base.json_text import dumps
from stoker.contract.events import EventCode
from stoker.engine.memory import SealedText, TemporaryFile, ValueMemory
from stoker.engine.records.failure import Failure
from stoker.plugins.resource import AttributeKey, Call, ResourceType, Snapshot
from stoker.schema.unknown import is_unknown
from stoker.store.records import FAILED, IN_PROGRESS, Event, Resource, Stack, StoredState
from stoker.store.sealing import Sealer
from stoker.template.expressions import Reference


def attribute_text(key: AttributeKey) -> str:
    """Return an attribute key as a key of a JSON object."""
    return str(key[0]) if len(key) == 1 else orjson.dumps(list(key)).decode()


def attribute_key(text: str) -> AttributeKey:
    """Return the attribute key for the result of `attribute_text`."""
    return tuple(orjson.loads(text)) if text.startswith("[") else (text,)


@dataclass(slots=True)
class ResourceState:
    """One recorded resource of a running operation.

    `type` is the current implementation. `properties` are the property values from the template, before defaults and
    name look-ups; `former` those from before the running update. The sealed state is in `sealed_state`, not in `row`.
    `memory` may unload the values while nothing uses them. `revertible` means that the running update has begun
    in this process, and that the values before it are those of the object. `usable` means that the object of a resource
    whose last action failed was examined, and need not be replaced. `obstacle` is why the object cannot get the content
    of the snapshot that is restored; empty if it can. `drifted` are the properties that a look at the cloud has found
    to differ, with the recorded values, None if it has found no object. `recorded_id` is the physical ID in the
    database, to which the row's `ownership` refers. `seen` is what methods have seen of the object during the running
    action (`MethodReport.seen`).
    """

    row: Resource
    type: ResourceType
    stack_name: str
    sealer: Sealer
    memory: ValueMemory
    sealed_state: SealedText | None = None
    sealed_properties: SealedText | None = None
    sealed_former: SealedText | None = None
    resting: bool = False
    revertible: bool = False
    usable: bool = False
    obstacle: str = ""
    drifted: Mapping[str, object] | None = field(default_factory=dict)
    recorded_id: str | None = None
    seen: dict[str, frozenset[str]] = field(default_factory=dict)
    _stored: StoredState | None = None
    _properties: Mapping[str, object] | None = None
    _former: Mapping[str, object] | None = None
    _sealed: bytes | None = None
    _calls: list[ref[Call]] = field(default_factory=list)

    @property
    def is_missing(self) -> bool:
        """Whether a look at the cloud has found that the object does not exist any more."""
        return self.drifted is None

    @property
    def stored(self) -> StoredState:
        """Return the opened state; `seal` includes changes of it."""
        stored = self._stored
        if stored is not None:
            return stored
        sealed = self.sealed_state
        if sealed is not None and sealed.text is None and self.memory.is_on_thread():
            return self.memory.opened_on_thread(sealed, lambda: StoredState.of(self.sealer.open(sealed.read())))
        stored = self._stored = StoredState.of(self._opened(sealed))
        self._loaded()
        return stored

    @property
    def properties(self) -> Mapping[str, Any]:
        """Return the current property values, or those that are being applied."""
        properties = self._properties
        if properties is not None:
            return properties
        sealed = self.sealed_properties
        if sealed is not None and sealed.text is None and self.memory.is_on_thread():
            return self.memory.opened_on_thread(sealed, lambda: self._opened(sealed))
        properties = self._opened(sealed)
        self._properties = properties
        self._loaded()
        return properties

    @property
    def former(self) -> Mapping[str, Any]:
        """Return the property values from before the running update."""
        former = self._former
        if former is not None:
            return former
        sealed = self.sealed_former
        if sealed is not None and sealed.text is None and self.memory.is_on_thread():
            return self.memory.opened_on_thread(sealed, lambda: self._opened(sealed))
        former = self._opened(sealed)
        self._former = former
        self._loaded()
        return former

    def _opened(self, sealed: SealedText | None) -> Mapping[str, Any]:
        if sealed is None:
            return {}
        opened: Mapping[str, object] = self.sealer.open(sealed.read())
        return opened

    def _loaded(self) -> None:
        if self.resting and not self.memory.is_on_thread():
            self.memory.rest(self)

    @property
    def _values(self) -> tuple[tuple[SealedText | None, bool], ...]:
        """Each sealed string, and whether it is opened."""
        return (
            (self.sealed_state, self._stored is not None),
            (self.sealed_properties, self._properties is not None),
            (self.sealed_former, self._former is not None),
        )

    @property
    def size(self) -> int:
        """Bytes of its sealed values."""
        total = 0
        for sealed in (self.sealed_state, self.sealed_properties, self.sealed_former):
            if sealed is not None:
                total += sealed.size
        return total

    @property
    def resident(self) -> int:
        """Bytes of memory that the values take, all of them opened where they are in memory."""
        total = 0
        for sealed, is_open in self._values:
            if sealed is not None:
                total += sealed.size * (2 if sealed.text is not None else is_open)
        return total

    def unload(self, file: TemporaryFile) -> bool:
        """Move the values out of memory. False when a call uses them, or they have changed since they were sealed."""
        self._calls = [call for call in self._calls if call() is not None]
        if self._calls or not self._is_recorded():
            return False
        for sealed, _ in self._values:
            if sealed is not None:
                sealed.move(file)
        self._stored = self._properties = self._former = None
        return True

    def used_by(self, call: Call) -> None:
        """Keep the values in memory as long as a call exists, which may change them."""
        self._calls = [ref(call), *(each for each in self._calls if each() is not None)]

    def _is_recorded(self) -> bool:
        """Whether nothing is lost when what was opened is forgotten."""
        if self._stored is None:
            return True
        if self._sealed is not None:
            return self.is_sealed
        return self.sealed_state is not None and self._opened(self.sealed_state) == self._stored.to_data()

    @property
    def requires(self) -> frozenset[str]:
        """Return the names of the resources that it depended on when it was created."""
        return frozenset(orjson.loads(self.row.requires))

    @property
    def implementation(self) -> str:
        """Return the resolved type name with which the resource was created."""
        if self.row.substituted is False:  # known without opening the state
            return self.row.type
        return str(self.stored.definition.get("implementation", self.row.type))

    @property
    def in_progress(self) -> bool:
        """Return whether an action has begun and not ended."""
        return self.row.status == IN_PROGRESS

    @property
    def physical_name(self) -> str:
        """Return the name of its object in the cloud."""
        limit = self.type.physical_name_limit
        return self.stored.origin.physical_name or physical_name(self.stack_name, self.row.name, self.row.uuid, limit)

    def set_properties(self, values: Mapping[str, object]) -> dict[str, str]:
        """Set new property values; return the property set to store."""
        self.row.properties = new_id()
        self._properties = values
        body = self.sealer.seal(values)
        self.sealed_properties = SealedText(body)
        return {"id": self.row.properties, "stack_id": self.row.stack_id, "body": body}

    def begin_change(self, values: Mapping[str, object]) -> dict[str, str]:
        """Set new property values; keep the former ones, and those that an unfinished update may have changed, until
        the update has ended.
        """
        self.revertible = self.row.former_properties is None
        if self.row.former_properties is None:
            self.row.former_properties = self.row.properties
            self._former, self.sealed_former = self._properties, self.sealed_properties
        else:
            tried = {name for name in {*self.properties, *values} if self.properties.get(name) != values.get(name)}
            self.stored.unsure = sorted(tried.union(self.stored.unsure))
        return self.set_properties(values)

    def fail(self, failure: Failure, reason: str) -> None:
        """Set the status after a failure, which `reason` describes; neither contains secrets."""
        self.row.status, self.row.reason, self.row.failure = FAILED, reason, failure.with_reason(reason)

    def revert_change(self) -> None:
        """Return to the former property values: the update has not changed the object."""
        self.row.properties = self.row.former_properties
        self._properties, self.sealed_properties = self._former, self.sealed_former
        self.end_change()

    def end_change(self) -> None:
        """Delete the former property values."""
        self.revertible = False
        self.row.former_properties = self._former = self.sealed_former = None
        self.stored.unsure = []

    @property
    def in_change(self) -> bool:
        """Return whether an update has begun and not succeeded; another action can have followed it."""
        return self.row.former_properties is not None

    def seal(self) -> Resource:
        """Return the row to write: a copy, since the state can change afterwards."""
        if self._stored is not None:
            content = _serialized(self._stored)
            self.sealed_state = SealedText(self.sealer.seal_text(content))
        else:
            content = _serialized(self.stored)
        self._sealed = _digest(self.row.physical_id, content)
        row = self.row.copy()
        row.state = self.sealed_state.read() if self.sealed_state is not None else None
        return row

    @property
    def is_sealed(self) -> bool:
        """Return whether nothing that a method can change differs from what was last sealed."""
        return self._sealed == _digest(self.row.physical_id, _serialized(self.stored))

    def event(self, reason: str, moment: float, cause: str | None = None, code: EventCode | None = None) -> Event:
        """Return the event for the current action and status at a `moment`, in seconds since the epoch.

        An object without an id is identified by its name. `cause` is the path of the failure that the event reports,
        `code` what it says if the state stays as it is.
        """
        row = self.row
        return Event(
            id=new_id(),
            stack_id=row.stack_id,
            resource_name=row.name,
            resource_type=row.type,
            physical_id=row.physical_id or (None if self.type.local else self.physical_name),
            action=row.action,
            status=row.status,
            reason=reason,
            properties=row.properties,
            time=moment,
            cause=cause,
            reason_code=None if code is None else code.value,
        )

    def snapshot(self) -> Snapshot:
        """Return the data for the computation of the reference id."""
        return Snapshot(
            name=self.row.name,
            physical_name=self.physical_name,
            physical_id=self.row.physical_id,
            data=self.stored.data,
            properties=self.properties,
        )

    def reference_id(self) -> object:
        """Return the result of `get_resource`; an external object is identified by its own id."""
        if self.row.physical_id is not None and self.stored.definition.get("external_id") is not None:
            return self.row.physical_id
        return self.type.reference_id(self.snapshot())


def _serialized(stored: StoredState) -> bytes:
    return dumps(stored.to_data(), orjson.OPT_NON_STR_KEYS)


def _digest(physical_id: str | None, content: bytes) -> bytes:
    """Return a digest of what a method can change, which can be megabytes large."""
    digest = hashlib.blake2b(content, digest_size=32)
    digest.update(repr(physical_id).encode())
    return digest.digest()


def resources_by_name(states: Iterable[ResourceState]) -> dict[str, list[ResourceState]]:
    """Return the recorded resources of each name, the latest first."""
    found: dict[str, list[ResourceState]] = {}
    for state in sorted(states, key=lambda state: -state.row.position):
        found.setdefault(state.row.name, []).append(state)
    return found


def keys_of(reference: Reference, type_: ResourceType) -> list[AttributeKey]:
    """Return the attributes to read for a reference: one, with its path if the type requires that, or all of them."""
    if reference.attribute is None:
        return []
    if reference.attribute == "":
        return [(name,) for name in type_.attributes if name != "show"]
    return [(reference.attribute, *reference.path) if type_.path_in_attribute else (reference.attribute,)]


def walk(value: object, path: tuple[str | int, ...]) -> object:
    """Return the value at the path of a reference; None if it does not exist, as in Heat."""
    for part in path:
        if is_unknown(value):
            return value
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and not isinstance(part, bool):
            value = value[part] if -len(value) <= part < len(value) else None
        else:
            return None
    return value


# -- former names and paths -------------------------------------------------------------------------------------

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
    if row.former_names is None:
        return row.name
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
            state.stored.origin = replace(state.stored.origin, physical_name=state.physical_name)
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
    names = sorted({row.name, *(known.name for known in former_names(row))})
    first = state.stored.origin.first_location or [source.name, source.id, first_name(row)]
    state.stored.origin = replace(state.stored.origin, physical_name=state.physical_name, first_location=first)
    row.former_names = None
    row.name, row.stack_id, row.position = name, target.id, position
    return names


def path_text(path: Path) -> str:
    """Return a path as plans print it."""
    return ".".join(path)


def former_labels(states: Iterable[ResourceState], before: str | None) -> dict[str, str]:
    """Return the paths that resources of a stack had with these inputs (an ID) and do not have any more, by name."""
    return {
        state.row.name: path_text(each.path)
        for state in states
        if state.row.former_names
        for each in former_paths(state.row, is_at_top=True)
        if before in each.inputs
    }
