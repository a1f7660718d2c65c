"""Record what a stack becomes with a new definition that moves resources between stacks (`Side`)."""

from __future__ import annotations

from functools import partial

from sqlalchemy import Connection

from stoker.engine.planning.refactoring import Side
from stoker.engine.records.services import EngineServices
from stoker.store import exchange, queries
from stoker.store.journal import Batch


def record_descriptions(batch: Batch, side: Side) -> None:
    """Add the resources that the new definition describes in another way to a batch, as changes of their rows."""
    for row in (state.seal() for state in side.described):
        values = {name: value for name, value in row.values().items() if name != "uuid"}
        batch.then(partial(queries.set_resource, uuid=row.uuid, values=values))


def record_exchange(services: EngineServices, side: Side, connection: Connection) -> None:
    """Record what the stack exports and imports."""
    imported = side.wanted.definition.imports if side.wanted.inputs.template.uses("Fn::ImportValue") else ()
    exported = {name: services.sealer.seal(value) for name, value in side.exported.items()}
    exchange.record(
        connection, project_id=side.stack.project_id, stack_id=side.stack.id, exported=exported, imported=imported
    )
