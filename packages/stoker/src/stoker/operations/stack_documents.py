"""Export the documents of stacks, and abandon stacks."""

from __future__ import annotations

from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import Bug, NotSupported
from stoker.contract.stacks import AbandonStack, ExportStack
from stoker.contract.views import JSONObject
from stoker.engine.inspection.export import Document, export
from stoker.engine.ownership.submissions import Submissions
from stoker.engine.records.services import EngineServices
from stoker.operations.adoption import SEALED_FOR, require_option
from stoker.operations.clearance import gate_of
from stoker.operations.lookup import current_decision, find_stack, guard
from stoker.operations.stacks import requested_operation, submit
from stoker.store import snapshots
from stoker.store.records import COMPLETE, Stack


async def stack_export(services: EngineServices, context: RequestContext, request: ExportStack) -> JSONObject:
    """Return the document of a stack; for an abandoned one, until it is purged."""
    require_option(services.settings.enable_stack_abandon, "Stack export", "enable_stack_abandon")
    stack = await find_stack(services, context, request.ref, deleted=True)
    stored = await services.database.read(snapshots.stack_document, stack.id)
    if stack.deleted_at is not None and stored is not None:
        return _handed_out(services, stack, Document(**_opened(services, stored)))
    stack = await find_stack(services, context, request.ref)
    return _handed_out(services, stack, await export(services, stack))


async def stack_abandon(submissions: Submissions, context: RequestContext, request: AbandonStack) -> JSONObject:
    """Remove a stack from the records, keep its objects, and return its document.

    Raises ActionInProgress while an operation runs: the document would not contain what that operation has begun.
    """
    services = submissions.services
    require_option(services.settings.enable_stack_abandon, "Stack abandon", "enable_stack_abandon")
    stack = await find_stack(services, context, request.ref)
    if stack.parent_id is not None:
        raise NotSupported("A nested stack cannot be abandoned alone; abandon its root stack, or remove its resource.")
    await current_decision(services, "abandon", stack)
    operation = requested_operation(services, context, stack, "ABANDON", stack.inputs)
    clearance = await (await gate_of(submissions.components, context, stack, "ABANDON")).pass_action(None)
    await submit(submissions, context, stack, operation, clearance, guard=guard("abandon"))
    ended = await submissions.ended(operation)
    if ended.status != COMPLETE:
        raise NotSupported(f"The stack {stack.name} could not be abandoned: {ended.reason}")
    stored = await services.database.read(snapshots.stack_document, stack.id)
    if stored is None:
        raise Bug(f"the document of the abandoned stack {stack.id} is not recorded")
    return _handed_out(services, stack, Document(**_opened(services, stored)))


def _opened(services: EngineServices, body: str) -> dict[str, Any]:
    opened = services.sealer.open(body)
    return {"data": opened["document"], "hidden": opened["hidden"]}


def _handed_out(services: EngineServices, stack: Stack, document: Document) -> dict[str, object]:
    """Return the document as sent to the client, with hidden values sealed for the project that owns them."""
    if not document.hidden:
        return document.data
    sealed = {"for": SEALED_FOR, "project_id": stack.project_id, "hidden": document.hidden}
    return {**document.data, "sealed": services.sealer.seal(sealed)}
