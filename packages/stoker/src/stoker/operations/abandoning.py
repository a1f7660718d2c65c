"""Export the documents of stacks, and abandon stacks."""

from __future__ import annotations

import asyncio
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import Bug, NotSupported
from stoker.contract.stacks import AbandonStack, ExportStack
from stoker.contract.views import JSONObject
from stoker.engine.core import Engine
from stoker.engine.inspection.export import Document, export
from stoker.operations.adoption import SEALED_FOR, require_option
from stoker.operations.lookup import find_stack
from stoker.operations.stacks import new_operation, submit
from stoker.operations.transitions import guard, verdict
from stoker.store import snapshots
from stoker.store.records import COMPLETE, UNFINISHED, Operation, Stack

_WITHOUT_NEWS = 1.0
"""Seconds between two looks at an operation that another engine may be running."""


async def stack_export(engine: Engine, context: RequestContext, request: ExportStack) -> JSONObject:
    """Return the document of a stack; for an abandoned one, until it is purged."""
    require_option(engine.settings.enable_stack_abandon, "Stack export", "enable_stack_abandon")
    stack = await find_stack(engine, context, request.ref, deleted=True)
    kept = await engine.database.read(snapshots.stack_document, stack.id)
    if stack.deleted_at is not None and kept is not None:
        return _handed_out(engine, stack, Document(**_opened(engine, kept)))
    stack = await find_stack(engine, context, request.ref)
    return _handed_out(engine, stack, await export(engine, stack))


async def stack_abandon(engine: Engine, context: RequestContext, request: AbandonStack) -> JSONObject:
    """Remove a stack from the records, keep its objects, and return its document.

    Raises ActionInProgress while an operation runs: the document would not contain what that operation has begun.
    """
    require_option(engine.settings.enable_stack_abandon, "Stack abandon", "enable_stack_abandon")
    stack = await find_stack(engine, context, request.ref)
    if stack.parent_id is not None:
        raise NotSupported("A nested stack cannot be abandoned alone; abandon its root stack, or remove its resource.")
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
    """Return the operation once it has finished, in whichever engine it runs."""
    while (operation := await engine.refreshed(operation)).status in UNFINISHED:
        finished = asyncio.Event()
        engine.awaited.wait(operation.id, f"abandon {operation.id}", finished.set)
        timer = engine.clock.call_later(_WITHOUT_NEWS, finished.set)
        if (await engine.refreshed(operation)).status in UNFINISHED:
            await finished.wait()
        timer.cancel()
    return operation


def _opened(engine: Engine, body: str) -> dict[str, Any]:
    kept = engine.sealer.open(body)
    return {"data": kept["document"], "hidden": kept["hidden"]}


def _handed_out(engine: Engine, stack: Stack, document: Document) -> dict[str, Any]:
    """Return the document as sent to the client, with hidden values sealed for the project that owns them."""
    if not document.hidden:
        return document.data
    sealed = {"for": SEALED_FOR, "project_id": stack.project_id, "hidden": document.hidden}
    return {**document.data, "sealed": engine.sealer.seal(sealed)}
