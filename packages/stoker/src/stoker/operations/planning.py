"""The plan for a checked request, and its digest, with which a request applies exactly that plan later.

The digest consists of three fingerprints: of the record that the plan starts from, of its inputs, and of its steps. A
request with a digest is refused if one of them differs by then. They are made with the service's key, so that they
reveal nothing about the data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue
from stoker.base.similar import closest
from stoker.contract.stacks import Refresh
from stoker.engine.inspection.cloud_refresh import CloudRefresh
from stoker.engine.inspection.comparison import DetectionResult
from stoker.engine.inspection.examination import examine_tree
from stoker.engine.plan_policies.policy import Policy
from stoker.engine.plan_policies.policy import Report as PolicyReport
from stoker.engine.planning.action_order import plan_removal
from stoker.engine.planning.decide import Policies
from stoker.engine.planning.imports import IMPORTED_BY, NO_IMPORTS, Imports, returned_references
from stoker.engine.planning.nested import NestedPlanner
from stoker.engine.planning.plan import Plan, Step
from stoker.engine.planning.planner import DesiredState, Forward
from stoker.engine.planning.relocation import carry_out, desired_paths, read, read_without
from stoker.engine.planning.retention import Copies, RemovalOptions
from stoker.engine.planning.suggested_moves import suggested_imports, suggested_moves
from stoker.engine.preflight.checks import check_steps
from stoker.engine.preflight.model import Report
from stoker.engine.records.actions import RETURNS
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.observations import Observations
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded, available_zones, current_of, read_below
from stoker.engine.running.completion import exported_values, refuse_changes
from stoker.operations.other_stacks import consumers, part_of_joint_deployment
from stoker.operations.plan_checks import evaluate_policies, known_costs, usages_of
from stoker.operations.plan_digests import PlanDigest, fingerprint
from stoker.operations.requests import CheckedRequest
from stoker.schema.unknown import has_unknown
from stoker.store import fingerprints
from stoker.store.records import IN_PROGRESS, Stack
from stoker.template.expressions import UNDETERMINED
from stoker.template.transfers import Import, Move

if TYPE_CHECKING:
    from stoker.engine.pricing.costs import Costs
    from stoker.engine.pricing.usage import Usage

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan including all nested stacks, and its digest; the digest is None while an operation runs on one of them.

    `hidden` are the names of the parameters whose values must not be stored with it. `unchecked` is as in
    CheckedRequest. `refresh` says which objects the cloud was asked for, None if the plan never asks; `observed` is
    what it has. `differing` and `statuses` are those of the `CloudRefresh`. `preflight` is None if the plan was not
    checked, `costs` if nobody asked for them or there is no price list, and `policies` if nobody asked or there are
    none.
    `suggested` are moves that would keep objects, `suggested_imports` imports that would own them.
    `consumers` and `joint` are as in `other_stacks`; `joint` is None for a stack that is planned alone.
    `skipped` are the paths of the resources that a retry leaves as they are. An update `repeats` if the stack has its
    definition already, and nothing is left to do.
    """

    plan: Plan
    digest: PlanDigest | None
    hidden: frozenset[str] = frozenset()
    unchecked: str | None = None
    observed: Observations | None = None
    refresh: Refresh | None = None
    differing: tuple[str, ...] = ()
    statuses: Mapping[str, str] = field(default_factory=dict)
    preflight: Report | None = None
    costs: Costs | None = None
    policies: PolicyReport | None = None
    suggested: Sequence[Move] = ()
    suggested_imports: Sequence[Import] = ()
    consumers: Sequence[Mapping[str, object]] = ()
    joint: Mapping[str, object] | None = None
    skipped: Sequence[str] = ()
    repeats: bool = False

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        digest = str(self.digest) if self.digest is not None else None
        unchecked = {"unchecked": self.unchecked} if self.unchecked else {}
        coverage = self.observed.coverage if self.observed is not None else None
        refresh = {"refresh": self.refresh.value} if self.refresh is not None else {}
        compared = {"compared": coverage.to_data()} if coverage is not None else {}
        identity = {"digest": digest, "hidden_parameters": sorted(self.hidden)}
        preflight = {"preflight": self.preflight.to_data()} if self.preflight is not None else {}
        costs = {"costs": self.costs.to_data(self.plan.secrets)} if self.costs is not None else {}
        policies = {"policies": self.policies.to_data()} if self.policies is not None else {}
        suggestions: dict[str, Sequence[Import | Move]] = {
            "suggested_moves": self.suggested,
            "suggested_imports": self.suggested_imports,
        }
        suggested = {name: [each.to_data() for each in found] for name, found in suggestions.items() if found}
        consumers = {"consumers": list(self.consumers)} if self.consumers else {}
        skipped = {"skipped": list(self.skipped)} if self.skipped else {}
        joint = {"joint_deployment": dict(self.joint)} if self.joint is not None else {}
        details: dict[str, object] = {**unchecked, **refresh, **compared, **preflight, **costs, **policies}
        return {**self.plan.to_data(), **identity, **details, **suggested, **consumers, **skipped, **joint}


@dataclass(frozen=True, slots=True)
class TargetDefinition:
    """The definition that an operation works towards. `inputs` is JSON data that is equal for equal inputs; `copies`
    are those of the snapshot that is restored; `unchecked` is that of the request. `returns_to` is the ID of the former
    inputs to which a rollback returns, `since` that of `RemovalOptions`. `imports` are those of the request,
    `differing` the uuids of resources that are compared in any case, if any are, and
    `tags` those that it gives the stack, None for those that the stack has; `tried` are the policies on plans that it
    tries. `leaving` are the paths of resources that other stacks have taken by then. A goal that is `joint` is one of a
    deployment of several stacks: some of its values may not be known yet.
    """

    action: str
    desired: DesiredState
    inputs: Any
    copies: Copies = field(default_factory=Copies)
    unchecked: str | None = None
    returns_to: str = ""
    since: float = inf
    imports: Imports = NO_IMPORTS
    differing: frozenset[str] = frozenset()
    joint: bool = False
    tags: Sequence[str] | None = None
    tried: Sequence[Policy] = ()
    leaving: frozenset[str] = frozenset()

    @classmethod
    def of(cls, stack: Stack, checked: CheckedRequest, action: str, copies: Copies | None = None) -> TargetDefinition:
        """Return the goal of a checked request."""
        inputs, row = checked.prepared.loaded, checked.prepared.row
        towards = [stack.project_id, row.template, inputs.environment_digest, row.files, inputs.parameters]
        if inputs.environment.transfers:
            towards.append(inputs.environment.transfers.to_data())
        imports = checked.imports if action in IMPORTED_BY else NO_IMPORTS
        joint = checked.joint is not None
        return cls(
            action,
            checked.desired,
            towards,
            copies or Copies(),
            checked.unchecked,
            imports=imports,
            joint=joint,
            leaving=checked.departures.leaving,
        )


async def make_plan(
    services: EngineServices,
    stack: Stack,
    checked: CheckedRequest,
    action: str,
    observed: Observations | None = None,
) -> Plan:
    """Return the stack's own steps, as the operation would run them. `observed` is what the cloud has of the stack."""

    def query(connection: Connection) -> Plan:
        return _forward(
            services, connection, stack, TargetDefinition.of(stack, checked, action), observed=observed
        ).plan()

    return await _run_query(services, stack, query)


async def plan_tree(
    services: EngineServices,
    context: RequestContext,
    stack: Stack,
    goal: TargetDefinition,
    *,
    with_kept: bool = False,
    refresh: Refresh | None = None,
    preflight: bool = False,
    priced: bool = False,
    known: DetectionResult | None = None,
) -> Planned:
    """Return the plan of `plan_tree_with_values` without the values of its resources."""
    options = {"with_kept": with_kept, "preflight": preflight, "priced": priced}
    planned = await plan_tree_with_values(services, context, stack, goal, refresh=refresh, known=known, **options)
    return replace(planned, plan=planned.plan.without_subjects())


async def plan_tree_with_values(
    services: EngineServices,
    context: RequestContext,
    stack: Stack,
    goal: TargetDefinition,
    *,
    with_kept: bool = False,
    refresh: Refresh | None = None,
    preflight: bool = False,
    priced: bool = False,
    known: DetectionResult | None = None,
) -> Planned:
    """Return the plan with its effects on all nested stacks; its steps have their subjects.

    With `preflight`, the plan is checked as before its first change, with `priced`, it has its costs and what policies
    say of it. `with_kept` also lists unchanged resources; `refresh` says which objects the cloud is asked for, None for
    a plan that never asks; `known` is what a detection has found. The objects of resources whose last action failed are
    examined in any case, as an operation does.
    """
    examined = await examine_tree(services, stack, restores=bool(goal.copies.by_path))
    refresher = CloudRefresh(services, stack, refresh or Refresh.NONE, goal.desired.definition, known, goal.differing)
    await refresher.begin()
    exports = goal.desired.definition.known_exports
    if exports is None:
        exports = await services.loader.exports(stack.project_id, goal.desired.inputs.template)
    zones = await _zones_of(services, context, goal.desired.inputs)
    query = _TreeQuery(services, stack, goal, refresher, examined, exports, zones, with_kept, priced)
    planned = await _planned_with_cloud(services, stack, query.plan, refresher, examined, refresh)
    report = await _preflight_report(services, context, stack, planned.plan) if preflight else None
    costs = await known_costs(services, context, query.usages)
    policies = await evaluate_policies(services, stack, planned.plan, costs, goal.tags, goal.tried) if priced else None
    return replace(planned, preflight=report, costs=costs, policies=policies)


async def _zones_of(services: EngineServices, context: RequestContext, inputs: LoadedInputs) -> object:
    """Return the cloud's availability zones if a template may use them; UNDETERMINED if none does."""
    if inputs.template.uses("Fn::GetAZs") or any("GetAZs" in text for text in inputs.files.values()):
        return await available_zones(await services.credentials.of_caller(context))
    return UNDETERMINED


async def _preflight_report(services: EngineServices, context: RequestContext, stack: Stack, plan: Plan) -> Report:
    """Return the results of the checks before the first change of a plan."""
    settings, open_cloud = services.settings, partial(services.credentials.of_caller, context)
    lacking = await services.credentials.lacking_roles(context, stack)
    seconds, skipped = settings.validation_seconds, settings.preflight_skipped
    return await check_steps(plan, open_cloud, services.clock, seconds, skipped, lacking)


@dataclass(slots=True)
class _TreeQuery:
    """Plans a stack with its nested stacks from what is recorded, and what was read of the cloud by then.

    `usages` are what the objects of the last plan take, if it is `priced`.
    """

    services: EngineServices
    stack: Stack
    goal: TargetDefinition
    refresher: CloudRefresh
    examined: Observations
    exports: Mapping[str, object] | None
    zones: object
    with_kept: bool
    priced: bool
    usages: Sequence[Usage] | None = None

    def plan(self, connection: Connection) -> Planned:
        """Return the plan, without what is asked of services."""
        services, stack, goal = self.services, self.stack, self.goal
        observed = self.refresher.added_to(self.examined)
        recorded = fingerprints.tree(connection, stack.root_id) if stack.inputs else [["new", stack.name]]
        forward = _forward(services, connection, stack, goal, self._nested_planner(connection, observed), observed)
        plan = forward.plan()
        digest = None
        if not goal.joint or not _has_unknown_inputs(goal):
            digest = _digest(services, plan, goal.inputs, recorded, is_new=not stack.inputs)
        self.usages = usages_of(services, connection, stack, plan) if self.priced else None
        return Planned(
            plan,
            digest,
            goal.desired.definition.parameters.hidden,
            goal.unchecked,
            differing=self.refresher.differing,
            suggested=suggested_moves(plan),
            suggested_imports=suggested_imports(plan),
            consumers=consumers(connection, services, stack, forward),
            joint=part_of_joint_deployment(connection, services, stack, forward) if goal.joint else None,
        )

    def _nested_planner(self, connection: Connection, observed: Observations) -> NestedPlanner:
        services, stack, goal = self.services, self.stack, self.goal
        return NestedPlanner(
            services,
            connection,
            stack,
            goal.desired.inputs,
            self.exports,
            stack.depth,
            self.zones,
            self.with_kept,
            observed,
            goal.copies,
            RemovalOptions(goal.action, since=goal.since, skipped=goal.desired.skipped),
            imports=goal.imports,
            read=read_below(services, connection, stack, observed) if self.refresher.refresh is Refresh.ALL else {},
        )


def _has_unknown_inputs(goal: TargetDefinition) -> bool:
    """Return whether values that the goal is given are known only after other stacks were deployed."""
    exports = goal.desired.definition.known_exports or {}
    return has_unknown(goal.desired.inputs.parameters) or has_unknown(exports)


async def plan_removal_of(
    services: EngineServices,
    context: RequestContext,
    stack: Stack,
    removal_options: RemovalOptions,
    besides: object = None,
    retain: Collection[str] = (),
    *,
    refresh: Refresh | None = None,
    priced: bool = False,
) -> Planned:
    """Return the plan that removes all resources of a stack and of its nested stacks; with `priced`, with its costs and
    what policies say of it.

    `besides` is JSON data about what else is removed, so that the digest identifies it, too. `retain` are the paths of
    resources whose objects are to be retained. `refresh` says which objects the cloud is asked for, None for a plan
    that never asks. What the cloud answers explains the steps; the removal does the same whatever it is, so that the
    digest does not depend on it. Raises BadValue for a path without a resource.
    """
    refresher = CloudRefresh(services, stack, refresh or Refresh.NONE)
    await refresher.begin()
    usages: Sequence[Usage] | None = None

    def query(connection: Connection) -> Planned:
        rows = fingerprints.tree(connection, stack.root_id)
        removal = partial(_removal, services, connection, stack)
        options = removal_options
        plan = recorded = removal(options, Observations())
        if retain:
            options = replace(removal_options, retained=resources_at(recorded, stack.name, retain))
            plan = recorded = removal(options, Observations())
        observed = refresher.added_to(Observations())
        if observed.found:
            plan = removal(options, observed)
        nonlocal usages
        usages = usages_of(services, connection, stack, plan) if priced else None
        return Planned(plan, _digest(services, recorded, [stack.project_id, besides], rows))

    planned = await _planned_with_cloud(services, stack, query, refresher, Observations(), refresh)
    costs = await known_costs(services, context, usages)
    policies = await evaluate_policies(services, stack, planned.plan, costs, None) if priced else None
    return replace(planned, plan=planned.plan.without_subjects(), costs=costs, policies=policies)


def _removal(
    services: EngineServices,
    connection: Connection,
    stack: Stack,
    removal_options: RemovalOptions,
    observed: Observations,
) -> Plan:
    """Return the plan that removes all resources of a stack, which are as recorded but for what was observed."""
    recorded = Recorded.of(services, connection, stack, observed)
    inputs = recorded.inputs or services.loader.load_now(connection, stack.inputs)
    read = read_below(services, connection, stack, observed)
    inside = NestedPlanner(
        services,
        connection,
        stack,
        inputs,
        depth=stack.depth,
        read=read,
        observed=observed,
        removal_options=removal_options,
    )
    return plan_removal(removal_options, list(recorded.states.values()), inside)


def resources_at(plan: Plan, stack_name: str, paths: Collection[str]) -> frozenset[str]:
    """Return the uuids of the resources at these paths of the plan of a deletion.

    Raises BadValue for a path without a resource, and for a resource whose deletion has begun.
    """
    found: dict[str, list[Step]] = {}
    for step in plan.steps:
        found.setdefault(step.name, []).append(step)
    for path in paths:
        if path not in found:
            meant = closest(path, found)
            hint = f": did you mean {meant!r}?" if meant else "."
            raise BadValue(f"The stack {stack_name} has no resource {path!r} that could be retained{hint}")
        states = [step.subject.state for step in found[path] if step.subject is not None]
        if any(state is not None and state.row.action == "DELETE" and state.in_progress for state in states):
            raise BadValue(f"The object of {path} cannot be retained: its deletion has begun.")
    return frozenset(step.uuid for path in paths for step in found[path] if step.uuid is not None)


async def _planned_with_cloud(
    services: EngineServices,
    stack: Stack,
    query: Callable[[Connection], Planned],
    refresher: CloudRefresh,
    before: Observations,
    refresh: Refresh | None,
) -> Planned:
    """Return the result of a query that plans, which is repeated until `refresher` has read all objects that the plan
    needs. The observations are these and those `before`. `refresh` is None for a plan that never asks the cloud.
    """
    planned = await _run_query(services, stack, query)
    while await refresher.follow(planned.plan):
        planned = await _run_query(services, stack, query)
    reported_refresh = refresher.refresh if refresh is not None else None
    return replace(planned, observed=refresher.added_to(before), refresh=reported_refresh, statuses=refresher.statuses)


async def _run_query(services: EngineServices, stack: Stack, query: Callable[[Connection], Result]) -> Result:
    """Return the result of a query that reads and plans, on a thread of the project."""
    return await services.database.read_on(partial(services.evaluator.compute_on_thread, stack.project_id), query)


def _forward(
    services: EngineServices,
    connection: Connection,
    stack: Stack,
    goal: TargetDefinition,
    inside: NestedPlanner | None = None,
    observed: Observations | None = None,
) -> Forward:
    recorded = Recorded.of(services, connection, stack, observed)
    action, desired, former = goal.action, goal.desired, None
    relocated = None
    if action in RETURNS or desired.inputs.environment.transfers:
        tree = (
            read_without(services, connection, recorded, observed, goal.leaving)
            if goal.leaving
            else read(services, connection, action, desired, recorded, observed)
        )
        relocated = carry_out(services, desired, tree, desired_paths(action, goal.returns_to, desired, tree))
        if inside is not None and tree.below:
            inside = replace(inside, read=tree.below, relocated=relocated)
    states = list({**recorded.states, **{state.row.uuid: state for state in goal.imports.states}}.values())
    current = current_of(states)
    if action in RETURNS:
        returned_references(desired, current)
    if recorded.inputs is None:
        desired = _desired_without_id(services, stack, desired)
    else:
        desired.restore = goal.copies.restored_values(current)
        former = services.loader.bind(stack, recorded.inputs, strict=False)
    zones = inside.zones if inside is not None else UNDETERMINED
    scope = RecordedScope(current.get, zones=zones, prefetched=dict(goal.imports.prefetched))
    policies = Policies.of(services, stack, action)
    return Forward(
        action,
        desired,
        states,
        scope,
        policies,
        former,
        nested=inside,
        secrets_above=frozenset(relocated.secrets if relocated is not None else ()),
        moved=relocated.names(stack) if relocated is not None else {},
        removal_options=RemovalOptions(action, since=goal.since),
        imported=goal.imports.unread,
        begun=relocated.new if relocated is not None else frozenset(),
    )


def _desired_without_id(services: EngineServices, stack: Stack, desired: DesiredState) -> DesiredState:
    """Return the inputs of a new stack without its id, which differs from the one that was used for checking."""
    definition, inputs = desired.definition, desired.inputs
    bound = services.loader.bind_new(stack.project_id, inputs, name=stack.name, exports=definition.known_exports)
    return DesiredState.of(services, bound, inputs)


def _digest(
    services: EngineServices, plan: Plan, inputs: object, recorded: Sequence[Sequence[object]], *, is_new: bool = False
) -> PlanDigest | None:
    """Return the digest of a plan; None while an operation runs on one of the stacks."""
    if not is_new and any(row[2] == IN_PROGRESS for row in recorded):
        return None
    digests = (fingerprint(services, content) for content in (recorded, inputs, plan.identity()))
    return PlanDigest(*digests)


async def check_exported_values(services: EngineServices, stack: Stack, checked: CheckedRequest) -> None:
    """Refuse to change exports that other stacks import, if their values are known; the operation checks the rest.

    Raises StackValidationFailed.
    """

    def query(connection: Connection) -> None:
        forward = _forward(services, connection, stack, TargetDefinition.of(stack, checked, "UPDATE"))
        forward.plan()
        refuse_changes(connection, services, stack, exported_values(checked.definition, forward.scope))

    await _run_query(services, stack, query)
