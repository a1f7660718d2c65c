"""Settings of a tree of stacks: termination protection, the stack policy, notification topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson
from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, Conflict, Forbidden
from stoker.contract.stacks import ChangeSettings, ShowSettings
from stoker.contract.views import SettingsView, StackIdentity, TreeSettings
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Plan, Step
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.operations.lookup import find_stack
from stoker.operations.planning import make_plan
from stoker.operations.requests import CheckedRequest
from stoker.operations.views import lock_view
from stoker.store import queries, settings
from stoker.store.journal import Batch, Statement
from stoker.store.records import Stack, StackSettings
from stoker_foundation.patterns.linear import fits_wildcards

EFFECTS = ("Allow", "Deny")
_ACTIONS = {
    Kind.UPDATE: "Update:Modify",
    Kind.REFUSE: "Update:Modify",
    Kind.REPLACE: "Update:Replace",
    Kind.DELETE: "Update:Delete",
    Kind.FORGET: "Update:Delete",
}
"""The name of a step's kind in a policy; creating a resource is always allowed, as in AWS."""

_KEYS = frozenset({"Effect", "Action", "NotAction", "Principal", "Resource", "NotResource", "Condition", "Sid"})
_CONDITIONS = {"StringEquals": False, "StringLike": True}


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


# -- policies ------------------------------------------------------------------------------------------------------


def checked_policy(policy: object) -> Mapping[str, object]:
    """Return a valid stack policy in AWS's format: `{"Statement": [{Effect, Action, Principal, Resource, Condition}]}`.

    Raises BadValue for any part that is not supported, since ignoring it could allow what the policy denies.
    """
    if not isinstance(policy, Mapping) or set(policy) - {"Statement", "Version", "Id"}:
        raise BadValue("A stack policy must be a map with the key Statement.")
    statements = policy.get("Statement")
    if isinstance(statements, Mapping):
        statements = [statements]
    if not isinstance(statements, list) or not statements:
        raise BadValue("Statement of a stack policy must be a list of at least one statement.")
    for index, statement in enumerate(statements):
        _check_statement(f"Statement[{index}] of the stack policy", statement)
    return {**policy, "Statement": statements}


def _check_statement(place: str, statement: object) -> None:
    if not isinstance(statement, Mapping) or set(statement) - _KEYS:
        raise BadValue(f"{place} must be a map with the keys {', '.join(sorted(_KEYS))}.")
    if statement.get("Effect") not in EFFECTS:
        raise BadValue(f"{place}: Effect must be Allow or Deny.")
    if statement.get("Principal") not in ("*", {"AWS": "*"}):
        raise BadValue(f'{place}: Principal must be "*".')
    for one, other in (("Action", "NotAction"), ("Resource", "NotResource")):
        if (one in statement) == (other in statement):
            raise BadValue(f"{place} must have {one} or {other}, and not both.")
    for name in ("Action", "NotAction", "Resource", "NotResource"):
        if name in statement and not all(isinstance(text, str) for text in _list(statement[name])):
            raise BadValue(f"{place}: {name} must be a string or a list of strings.")
    condition = statement.get("Condition", {})
    operators = condition if isinstance(condition, Mapping) else {"Condition": None}
    for operator, values in operators.items():
        if operator not in _CONDITIONS or not isinstance(values, Mapping) or set(values) != {"ResourceType"}:
            raise BadValue(f"{place}: Condition must be StringEquals or StringLike on ResourceType.")


async def check_policy(
    services: EngineServices,
    stack: Stack,
    checked: CheckedRequest,
    during: Mapping[str, object] | None = None,
    action: str = "UPDATE",
) -> None:
    """Raise Forbidden if the stack's policy denies a step of an update, or of another action.

    `during` replaces the policy for this update. A step that can become a replacement counts as one, so that the
    operation does nothing that was not checked here.
    """
    policy = checked_policy(during) if during else settings_view(await settings_of(services, stack))["policy"]
    if policy is not None:
        _refuse_denied(stack, policy, await make_plan(services, stack, checked, action))


async def check_plan_by_policy(services: EngineServices, stack: Stack, plan: Plan) -> None:
    """Raise Forbidden if the stack's policy denies a step of a plan."""
    policy = settings_view(await settings_of(services, stack))["policy"]
    if policy is not None:
        _refuse_denied(stack, policy, plan)


def _refuse_denied(stack: Stack, policy: Mapping[str, Any], plan: Plan) -> None:
    refused = [step for step in plan.steps if step.kind in _ACTIONS and not _allows(policy["Statement"], step)]
    if refused:
        denied = ", ".join(sorted({f"{_ACTIONS[step.kind]} of {step.name}" for step in refused}))
        raise Forbidden(f"The stack policy of {stack.name} does not allow {denied}.")


def _allows(statements: Sequence[Mapping[str, object]], step: Step) -> bool:
    effects = {statement["Effect"] for statement in statements if _applies(statement, step)}
    return "Allow" in effects and "Deny" not in effects


def _applies(statement: Mapping[str, Any], step: Step) -> bool:
    action, name = _ACTIONS[step.kind], f"LogicalResourceId/{step.name}"
    if "Action" in statement and not _matches(action, statement["Action"]):
        return False
    if "NotAction" in statement and _matches(action, statement["NotAction"]):
        return False
    if "Resource" in statement and not _matches(name, statement["Resource"]):
        return False
    if "NotResource" in statement and _matches(name, statement["NotResource"]):
        return False
    return all(
        _matches(step.type, values["ResourceType"], wild=_CONDITIONS[operator])
        for operator, values in statement.get("Condition", {}).items()
    )


def _matches(text: str, patterns: object, *, wild: bool = True) -> bool:
    """Return whether the string matches one of the patterns; if `wild`, with wildcards in them."""
    return any(fits_wildcards(pattern, text) if wild else text == pattern for pattern in _list(patterns))


def _list(value: object) -> Iterable[Any]:
    return value if isinstance(value, list) else [value]
