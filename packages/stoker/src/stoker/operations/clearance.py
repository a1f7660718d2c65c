"""Whether a change may begin: the policy of its stack, approvals by other people, windows and freezes, and plans that
are still the same.

Every operation that users begin on a stack needs a `Clearance`, which only a `ApprovalGate` gives. A change that lacks
something is refused, and recorded as a request with the digest of its plan; once that is approved, the same change is
allowed, once: the transaction that records the operation uses the request up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from stoker.base.context import RequestContext
from stoker.base.errors import ActionInProgress, ApprovalRequired, BadValue, ChangeWindowClosed, Forbidden
from stoker.base.ids import new_id
from stoker.contract.stacks import Refresh
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.change_control import Control
from stoker.engine.plan_policies import policy as plan_policy
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step
from stoker.engine.records.actions import PLANNED
from stoker.engine.records.beginnings import combined_control
from stoker.engine.records.services import EngineServices
from stoker.operations.plan_digests import PlanDigest, check_record, digest_of_action, refuse_outdated
from stoker.operations.planning import Planned, make_plan
from stoker.operations.requests import CheckedRequest, refuse_without_room
from stoker.store import approvals, settings
from stoker.store.approvals import BY_POLICY, Requirement, lacking
from stoker.store.creations import room_and_rules
from stoker.store.journal import Batch, Statement
from stoker.store.records import IN_PROGRESS, Announcement, Operation, Stack
from stoker.store.settings import rules_of
from stoker.store.survey_records import ChangeRequest
from stoker_foundation.clock import isoformat
from stoker_foundation.patterns.linear import fits_wildcards

KEPT_SECONDS = 365 * 86400.0
"""How long requests are kept."""

APPROVAL = "APPROVAL"
"""The action in events about requests."""


@dataclass(frozen=True, slots=True)
class Clearance:
    """That a change may begin. `fresh` is checked in the transaction that records the operation, and `use` run there
    with the operation's ID.
    """

    fresh: Callable[[Connection], object] | None = None
    use: Callable[[Connection, str], object] | None = None

    def on_condition(self, check: Callable[[Connection], object]) -> Clearance:
        """Return the clearance with a further check in the transaction that records the operation."""

        def both(connection: Connection) -> None:
            check(connection)
            if self.fresh is not None:
                self.fresh(connection)

        return replace(self, fresh=both)

    def in_transaction(self, operation: Operation) -> Statement | None:
        """Return what the transaction that records an operation does; None for nothing."""
        if self.fresh is None and self.use is None:
            return None

        def check(connection: Connection) -> None:
            if self.fresh is not None:
                self.fresh(connection)
            if self.use is not None:
                self.use(connection, operation.id)

        return check


UNCONTROLLED = Clearance()
"""For what changes no object: checks, snapshots, and what ends or undoes an operation that was allowed."""


class ChangeRules(NamedTuple):
    """What changes of a stack need, and the policies on its plans, as `written_policies` returns them."""

    control: Control
    written: Mapping[str, str]


def rules_now(connection: Connection, services: EngineServices, stack: Stack) -> ChangeRules:
    """Return the rules for changes of a stack, which may be one that does not exist yet."""
    controls, written = rules_of(connection, stack.project_id, stack.root_id)
    return ChangeRules(combined_control(services, controls.values()), written)


def rules_of_creation(
    connection: Connection, services: EngineServices, context: RequestContext, stack: Stack
) -> ChangeRules:
    """Return the rules for the creation of a stack. Raises as `refuse_without_room`."""
    limit = services.settings.max_stacks_per_tenant
    room, (controls, written) = room_and_rules(connection, stack, limit)
    refuse_without_room(room, context, stack, limit)
    return ChangeRules(combined_control(services, controls.values()), written)


async def gate_of(components: RecordingComponents, context: RequestContext, stack: Stack, action: str) -> ApprovalGate:
    """Return the gate that a change of a stack passes; `action` is that of its operation."""
    rules = await components.services.database.read(rules_now, components.services, stack)
    return ApprovalGate(components, context, stack, action, rules)


class ApprovalGate:
    """Lets a change of a stack pass, or records a request for it and refuses it."""

    def __init__(
        self,
        components: RecordingComponents,
        context: RequestContext,
        stack: Stack,
        action: str,
        rules: ChangeRules,
    ) -> None:
        self._components = components
        self._services = components.services
        self._context = context
        self._stack = stack
        self._action = action
        self._control = control = rules.control
        self._now = components.services.clock.now()
        self._has_policies = bool(components.services.settings.plan_policies or rules.written)
        self._opens_at = control.opens_at(self._now) if control.calendars else self._now

    @property
    def is_closed(self) -> bool:
        """Whether nothing passes without a request."""
        return bool(self._control.requirements) or self._opens_at != self._now

    @property
    def requires_plan(self) -> bool:
        """Whether the plan decides about what passes, or is to be approved; policies are asked about it then."""
        return self.is_closed or self._has_policies

    def refresh_of_plan(self, digest: str | None) -> Refresh:
        """Return which objects the cloud is asked for, if the request does not say it: a change without a plan asks for
        none. `digest` is that of the plan in the request.
        """
        return Refresh.CHANGES if digest is not None or self.requires_plan else Refresh.NONE

    async def pass_plan(self, digest: str | None, planned: Callable[[], Awaitable[Planned]]) -> Clearance:
        """Let a change pass that has a plan; with a digest, only that one.

        The plan must have what policies say of it if `requires_plan`. One that `repeats` changes nothing, and needs
        only what policies require. Raises PlanOutdated, BadValue, ApprovalRequired, ChangeWindowClosed.
        """
        if digest is None and not self.requires_plan:
            return Clearance()
        planned_change = await planned()
        if digest is not None:
            refuse_outdated(self._stack, digest, planned_change.digest)
        fresh = None
        if self._stack.inputs and planned_change.digest is not None:
            fresh = partial(check_record, self._services, self._stack, planned_change.digest)
        controlled = () if planned_change.repeats else self._control.requirements
        requirements = (*controlled, *required_by(planned_change.policies))
        if not requirements and (planned_change.repeats or not self.is_closed):
            return Clearance(fresh)
        return await self._allowed(planned_change.digest, requirements, planned_change.to_data(), fresh)

    async def pass_action(self, what: object, required: Sequence[Requirement] = ()) -> Clearance:
        """Let a change pass that has no plan; `what` is JSON data that tells it from others. Raises as `pass_plan`.

        `required` is what it needs besides what is required of all changes.
        """
        if not self.is_closed and not required:
            return Clearance()
        digest = await digest_of_action(self._services, self._stack, [self._action, what])
        fresh = None if digest is None else partial(check_record, self._services, self._stack, digest)
        return await self._allowed(digest, (*self._control.requirements, *required), None, fresh)

    async def pass_retry(
        self, last: Operation, skip: Sequence[str], digest: str | None, planned: Callable[[], Awaitable[Planned]]
    ) -> Clearance:
        """Let a retry of an operation pass: as its continuation if that was approved, unless it skips more; otherwise
        by its plan, if it has one. `digest` and `planned` are those of `pass_plan`.
        """
        if digest is None and not self.requires_plan:
            return Clearance()
        request = await self._services.database.read(approvals.of_operation, last.id)
        is_open = self._opens_at == self._now or (request is not None and request.emergency is not None)
        if request is None or skip or self._now >= request.expires_at or not is_open:
            if digest is None and last.action not in PLANNED:
                return await self.pass_action(["retry", last.id, last.inputs])
            return await self.pass_plan(digest, planned)
        fresh = None
        if digest is not None:
            planned_change = await planned()
            refuse_outdated(self._stack, digest, planned_change.digest)
            fresh = partial(check_record, self._services, self._stack, PlanDigest.parse(digest))
        return Clearance(fresh, partial(_hand_over, request, last.id))

    async def _allowed(
        self,
        digest: PlanDigest | None,
        requirements: Sequence[Requirement],
        plan: dict[str, object] | None,
        fresh: Callable[[Connection], object] | None,
    ) -> Clearance:
        if digest is None:
            raise ActionInProgress(
                f"Stack {self._stack.name} has an operation in progress; what needs approval or a change window begins "
                "when it has ended."
            )
        request = await self._request(str(digest), requirements, plan)
        left: list[Requirement] = []
        if request.emergency is None:
            approvals_by_request = await self._services.database.read(approvals.approvals_of, [request.id])
            left = lacking(requirements, request.user_id, approvals_by_request.get(request.id, ()))
            if left:
                raise ApprovalRequired(self._refusal(request, left))
            if self._opens_at != self._now:
                raise ChangeWindowClosed(f"{self._closed()} The request is {request.id}.")
        return Clearance(fresh, partial(_use, request, self._now))

    def _refusal(self, request: ChangeRequest, left: Sequence[Requirement]) -> str:
        approvers = " and of ".join(map(str, left))
        closed = f" {self._closed()}" if self._opens_at != self._now else ""
        return (
            f"This change of stack {self._stack.name} needs the approval of {approvers}; it waits as the request "
            f"{request.id} until {isoformat(request.expires_at)} (stoker approve). Repeat it when it is approved."
            f"{closed}"
        )

    def _closed(self) -> str:
        opening = f"until {isoformat(self._opens_at)}" if self._opens_at is not None else "in the next two years"
        return f"Stack {self._stack.name} must not be changed {opening}, by its change windows and freezes."

    async def _request(
        self, digest: str, requirements: Sequence[Requirement], plan: dict[str, object] | None
    ) -> ChangeRequest:
        """Return the open request for a plan; record one if there is none."""
        services, stack = self._services, self._stack
        stack_id = stack.root_id if stack.inputs else None
        pending = approvals.pending_key(stack.project_id, stack_id, stack.name, digest)
        found = await services.database.read(approvals.open_request, pending, self._now)
        if found is not None:
            return found
        needs = [{"role": each.role, "number": each.number} for each in requirements]
        row = ChangeRequest(
            id=new_id(),
            project_id=stack.project_id,
            stack_id=stack_id,
            stack_name=stack.name,
            action=self._action,
            digest=digest,
            pending=pending,
            user_id=self._context.user_id,
            user_name=self._context.user_name,
            created_at=self._now,
            expires_at=(self._opens_at or self._now) + self._control.hours * 3600.0,
            body=services.sealer.seal({"plan": plan, "requirements": needs}),
        )
        text = f"{self._action} waits for approval as the request {row.id}"
        batch = Batch()
        batch.then(partial(approvals.close_expired, pending=pending, now=self._now))
        batch.then(partial(approvals.forget_older, oldest=self._now - KEPT_SECONDS))
        batch.then(partial(approvals.add, request=row))
        batch.add(*self._notices(row))
        try:
            await record_with_event(self._components, stack if stack.inputs else None, batch, IN_PROGRESS, text)
        except IntegrityError:  # somebody has asked for the same at the same time
            found = await services.database.read(approvals.open_request, pending, self._now)
            if found is None:
                raise
            return found
        return row

    def _notices(self, row: ChangeRequest) -> list[Announcement]:
        """Return what tells others that a change waits, and what will tell them that it has expired."""
        if not self._control.notify:
            return []
        from stoker.engine.notifications.notices import About, Notice, notices

        who, until = row.user_name or row.user_id, isoformat(row.expires_at)
        message = f"{who} asks for the {row.action} of stack {row.stack_name}, as the request {row.id}, until {until}."
        expired = f"The request {row.id} of {who} for the {row.action} of stack {row.stack_name} has expired."
        about, services = About.request(row), self._services
        return [
            *notices(services, self._control, Notice.REQUESTED, about, message),
            *notices(services, self._control, Notice.EXPIRED, about, expired, due=row.expires_at),
        ]


async def record_with_event(
    components: RecordingComponents, stack: Stack | None, batch: Batch, status: str, text: str
) -> None:
    """Commit what is recorded about a request, with an event of its stack if that exists."""
    announcer = components.announcer
    if stack is None:
        await components.services.journal.commit(batch)
        announcer.send(batch.added)
        return
    batch.add(announcer.stack_event(stack, APPROVAL, status, text))
    await announcer.commit(components.services.journal, batch, await announcer.sinks_of(stack))


def required_by(report: plan_policy.Report | None) -> Sequence[Requirement]:
    """Return what policies with this report require of a plan; None if none was asked."""
    if report is None or not report.with_verdict(plan_policy.EnforcementLevel.REQUIRE_APPROVAL):
        return ()
    return (BY_POLICY,)


def _use(request: ChangeRequest, now: float, connection: Connection, operation_id: str) -> None:
    if not approvals.use(connection, request.id, operation_id, now):
        raise ApprovalRequired(f"The request {request.id} has been used or has expired meanwhile; repeat the change.")


def _hand_over(request: ChangeRequest, before: str, connection: Connection, operation_id: str) -> None:
    if not approvals.hand_over(connection, request.id, before, operation_id):
        raise ApprovalRequired(f"The request {request.id} was continued by another operation; repeat the change.")


# -- approval of the plan ---------------------------------------------------------------------------------------------


class LazyPlan:
    """Makes a plan when it is asked for first, and returns the same one afterwards."""

    def __init__(self, make: Callable[[], Awaitable[Planned]]) -> None:
        self._make = make
        self._plan: Planned | None = None

    @property
    def is_made(self) -> bool:
        """Whether it was asked for."""
        return self._plan is not None

    async def __call__(self) -> Planned:
        if self._plan is None:
            self._plan = await self._make()
        return self._plan


async def correct_differences(operation: Operation, refresh: Refresh, planned: LazyPlan) -> None:
    """Let an operation correct the differences from the cloud that its plan has: it compares these resources again
    before it decides, or all of them.
    """
    operation.observe = refresh is Refresh.ALL
    if refresh is Refresh.CHANGES:
        operation.differing = " ".join((await planned()).differing) or None


# -- the policy of a stack --------------------------------------------------------------------------------------------

EFFECTS = ("Allow", "Deny")
_ACTIONS = {
    StepKind.UPDATE: "Update:Modify",
    StepKind.REFUSE: "Update:Modify",
    StepKind.REPLACE: "Update:Replace",
    StepKind.DELETE: "Update:Delete",
    StepKind.FORGET: "Update:Delete",
}
"""The name of a step's kind in a policy; creating a resource is always allowed, as in AWS."""

_KEYS = frozenset({"Effect", "Action", "NotAction", "Principal", "Resource", "NotResource", "Condition", "Sid"})
_CONDITIONS = {"StringEquals": False, "StringLike": True}


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
    for key, other in (("Action", "NotAction"), ("Resource", "NotResource")):
        if (key in statement) == (other in statement):
            raise BadValue(f"{place} must have {key} or {other}, and not both.")
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
    policy = checked_policy(during) if during else await _stack_policy(services, stack)
    if policy is not None:
        _refuse_denied(stack, policy, await make_plan(services, stack, checked, action))


async def check_plan_by_policy(services: EngineServices, stack: Stack, plan: Plan) -> None:
    """Raise Forbidden if the stack's policy denies a step of a plan."""
    policy = await _stack_policy(services, stack)
    if policy is not None:
        _refuse_denied(stack, policy, plan)


async def _stack_policy(services: EngineServices, stack: Stack) -> Mapping[str, object] | None:
    known = await services.database.read(settings.of_stack, stack.root_id)
    return orjson.loads(known.policy) if known.policy else None


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
