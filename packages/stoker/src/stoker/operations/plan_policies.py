"""What policies on plans say of a plan that is shown, as the operation will ask them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoker.engine.plan_policies.policy import Policy, Report
from stoker.engine.planning.plan import Plan
from stoker.engine.preflight.policy_checks import evaluate
from stoker.engine.preflight.policy_document import stack_facts
from stoker.engine.preflight.policy_sources import applying
from stoker.engine.pricing.costs import Costs
from stoker.engine.records.services import EngineServices
from stoker.store import queries
from stoker.store.records import Stack


async def evaluated_policies(
    services: EngineServices,
    stack: Stack,
    plan: Plan,
    costs: Costs | None,
    tags: Sequence[str] | None,
    written: Mapping[str, str],
    tried: Sequence[Policy],
) -> Report:
    """Return what the policies say of a plan whose steps have their subjects.

    `written` are the policies of the project and the stack (see `written_policies`), `tried` those of the request.
    `tags` are those that the request gives the stack, None for those that it has.
    """
    policies = (*await applying(services, stack.project_id, stack.root_id, written), *tried)
    if tags is None:
        known = await services.database.read(queries.tags_of, [stack.root_id])
        tags = known.get(stack.root_id, ())
    facts = stack_facts(stack, tags)
    priced = costs.to_data(plan.secrets) if costs is not None else None
    return await evaluate(services, stack.project_id, policies, plan, facts, priced, "preview")
