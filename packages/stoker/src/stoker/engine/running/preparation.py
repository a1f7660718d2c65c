"""Prepare a run: load what is recorded of its stack, bind the definition, and make the plan."""

from __future__ import annotations

from functools import partial

from stoker.base.errors import Bug
from stoker.engine.planning.planner import VerbOrder, Wanted, not_created_checks, plan_forward, plan_removal, plan_verb
from stoker.engine.planning.policies import Policies
from stoker.engine.records.actions import FORWARD, NOTHING, REMOVES
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.recorded import facade_of
from stoker.engine.records.state import namesakes
from stoker.engine.redaction.stacks import generated_secrets, secrets_above
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.refresh import examine, observe
from stoker.engine.running.stack_documents import keep_document, load_adopted, load_copies
from stoker.store import late_requests
from stoker.store.records import REMOVE_SNAPSHOT
from stoker.template.definition import Definition

VERBS = {
    "CHECK": VerbOrder.ANY,
    "SUSPEND": VerbOrder.DEPENDENTS_FIRST,
    "RESUME": VerbOrder.REQUIREMENTS_FIRST,
    "SNAPSHOT": VerbOrder.REQUIREMENTS_FIRST,
}


async def prepare(run: OperationContext) -> None:
    """Load and plan the operation: set what `planning` and `objects` describe. Raises StokerError."""
    action = run.operation.action
    if action == REMOVE_SNAPSHOT:
        run.planning.plan = plan_removal(action, [])
        return
    made_from = run.operation.inputs if action in FORWARD else NOTHING
    inputs = await _load(run, run.stack.inputs if made_from == NOTHING else made_from)
    run.objects.position = max((state.row.position for state in run.states.values()), default=0)
    states = list(run.states.values())
    if states:
        run.objects.late = await run.services.database.read(late_requests.expected, run.stack.id)
    run.planning.earlier = namesakes(states)
    for state in states:
        run.services.values.rest(state)
    if action in VERBS:
        wanted = await _bind_definition(run, inputs)
        await load_copies(run)
        not_created = not_created_checks(wanted, states) if action == "CHECK" else ()
        run.planning.plan = plan_verb(action, states, order=VERBS[action], not_created=not_created)
    elif action in REMOVES or run.operation.inputs == NOTHING:
        if action == "ABANDON":
            await keep_document(run)
        run.planning.plan = plan_removal(action, states)
    elif action in FORWARD:
        wanted = await _bind_definition(run, inputs)
        wanted.restore = await load_copies(run)
        if action == "ADOPT":
            run.planning.adopted = await load_adopted(run)
        if run.operation.observe:
            await observe(run, states)
        await examine(run, states)
        former = await _former(run)
        above = await _secrets_above(run)
        policies = Policies.of(run.services, run.stack, action)
        work = partial(plan_forward, action, wanted, states, run.scope, policies, former, above)
        run.planning.plan = await run.evaluate(work, len(wanted.definition.resources))
    else:
        raise Bug(f"there is no way to run {action}")


async def _load(run: OperationContext, inputs_id: str) -> LoadedInputs:
    """Load inputs like `StackContext.load`; skip the resources of a new stack, which has none."""
    operation = run.operation
    if operation.action != "CREATE" or operation.former_inputs is not None or operation.epoch > 1:
        return await run.load(inputs_id)
    inputs = run.inputs = await run.services.loader.load(inputs_id)
    return inputs


async def _bind_definition(run: OperationContext, inputs: LoadedInputs) -> Wanted:
    loader = run.services.loader
    exports = await loader.exports(run.stack.project_id, inputs.template)

    def bound() -> Wanted:
        definition = loader.bind(run.stack, inputs, strict=False, exports=exports)
        return Wanted.of(run.services, definition, inputs)

    wanted = run.planning.wanted = await run.evaluate(bound)
    wanted.since = run.operation.created_at
    if inputs.template.uses("Fn::GetAZs"):
        await run.load_zones()
    run.scope.parent = await run.services.database.read(facade_of, run.services, run.stack, inputs)
    run.planning.attribute_keys = wanted.keys_for_resources()
    return wanted


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
    above = run.parts.runs.get(run.stack.parent_id or "")
    if above is not None and above.has_plan:
        return above.planned_secrets.union(generated_secrets(above))
    return frozenset(await secrets_above(run.services, run.stack))
