"""Make the changes that record a mapped tree of stacks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from stoker.engine.records.beginnings import Requester, new_operation
from stoker.engine.records.loader import save_documents
from stoker.engine.records.services import EngineServices
from stoker.store import queries, trusts
from stoker.store.journal import Batch
from stoker.store.ownership import Owned, nothing
from stoker.store.records import Event, Operation, Resource
from stoker.takeover.decoding import Decoder
from stoker.takeover.heat import parsed, seconds
from stoker.takeover.mapped import MappedStack, MappedTree, claims_of, record_id, taken_over_event

MARK = "takeover-"
"""The prefix of the request ID of operations that record a takeover; the rest identifies the state of Heat's rows."""


class TreeWriter:
    """Makes batches; `now` is in seconds since the epoch."""

    def __init__(self, services: EngineServices, decoder: Decoder, now: float) -> None:
        self._services = services
        self._decoder = decoder
        self._now = now

    def batch(self, tree: MappedTree) -> Batch:
        """Return everything of a tree, to be committed together."""
        batch = Batch()
        claims = claims_of(tree)
        batch.claims.extend(claims.values())
        for credential, (user, project) in tree.credentials.items():
            batch.then(partial(trusts.record_once, credential=credential, owner=(user, project, ())))
        for mapped in tree.stacks:
            for prepared in (mapped.inputs, *mapped.earlier_inputs):
                batch.jointly(save_documents, prepared).add(prepared.row)
            batch.add(mapped.stack, self._operation(mapped, tree.digest))
            batch.add(*(self._owning(state.seal(), claims.get(state.row.uuid)) for state in mapped.states.values()))
            batch.property_sets.extend(mapped.property_sets)
            batch.add(*self._events(mapped, batch))
            batch.add(*mapped.snapshots, *(copy.seal() for copy in mapped.copies))
            if mapped.source.tags:
                batch.then(partial(queries.set_tags, stack_id=mapped.stack.id, tags=mapped.source.tags))
        return batch

    def _owning(self, row: Resource, claimed: Owned | None) -> Resource:
        if row.physical_id is not None:
            row.ownership = nothing(row.uuid) if claimed is None else claimed.key
        return row

    def _operation(self, mapped: MappedStack, digest: str) -> Operation:
        stack = mapped.stack
        assert stack.operation is not None
        ended = stack.updated_at or stack.created_at
        requester = Requester(stack.user_id, stack.user_name, f"{MARK}{digest}")
        operation = new_operation(stack.id, stack.action, stack.inputs, requester, ended, None)
        operation.id, operation.status, operation.reason = stack.operation, stack.status, stack.reason
        operation.started_at = operation.finished_at = ended
        return operation

    def _events(self, mapped: MappedStack, batch: Batch) -> Iterable[Event]:
        """Yield the events; their property values are added to the batch."""
        shared = {row["rsrc_prop_data_id"]: mapped.states[row["id"]].row.properties for row in mapped.source.resources}
        for row in mapped.source.events:
            values = row["rsrc_prop_data_id"]
            if values is not None and values not in shared and values in mapped.source.values:
                stored = mapped.source.values[values]
                data = parsed(stored["data"]) or {}
                plain = self._decoder.properties(data) if stored["encrypted"] else data
                shared[values] = record_id(mapped.source, "event values", values)
                body = self._services.sealer.seal(plain)
                batch.property_sets.append({"id": shared[values] or "", "stack_id": mapped.stack.id, "body": body})
            yield Event(
                id=row["uuid"] or record_id(mapped.source, "event", row["id"]),
                stack_id=mapped.stack.id,
                resource_name=row["resource_name"] or "",
                resource_type=row["resource_type"] or "",
                physical_id=row["physical_resource_id"],
                action=row["resource_action"] or "",
                status=row["resource_status"] or "",
                reason=row["resource_status_reason"] or "",
                properties=shared.get(values) if values is not None else None,
                time=seconds(row["created_at"]) or self._now,
            )
        stack = mapped.stack
        taken = Event.of_stack(stack, stack.action, stack.status, "Taken over from Heat", self._now)
        yield replace(taken, id=taken_over_event(stack.id))
