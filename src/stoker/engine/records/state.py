"""A recorded resource in memory: its row, and the sealed parts opened when somebody looks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from stoker.base.ids import new_id, physical_name
from stoker.base.json_text import dumps
from stoker.plugins.resource import AttributeKey, ResourceType, Snapshot
from stoker.schema.unknown import is_unknown
from stoker.store.records import IN_PROGRESS, Event, Resource, StoredState
from stoker.store.sealing import Sealer
from stoker.template.expressions import Reference


def attribute_text(key: AttributeKey) -> str:
    """An attribute key as a JSON object's key."""
    return str(key[0]) if len(key) == 1 else orjson.dumps(list(key)).decode()


def attribute_key(text: str) -> AttributeKey:
    """The attribute key that `attribute_text` made a text of."""
    return tuple(orjson.loads(text)) if text.startswith("[") else (text,)


@dataclass(slots=True)
class ResourceState:
    """One recorded resource of a running operation.

    `type` is what implements it now. `given` are the property values as the template resolved to, before defaults and
    name look-ups; `former` the ones from before the running update.
    """

    row: Resource
    type: ResourceType
    stack_name: str
    sealer: Sealer
    sealed_properties: str | None = None
    sealed_former: str | None = None
    _stored: StoredState | None = None
    _given: Mapping[str, Any] | None = None
    _former: Mapping[str, Any] | None = None
    _sealed: bytes | None = None

    @property
    def stored(self) -> StoredState:
        """The opened state; changes to it are kept by `seal`."""
        if self._stored is None:
            self._stored = StoredState.of(self.sealer.open(self.row.state) if self.row.state else {})
        return self._stored

    @property
    def given(self) -> Mapping[str, Any]:
        """Property values that it has, or is being given."""
        if self._given is None:
            self._given = self.sealer.open(self.sealed_properties) if self.sealed_properties else {}
        return self._given

    @property
    def former(self) -> Mapping[str, Any]:
        """Property values from before the running update."""
        if self._former is None:
            self._former = self.sealer.open(self.sealed_former) if self.sealed_former else {}
        return self._former

    @property
    def requires(self) -> frozenset[str]:
        """Names of the resources that it was made to depend on."""
        return frozenset(orjson.loads(self.row.requires))

    @property
    def implementation(self) -> str:
        """Resolved type name that the resource was made as."""
        return str(self.stored.definition.get("implementation", self.row.type))

    @property
    def in_progress(self) -> bool:
        """Whether an action has begun and not ended."""
        return self.row.status == IN_PROGRESS

    @property
    def physical_name(self) -> str:
        """The name under which its object is made."""
        return physical_name(self.stack_name, self.row.name, self.row.uuid, self.type.physical_name_limit)

    def give(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Set new property values; the property set to store is returned."""
        self.row.properties = new_id()
        self._given = values
        self.sealed_properties = self.sealer.seal(values)
        return {"id": self.row.properties, "stack_id": self.row.stack_id, "body": self.sealed_properties}

    def begin_change(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Set new property values and remember the former ones until the update has ended, and what one that has not
        may have changed.
        """
        if self.row.former_properties is None:
            self.row.former_properties = self.row.properties
            self._former, self.sealed_former = self._given, self.sealed_properties
        else:
            tried = {name for name in {*self.given, *values} if self.given.get(name) != values.get(name)}
            self.stored.unsure = sorted(tried.union(self.stored.unsure))
        return self.give(values)

    def end_change(self) -> None:
        """Forget the former property values."""
        self.row.former_properties = self._former = self.sealed_former = None
        self.stored.unsure = []

    @property
    def in_change(self) -> bool:
        """Whether an update has begun and not brought about what it was to; another action may have followed it."""
        return self.row.former_properties is not None

    def seal(self) -> Resource:
        """The row as it must be written now: a copy, since the state may go on changing."""
        if self._stored is not None:
            self.row.state = self.sealer.seal(self._stored.to_data())
        self._sealed = self._content()
        return replace(self.row)

    @property
    def is_sealed(self) -> bool:
        """Whether everything that a method's entry may have changed is as it was when last sealed."""
        return self._sealed == self._content()

    def _content(self) -> bytes:
        """A digest of what is sealed, which may be megabytes."""
        content = dumps([self.row.physical_id, self.stored.to_data()], orjson.OPT_NON_STR_KEYS)
        return hashlib.blake2b(content, digest_size=32).digest()

    def event(self, reason: str, moment: float) -> Event:
        """What tells the present action and status at a `moment`, in seconds since the epoch.

        An object that has no id yet goes by the name that it is made under.
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
        )

    def snapshot(self) -> Snapshot:
        """What reference-id code may know."""
        return Snapshot(
            name=self.row.name,
            physical_name=self.physical_name,
            physical_id=self.row.physical_id,
            data=self.stored.data,
            properties=self.given,
        )

    def reference_id(self) -> Any:
        """What `get_resource` yields; an object that belongs to somebody else is known by its own id."""
        if self.row.physical_id is not None and self.stored.definition.get("external_id") is not None:
            return self.row.physical_id
        return self.type.reference_id(self.snapshot())


def namesakes(states: Iterable[ResourceState]) -> dict[str, list[ResourceState]]:
    """Recorded resources of each name, the latest first."""
    found: dict[str, list[ResourceState]] = {}
    for state in sorted(states, key=lambda state: -state.row.position):
        found.setdefault(state.row.name, []).append(state)
    return found


def keys_of(reference: Reference, type_: ResourceType) -> list[AttributeKey]:
    """What to read for a reference: the attribute, with its path where the type wants that, or all of them."""
    if reference.attribute is None:
        return []
    if reference.attribute == "":
        return [(name,) for name in type_.attributes if name != "show"]
    return [(reference.attribute, *reference.path) if type_.path_in_attribute else (reference.attribute,)]


def walk(value: Any, path: tuple[str | int, ...]) -> Any:
    """The value that a reference's path leads to; None where it leads nowhere (facts: engine.yaml, attributes.path)."""
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
