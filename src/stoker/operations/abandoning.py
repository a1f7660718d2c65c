"""Stacks that leave: their documents, and abandoning them (facts: engine.yaml, abandon)."""

from __future__ import annotations

import asyncio
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import Bug, NotSupported
from stoker.engine.core import Engine
from stoker.engine.inspection.export import Document, export
from stoker.operations.adoption import SEALED_FOR, require_option
from stoker.operations.lookup import Reference, find_stack
from stoker.operations.stacks import new_operation, submit
from stoker.operations.transitions import guard, verdict
from stoker.store import snapshots
from stoker.store.records import COMPLETE, UNFINISHED, Operation, Stack

_WITHOUT_NEWS = 1.0
"""Seconds after which an operation that another engine may run is looked at again."""


async def stack_export(engine: Engine, context: RequestContext, ref: Reference) -> dict[str, Any]:
    """The document of a stack; that of one that has been abandoned until it is purged."""
    require_option(engine.settings.enable_stack_abandon, "Stack export", "enable_stack_abandon")
    stack = await find_stack(engine, context, ref, deleted=True)
    kept = await engine.database.read(snapshots.stack_document, stack.id)
    if stack.deleted_at is not None and kept is not None:
        return _handed_out(engine, stack, Document(**_opened(engine, kept)))
    stack = await find_stack(engine, context, ref)
    return _handed_out(engine, stack, await export(engine, stack))


async def stack_abandon(engine: Engine, context: RequestContext, ref: Reference) -> dict[str, Any]:
    """Forget a stack, leaving everything that it made where it is; its document.

    Raises ActionInProgress while something runs: what has been begun and not ended would be lost.
    """
    require_option(engine.settings.enable_stack_abandon, "Stack abandon", "enable_stack_abandon")
    stack = await find_stack(engine, context, ref)
    if stack.parent_id is not None:
        raise NotSupported("A nested stack belongs to the stack above it; abandon the whole tree, or remove it there.")
    verdict("abandon", stack)
    operation = new_operation(engine, context, stack, "ABANDON", stack.inputs)
    await submit(engine, context, stack, operation, guard=guard("abandon"))
    ended = await _ended(engine, operation)
    if ended.status != COMPLETE:
        raise NotSupported(f"The stack {stack.name} could not be abandoned: {ended.reason}")
    kept = await engine.database.read(snapshots.stack_document, stack.id)
    if kept is None:
        raise Bug(f"the document of the abandoned stack {stack.id} is not recorded")
    return _handed_out(engine, stack, Document(**_opened(engine, kept)))


async def _ended(engine: Engine, operation: Operation) -> Operation:
    """The operation once it has ended, wherever it runs."""
    while (operation := await engine.refreshed(operation)).status in UNFINISHED:
        told = asyncio.Event()
        engine.awaited.wait(operation.id, f"abandon {operation.id}", told.set)
        timer = engine.clock.call_later(_WITHOUT_NEWS, told.set)
        if (await engine.refreshed(operation)).status in UNFINISHED:
            await told.wait()
        timer.cancel()
    return operation


def _opened(engine: Engine, body: str) -> dict[str, Any]:
    kept = engine.sealer.open(body)
    return {"data": kept["document"], "hidden": kept["hidden"]}


def _handed_out(engine: Engine, stack: Stack, document: Document) -> dict[str, Any]:
    """The document as it leaves, hidden values sealed for the project that they belong to."""
    if not document.hidden:
        return document.data
    sealed = {"for": SEALED_FOR, "project_id": stack.project_id, "hidden": document.hidden}
    return {**document.data, "sealed": engine.sealer.seal(sealed)}
