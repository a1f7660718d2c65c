"""What the stacks above a nested one hide: it must not be shown in the nested one's plan either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stoker.engine.concealing import Concealment
from stoker.store import queries
from stoker.store.records import Stack

if TYPE_CHECKING:
    from stoker.engine.run import OperationRun


async def secrets_above(run: OperationRun) -> frozenset[str]:
    """The texts that hidden parameters of the stacks above hold."""
    found: set[str] = set()
    stack: Stack | None = run.stack
    while stack is not None and stack.parent_id is not None:
        above = run.engine.runs.get(stack.parent_id)
        if above is not None and above.plan is not None:
            return frozenset(found | above.plan.secrets)
        stack = await run.engine.database.read(queries.stack_by_id, stack.parent_id)
        if stack is not None:
            inputs = await run.engine.loader.load(stack.inputs)
            if any(schema.hidden for schema in inputs.template.parameters.values()):
                found |= Concealment(run.engine.loader.bind(stack, inputs, strict=False), {}).secrets
    return frozenset(found)
