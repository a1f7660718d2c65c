"""Make the records of the snapshots of one stack, and of the images and backups in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.engine.records.loader import LoadedInputs, Prepared
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import ContentCopy, ResourceType, Snapshot
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Resource, StackSnapshot
from stoker.takeover.definitions import Definitions
from stoker.takeover.heat import Row, parsed, seconds
from stoker.takeover.mapped import MappedStack, MappedTree, record_id
from stoker.takeover.redaction import redacted_document

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry of a resource in the document of a snapshot.

    `path` has the names of the resources that lead to it from the stack of the snapshot, its own as the last one;
    `stack_name` is the name of its stack.
    """

    path: Path
    stack_name: str
    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the resource."""
        return self.path[-1]

    @property
    def type(self) -> str:
        """The type of the resource; empty if the document has none."""
        return str(self.document.get("type") or "")

    @property
    def data(self) -> Mapping[str, object]:
        """What Heat has stored for the resource, such as the ID of a copy."""
        return self.document.get("resource_data") or {}


class SnapshotMapper:
    """Makes the records of snapshots; `now` is in seconds since the epoch."""

    def __init__(self, services: EngineServices, definitions: Definitions, now: float) -> None:
        self._services = services
        self._definitions = definitions
        self._now = now

    def add(self, tree: MappedTree, mapped: MappedStack) -> None:
        """Add the snapshots of a stack: the definitions at that time, their documents, and copies of content."""
        for row in mapped.source.snapshots:
            data, inputs, body = parsed(row["data"]), mapped.stack.inputs, None
            if data is not None:
                data["resources"] = {**(data.get("resources") or {}), **mapped.source.saved.get(row["id"], {})}
                prepared = self._prepared(mapped, row, data)
                inputs = prepared.row.id
                mapped.copies += self._copies(mapped, row, data)
                body = self._sealed(prepared.loaded, data)
            mapped.snapshots.append(
                StackSnapshot(
                    id=row["id"],
                    stack_id=mapped.stack.id,
                    name=row["name"],
                    action=row["action"] or "CREATE",
                    status=FAILED if row["status"] == IN_PROGRESS else row["status"],
                    reason=row["status_reason"] or "",
                    inputs=inputs,
                    body=body,
                    created_at=seconds(row["created_at"]) or self._now,
                )
            )
            if row["status"] == IN_PROGRESS:
                tree.notes.append(
                    f"{mapped.stack.name}: the snapshot {row['name'] or row['id']} is in progress, and is recorded as "
                    "failed; delete its images and backups in their services"
                )

    def _prepared(self, mapped: MappedStack, row: Row, data: Mapping[str, object]) -> Prepared:
        raw = {"files": {}, "environment": {}, **data}
        mapped.earlier_inputs.append(self._definitions.inputs(mapped.source, raw, "snapshot", row["id"]))
        return mapped.earlier_inputs[-1]

    def _sealed(self, inputs: LoadedInputs, data: Mapping[str, object]) -> str:
        document, hidden = redacted_document(data, inputs, self._type)
        return self._services.sealer.seal({"document": document, "hidden": hidden})

    def _copies(self, mapped: MappedStack, row: Row, data: Mapping[str, object]) -> Iterator[ResourceState]:
        """Yield the records of the copies that the entries of a snapshot's resources name in their data."""
        for entry in entries_of(data):
            state = mapped.current.get(entry.name) if len(entry.path) == 1 else None
            of_state = state.type if state is not None and state.row.type == entry.type else None
            kind = of_state or self._type(entry.document)
            if kind is not None and kind.copy is not None and entry.data.get(kind.copy.noted_as):
                yield self._copy(mapped, row, entry, kind, state)

    def _copy(
        self, mapped: MappedStack, row: Row, entry: Entry, kind: ResourceType, state: ResourceState | None
    ) -> ResourceState:
        """Return the record of one copy; `state` is the resource's, None if it is not one of the stack any more."""
        assert isinstance(kind.copy, ContentCopy)
        made_at = seconds(row["created_at"]) or self._now
        record = Resource(
            uuid=record_id(mapped.source, "copy", row["id"], *entry.path),
            stack_id=row["id"],
            position=len(mapped.copies),
            name=entry.name,
            type=entry.type,
            action="CREATE",
            status=COMPLETE,
            reason="Taken over from Heat",
            created_at=made_at,
            started_at=made_at,
            physical_id=str(entry.data[kind.copy.noted_as]),
        )
        copy = ResourceState(record, kind.copy, entry.stack_name, self._services.sealer, self._services.memory.values)
        copy.stored.definition = {
            "implementation": kind.type_name,
            "path": list(entry.path),
            "stack_name": entry.stack_name,
        }
        properties = state.properties if state is not None else {}
        name = state.physical_name if state is not None else entry.name
        resource = Snapshot(entry.name, name, entry.document.get("resource_id"), entry.data, properties)
        property_set = copy.set_properties(kind.copy.of(resource))
        record.properties = property_set["id"] = record_id(mapped.source, "copied", row["id"], *entry.path)
        mapped.property_sets.append(property_set)
        return copy

    def _type(self, entry: Mapping[str, object]) -> ResourceType | None:
        return self._services.types.registry.types.get(str(entry.get("type")))


def entries_of(document: Mapping[str, Any], above: Path = ()) -> Iterator[Entry]:
    """Yield the entries of a document's resources, also of nested stacks."""
    for name, content in (document.get("resources") or {}).items():
        entry = Entry((*above, name), str(document.get("name")), content)
        yield entry
        yield from entries_of(content, entry.path)
