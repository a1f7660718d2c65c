"""Settings of a tree of stacks: termination protection, the stack policy, notification topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, Conflict
from stoker.contract.stacks import ChangeSettings, ShowSettings
from stoker.contract.views import SettingsView, StackIdentity, TreeSettings
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.operations.clearance import checked_policy
from stoker.operations.lookup import find_stack
from stoker.operations.views import lock_view
from stoker.store import queries, settings
from stoker.store.journal import Batch, Statement
from stoker.store.records import Stack, StackSettings


async def stack_settings_show(services: EngineServices, context: RequestContext, request: ShowSettings) -> TreeSettings:
    """Return the settings of the stack's tree, such as `protected` and `policy` (a map, or null), and its lock."""
    stack = await find_stack(services, context, request.ref)
    root = stack if stack.parent_id is None else await services.database.read(queries.stack_by_id, stack.root_id)
    return {**settings_view(await settings_of(services, stack)), "locked": None if root is None else lock_view(root)}


async def stack_settings_change(
    services: RecordingServices, context: RequestContext, request: ChangeSettings
) -> StackIdentity:
    """Change settings; keys as in `settings_view`. Raises BadValue for an invalid policy."""
    stack = await find_stack(services, context, request.ref)
    batch = Batch()
    batch.steps.extend(settings_steps(stack, request.changes))
    await services.journal.commit(batch)
    return {"id": stack.id, "name": stack.name, "project_id": stack.project_id}


def settings_steps(stack: Stack, changes: Mapping[str, object]) -> list[Statement]:
    """Return what changes these settings of a stack and keeps the others; keys as in `settings_view`.

    Raises BadValue for a nested stack, and for an invalid policy.
    """
    if not changes:
        return []
    if stack.parent_id is not None:
        raise BadValue(f"Settings belong to the root stack; {stack.name} is a nested stack.")
    changed_settings(StackSettings(stack.id), changes)

    def change(connection: Connection) -> None:
        settings.save(connection, changed_settings(settings.of_stack(connection, stack.id), changes))

    return [change]


def changed_settings(present: StackSettings, changes: Mapping[str, Any]) -> StackSettings:
    """Return settings with some of them changed; keys as in `settings_view`. Raises BadValue."""
    columns: dict[str, Any] = {}
    for name, value in changes.items():
        match name:
            case "protected":
                columns[name] = bool(value)
            case "policy":
                columns[name] = None if value is None else orjson.dumps(checked_policy(value)).decode()
            case _:
                columns[name] = orjson.dumps(list(value)).decode()
    return replace(present, **columns)


def settings_view(known: StackSettings) -> SettingsView:
    """Return settings as data."""
    return {
        "protected": known.protected,
        "policy": orjson.loads(known.policy) if known.policy else None,
        "notification_topics": orjson.loads(known.notification_topics),
        "capabilities": orjson.loads(known.capabilities),
    }


async def settings_of(services: EngineServices, stack: Stack) -> StackSettings:
    """Return the settings of the tree that the stack belongs to."""
    return await services.database.read(settings.of_stack, stack.root_id)


async def check_deletable(services: EngineServices, stack: Stack) -> None:
    """Raise Conflict for a stack with termination protection."""
    if (await settings_of(services, stack)).protected:
        raise Conflict(
            f"Stack {stack.name} cannot be deleted while termination protection is enabled; disable it first "
            "(stoker stack unprotect, or UpdateTerminationProtection)."
        )
