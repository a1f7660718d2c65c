"""The plan that a checked request leads to."""

from __future__ import annotations

from stoker.engine.core import Engine
from stoker.engine.plan import Plan
from stoker.engine.planner import plan_forward
from stoker.engine.stack_context import StackContext
from stoker.operations.requests import CheckedRequest
from stoker.store.records import Stack


async def make_plan(engine: Engine, stack: Stack, checked: CheckedRequest, action: str) -> Plan:
    """The plan that the operation would run."""
    reading = StackContext(engine, stack)
    if stack.inputs:
        reading.inputs = await engine.loader.load(stack.inputs)
        await reading.load_states()
    return plan_forward(action, checked.wanted, list(reading.states.values()), reading.scope)
