"""New stacks and operations, before they are recorded; and what must allow them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from stoker.base.errors import ApprovalRequired, ChangeWindowClosed, Forbidden
from stoker.base.ids import new_id
from stoker.engine.change_control import Automatic, Control
from stoker.engine.records.loader import Prepared
from stoker.engine.records.services import EngineServices
from stoker.engine.settings import EngineSettings
from stoker.store import settings
from stoker.store.records import IN_PROGRESS, Operation, Stack


@dataclass(frozen=True)
class Requester:
    """Who asks for a stack or an operation: a user, with a request unless an engine acts by itself."""

    user_id: str | None
    user_name: str | None
    request_id: str | None = None
    client_request_token: str | None = None


@dataclass(frozen=True)
class Holder:
    """The resource that a nested stack belongs to: its stack, its uuid and its name."""

    stack: Stack
    uuid: str
    name: str


def new_stack(
    name: str,
    action: str,
    project_id: str,
    requester: Requester,
    now: float,
    *,
    identifier: str | None = None,
    timeout_minutes: int | None = None,
    disable_rollback: bool = True,
    prepared: Prepared | None = None,
    holder: Holder | None = None,
) -> Stack:
    """Return a stack in the state in which it is recorded first, with the ID that was reserved for it if there is one.

    A nested stack, which has a `holder`, shares the credential and the users of the stack above. `prepared` are its
    inputs, if they are known already.
    """
    identifier = identifier or new_id()
    stack = Stack(
        id=identifier,
        name=name,
        live_name=name,
        project_id=project_id,
        user_id=requester.user_id,
        user_name=requester.user_name,
        root_id=identifier,
        action=action,
        status=IN_PROGRESS,
        reason=f"Stack {action} started",
        created_at=now,
        timeout_minutes=timeout_minutes,
        disable_rollback=disable_rollback,
    )
    if prepared is not None:
        define(stack, prepared)
    if holder is not None:
        above = holder.stack
        stack.parent_id, stack.root_id, stack.depth = above.id, above.root_id, above.depth + 1
        stack.parent_resource, stack.parent_resource_name = holder.uuid, holder.name
        stack.credential, stack.user_project_id = above.credential, above.user_project_id
    return stack


def define(stack: Stack, prepared: Prepared) -> None:
    """Set the inputs of a new stack."""
    stack.inputs, stack.description = prepared.row.id, prepared.loaded.template.description


def new_operation(
    stack_id: str,
    action: str,
    inputs: str,
    requester: Requester,
    now: float,
    deadline: float | None,
    *,
    observe: bool = False,
    preflight: bool = True,
) -> Operation:
    """Return an operation that nobody runs yet; with `observe`, it reads the cloud before it decides.

    With `preflight`, its plan is checked before the first change.
    """
    return Operation(
        id=new_id(),
        stack_id=stack_id,
        action=action,
        inputs=inputs,
        request_id=requester.request_id,
        client_request_token=requester.client_request_token,
        user_id=requester.user_id,
        user_name=requester.user_name,
        created_at=now,
        deadline=deadline,
        observe=observe,
        skip_preflight=not preflight or None,
    )


def control_now(connection: Connection, services: EngineServices, project_id: str, root_id: str | None) -> Control:
    """Return what changes of a tree of stacks need; None is a stack that does not exist yet."""
    chosen = settings.controls_of(connection, project_id, [root_id] if root_id is not None else [])
    return combined_control(services, chosen.values())


async def written_policies(services: EngineServices, stack: Stack) -> Mapping[str, str]:
    """Return the policies on plans of a stack's project, with the key "", and of its tree, with its ID, as YAML."""
    return await services.database.read(settings.plan_policies_of, stack.project_id, stack.root_id)


def combined_control(services: EngineServices, chosen: Collection[object]) -> Control:
    """Return what the operator requires together with what is recorded of a project and a stack."""
    operator = [services.settings.change_control] if services.settings.change_control is not None else []
    return Control.combined([*operator, *map(Control.read, chosen)]) if operator or chosen else _NOTHING


async def refuse_automatic(services: EngineServices, stack: Stack) -> None:
    """Raise an error if the engine must not change a stack by itself now.

    That is ChangeWindowClosed outside of the windows, ApprovalRequired where people approve changes, and Forbidden
    where nothing is done without a request.
    """
    control = await services.database.read(control_now, services, stack.project_id, stack.root_id)
    if control.automatic is Automatic.ALLOWED:
        return
    if control.automatic is Automatic.REFUSED:
        raise Forbidden(f"Stack {stack.name} must not be changed without a request of a user, by its change control.")
    if control.requirements:
        raise ApprovalRequired(f"Changes of stack {stack.name} need approvals; one that nobody requests has none.")
    now = services.clock.now()
    if control.opens_at(now) != now:
        raise ChangeWindowClosed(f"Stack {stack.name} must not be changed now, by its change windows and freezes.")


_NOTHING = Control()


def time_limit(settings: EngineSettings, minutes: int | None) -> float:
    """Return the seconds that an operation may take. minutes: the stack's own timeout, if it has one."""
    return minutes * 60.0 if minutes else float(settings.stack_action_timeout)
