"""Prepare a run: load what is recorded of its stack, compare it with the cloud, bind the definition, make and check the
plan.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection

from stoker.base.errors import Bug, PreflightFailed, SnapshotNotFound
from stoker.engine.calls.building import make_call
from stoker.engine.calls.examination import is_usable, obstacle
from stoker.engine.inspection.comparison import compare
from stoker.engine.inspection.shared_reads import SharedReads
from stoker.engine.planning.action_order import ActionOrder, not_created_checks, plan_removal, plan_verb
from stoker.engine.planning.decide import Policies, can_have_obstacle, is_examined
from stoker.engine.planning.imports import IMPORTED_BY, pending_imports, returned_references
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.planner import DesiredState, Forward
from stoker.engine.planning.retention import Copies, RestoredValues, completed_before, is_part_of_return
from stoker.engine.preflight.checks import CheckedSteps, check_steps
from stoker.engine.records.actions import FORWARD, NOTHING, REMOVES, RETURNS
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.observations import is_observable, keep_deployed, record_found
from stoker.engine.records.stack_view import current_of, facade_of, read_states, uses_facade
from stoker.engine.records.state import ResourceState, former_labels, resources_by_name
from stoker.engine.redaction.stacks import generated_secrets, secrets_above
from stoker.engine.running.content_copies import copies_of, path_below
from stoker.engine.running.imports import read_imports
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.performer import record_terms
from stoker.engine.running.relocation import relocate
from stoker.engine.running.stack_documents import keep_document
from stoker.engine.running.whole_plan import with_nested
from stoker.engine.scheduling import all_of
from stoker.store import late_requests, snapshots
from stoker.store.journal import Batch
from stoker.store.records import REMOVE_SNAPSHOT
from stoker.template.definition import Definition
from stoker.template.versions import RETAIN_EXCEPT_ON_CREATE


async def observe(run: OperationContext, states: Iterable[ResourceState], definition: Definition) -> None:
    """Compare resources with the cloud, and record differences: all, or those that a look before has found to differ.

    Resources that cannot be read are assumed to be as recorded, and so is what the desired definition ignores. Nested
    stacks are compared by their own operations; those that only begin with this one are not recorded yet.
    """
    operation, relocated = run.operation, run.planning.relocated
    begun = relocated.new if relocated is not None else frozenset[str]()
    differing = frozenset((operation.differing or "").split())
    looked_at = [
        state
        for state in states
        if (operation.observe or state.row.uuid in differing) and is_observable(state) and state.row.uuid not in begun
    ]
    if not looked_at:
        return
    reads = SharedReads.of(looked_at)
    answers = await all_of([compare(run, state, reads) for state in looked_at])
    batch = Batch()
    for state, answer in zip(looked_at, answers, strict=True):
        desired = definition.resources.get(state.row.name)
        found = answer.without_ignored(state.type, desired.ignore_drift if desired is not None else ()).found
        property_set = record_found(state, found)
        if found is None:
            batch.change(state.seal()).add(run.event(state, state.row.reason))
        elif property_set is not None:
            keep_deployed(state)
            batch.property_sets.append(property_set)
            batch.change(state.seal())
    transfers = run.progress.unsaved_transfers
    if batch.changed and transfers is None:
        await run.commit(batch)
    elif transfers is not None:  # nothing may be recorded under new names before they are
        run.progress.unsaved_transfers = batch.precede_with(transfers)


async def examine(run: OperationContext, states: Iterable[ResourceState]) -> None:
    """Examine the objects of resources whose last action failed, so that the plan replaces those only that need it.

    It is repeated right before a resource is changed. The objects to which a snapshot is restored are asked whether
    that is possible.
    """
    failed = [state for state in states if is_examined(state.row)]
    answers = await all_of([is_usable(state, make_call(run, state)) for state in failed])
    for state, usable in zip(failed, answers, strict=True):
        state.usable = usable
    restored = [state for state in states if state.row.name in run.planning.copies and can_have_obstacle(state)]
    obstacles = await all_of([obstacle(state, make_call(run, state)) for state in restored])
    for state, found in zip(restored, obstacles, strict=True):
        state.obstacle = found


VERBS = {
    "CHECK": ActionOrder.ANY,
    "SUSPEND": ActionOrder.DEPENDENTS_FIRST,
    "RESUME": ActionOrder.REQUIREMENTS_FIRST,
    "SNAPSHOT": ActionOrder.REQUIREMENTS_FIRST,
}


async def prepare(run: OperationContext) -> None:
    """Load and plan the operation: set what `planning` and `objects` describe. Raises StokerError."""
    action = run.operation.action
    if action == REMOVE_SNAPSHOT:
        run.planning.plan = plan_removal(run.planning.removal_options, [])
        return
    made_from = run.operation.inputs if action in FORWARD else NOTHING
    inputs = await _load(run, run.stack.inputs if made_from == NOTHING else made_from)
    run.objects.position = max((state.row.position for state in run.states.values()), default=0)
    states = list(run.states.values())
    run.planning.earlier = resources_by_name(states)
    await _find_used_resources(run, states)
    for state in states:
        run.services.memory.values.rest(state)
    if action in VERBS:
        desired = await _bind_definition(run, inputs)
        await load_copies(run)
        not_created = not_created_checks(desired, states) if action == "CHECK" else ()
        run.planning.plan = plan_verb(action, states, order=VERBS[action], not_created=not_created)
    elif action in REMOVES or run.operation.inputs == NOTHING:
        if action == "ABANDON":
            await keep_document(run)
        run.planning.plan = plan_removal(run.planning.removal_options, states)
    elif action in FORWARD:
        desired = await _bind_definition(run, inputs)
        moved = await _move(run, desired)
        states = list(run.states.values())
        await observe(run, states, desired.definition)
        states = await _import(run, desired, states)
        desired.restore = await load_copies(run)
        if action == "ADOPT":
            run.planning.adopted = await load_adopted(run)
        await examine(run, states)
        former = await _former(run)
        above = await _secrets_above(run)
        policies = Policies.of(run.services, run.stack, action)
        new = run.planning.relocated.new if run.planning.relocated is not None else frozenset[str]()

        def planned() -> Plan:
            return Forward(
                action,
                desired,
                states,
                run.scope,
                policies,
                former,
                secrets_above=above,
                moved=moved,
                removal_options=run.planning.removal_options,
                imported=run.planning.imported,
                begun=new,
            ).plan()

        run.planning.plan = await run.evaluate(planned, len(desired.definition.resources))
    else:
        raise Bug(f"there is no way to run {action}")


async def _move(run: OperationContext, desired: DesiredState) -> dict[str, str]:
    """Give resources the names and stacks that they have from now on, and return the former paths of those of the
    stack; the first commit records them.

    A run that continues after a crash finds them in the record.
    """
    before = run.operation.former_inputs
    transfers = desired.inputs.environment.transfers
    if run.operation.action in RETURNS or transfers.moved or transfers.between:
        run.planning.relocated = await relocate(run, desired)
        run.planning.earlier = resources_by_name(run.states.values())
    if run.planning.removal_options.undoes_imports and (rows := returned_references(desired, run.current)):
        run.progress.unsaved_transfers = Batch().change(*rows).precede_with(run.progress.unsaved_transfers or Batch())
    moved = run.planning.relocated.names(run.stack) if run.planning.relocated is not None else {}
    return former_labels(run.current.values(), before) | moved


async def _import(run: OperationContext, desired: DesiredState, states: list[ResourceState]) -> list[ResourceState]:
    """Read the objects of imports, and return all resources with theirs; the first commit records them.

    A run that continues after a crash finds them in the record.
    """
    if run.operation.action not in IMPORTED_BY or not desired.inputs.environment.transfers.imports:
        return states
    if not (pending := pending_imports(desired, states, None)):
        return states
    batch = Batch()
    imports = await read_imports(run, desired, pending)
    run.planning.imported = imports.unread
    for state in imports.states:
        is_new = state.row.uuid not in run.states
        batch.property_sets.append(state.set_properties(state.properties))
        run.states[state.row.uuid] = state
        await record_terms(run, state, batch)
        (batch.add if is_new else batch.change)(state.seal()).add(run.event(state, "Imported"))
    states = list(run.states.values())
    run.objects.position = max(state.row.position for state in states)
    run.planning.earlier = resources_by_name(states)
    run.progress.unsaved_transfers = batch.precede_with(run.progress.unsaved_transfers or Batch())
    return states


async def _find_used_resources(run: OperationContext, states: Iterable[ResourceState]) -> None:
    """Find out which resources a rollback removes with their objects, if a deletion policy asks for it, and which
    ones without since they were imported.
    """
    if any(state.stored.definition.get("deletion_policy") == RETAIN_EXCEPT_ON_CREATE for state in states):
        since = await run.services.database.read(completed_before, run.operation)
        run.planning.removal_options = replace(run.planning.removal_options, since=since)
    if run.operation.parent_operation is not None and any(state.stored.origin.imported for state in states):
        is_return = await run.services.database.read(is_part_of_return, run.operation)
        run.planning.removal_options = replace(run.planning.removal_options, is_return=is_return)


class _Recorded(NamedTuple):
    """What is recorded of a stack: its inputs, its resources by UUID, those of them for which a request may be executed
    late, and the IDs of the snapshots that are deleted with it.
    """

    inputs: LoadedInputs
    states: dict[str, ResourceState]
    late: set[str]
    snapshots: Sequence[str]


def _recorded(connection: Connection, run: OperationContext, inputs_id: str) -> _Recorded:
    services, stack = run.services, run.stack
    inputs, states = services.loader.load_now(connection, inputs_id), read_states(connection, services, stack)
    late = late_requests.expected(connection, stack.id) if states else set[str]()
    gone = snapshots.ids_of_snapshots(connection, stack.id) if run.operation.action == "DELETE" else ()
    return _Recorded(inputs, states, late, gone)


async def _load(run: OperationContext, inputs_id: str) -> LoadedInputs:
    """Read what is recorded of the stack; skip the resources of a new one, which has none."""
    if run.begins_stack:
        run.inputs = await run.services.loader.load(inputs_id)
        return run.inputs
    found = await run.services.database.read(_recorded, run, inputs_id)
    run.inputs = found.inputs
    run.states |= found.states
    run.current |= current_of(run.states.values())
    run.objects.late, run.planning.snapshots = found.late, found.snapshots
    return found.inputs


async def _bind_definition(run: OperationContext, inputs: LoadedInputs) -> DesiredState:
    loader = run.services.loader
    exports = await loader.exports(run.stack.project_id, inputs.template)

    def bound() -> DesiredState:
        definition = loader.bind(run.stack, inputs, strict=False, exports=exports)
        return DesiredState.of(run.services, definition, inputs)

    desired = run.planning.desired = await run.evaluate(bound)
    desired.since, desired.skipped = run.operation.created_at, run.planning.removal_options.skipped
    desired.settled = run.planning.targets.keep
    if inputs.template.uses("Fn::GetAZs"):
        await run.load_zones()
    run.scope.parent = None
    if uses_facade(run.stack, inputs):
        run.scope.parent = await run.services.database.read(facade_of, run.services, run.stack, inputs)
    run.planning.attribute_keys = desired.keys_for_resources()
    return desired


async def _former(run: OperationContext) -> Definition | None:
    """Return the previous definition of the stack if it has hidden values that the plan must not show."""
    identifier = run.operation.former_inputs
    if not identifier or identifier == run.operation.inputs:
        return None
    inputs = await run.services.loader.load(identifier)
    if not inputs.template.hides:
        return None
    return await run.services.bind(run.stack, inputs)


async def _secrets_above(run: OperationContext) -> frozenset[str]:
    """Return the secrets of the stacks above: from the plan of the parent operation, or from the database."""
    above = run.components.runs.get(run.stack.parent_id or "")
    if above is not None and above.has_plan:
        return above.planned_secrets.union(generated_secrets(above))
    return frozenset(await secrets_above(run.services, run.stack))


LOG = logging.getLogger(__name__)

_CHECKED = ("CREATE", "UPDATE")


async def check_before_first_change(run: OperationContext, whole: Plan | None) -> None:
    """Check the plan of a root stack's creation or update. Raises PreflightFailed with all that is known to fail.

    `whole` is the plan with the steps of all nested stacks, if it has been made before.

    An operation that is resumed was checked before its first change. The operation of a nested stack is part of one
    that was checked; one that a signal begins is not checked.
    """
    plan, desired = run.planning.plan, run.planning.desired
    run.planning.plan = plan.without_subjects() if plan is not None else None
    operation, settings = run.operation, run.services.settings
    wants = settings.preflight and not operation.skip_preflight and operation.action in _CHECKED
    if plan is None or desired is None or not wants or operation.epoch > 1 or run.stack.parent_id is not None:
        return
    if whole is None:
        whole = await with_nested(run, desired, CheckedSteps()) if plan.reaches_below() else plan
    seconds, skipped = settings.validation_seconds, settings.preflight_skipped
    report = await check_steps(whole, run.cloud, run.services.clock, seconds, skipped)
    if report.results and operation.plan is not None:  # the first commit stores the plan
        sealer = run.services.sealer
        operation.plan = sealer.seal({**sealer.open(operation.plan), "preflight": report.to_data()})
    for result in report.results:
        if result not in report.failures:
            LOG.warning("before the first change of stack %s: %s", run.stack.name, result.diagnostic.text())
    if report.failures:
        raise PreflightFailed(
            f"Nothing was changed, since this is known to fail ({len(report.failures)}):\n{report.text()}"
        )


async def load_copies(run: OperationContext) -> RestoredValues:
    """Find the copies of the operation's snapshot for the run's stack, and the nested stacks with further copies.

    An operation without a snapshot keeps values that were restored before. Raises SnapshotNotFound.
    """
    identifier, database = run.operation.snapshot, run.services.database
    if identifier is None:
        return RestoredValues(run.current)
    snapshot = await database.read(snapshots.snapshot_by_id, identifier)
    if snapshot is None:
        raise SnapshotNotFound(f"The Snapshot ({identifier}) does not exist any more.")
    run.planning.snapshot_path = await path_below(run, snapshot.stack_id)
    copies = Copies.of(run.operation.id, await copies_of(run, [identifier]))
    for name in run.planning.snapshot_path:
        copies = copies.below(name)
    restored_values = copies.restored_values(run.current)
    run.planning.copies |= restored_values.copies
    return replace(restored_values, copies=run.planning.copies)


async def load_adopted(run: OperationContext) -> Mapping[str, Mapping[str, object]]:
    """Return the entries of the adopted document for the run's stack, by resource name."""
    body = await run.services.database.read(snapshots.stack_document, run.stack.root_id)
    entries: Any = run.services.sealer.open(body).get("adopted", {}) if body is not None else {}
    for name in await path_below(run, run.stack.root_id):
        entries = entries.get(name, {}).get("resources", {})
    return entries if isinstance(entries, Mapping) else {}
