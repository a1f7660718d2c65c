"""What a plan costs, and what policies say about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.engine.plan_policies.policy import Policy
from stoker.engine.plan_policies.policy import Report as PolicyReport
from stoker.engine.planning.plan import Plan
from stoker.engine.records.beginnings import written_policies
from stoker.engine.records.services import EngineServices
from stoker.store.records import Stack

if TYPE_CHECKING:
    from stoker.engine.pricing.costs import Costs
    from stoker.engine.pricing.usage import Usage
from stoker.engine.records.stack_view import read_below


def usages_of(services: EngineServices, connection: Connection, stack: Stack, plan: Plan) -> Sequence[Usage] | None:
    """Return what the resources of a plan take, on one connection with it; None without a price list."""
    if services.settings.prices is None:
        return None
    from stoker.engine.pricing.usage import needs_record, usage_of  # only with a price list

    return usage_of(plan, read_below(services, connection, stack) if needs_record(plan) else {})


async def known_costs(
    services: EngineServices, context: RequestContext, usages: Sequence[Usage] | None
) -> Costs | None:
    """Return what a plan costs whose resources take this; None without a price list."""
    settings = services.settings
    if usages is None or settings.prices is None:
        return None
    from stoker.engine.pricing.costs import costs_of  # only with a price list

    open_cloud = partial(services.credentials.of_caller, context)
    return await costs_of(usages, settings.prices, open_cloud, services.clock, settings.validation_seconds)


async def evaluate_policies(
    services: EngineServices,
    stack: Stack,
    plan: Plan,
    costs: Costs | None,
    tags: Sequence[str] | None,
    tried: Sequence[Policy] = (),
) -> PolicyReport | None:
    """Return what the policies say of a plan whose steps have their subjects; None if there are none.

    `tags` are those that the stack will have, None for those that it has; `tried` are policies of the request.
    """
    written = await written_policies(services, stack)
    if not services.settings.plan_policies and not written and not tried:
        return None
    from stoker.operations.plan_policies import evaluated_policies

    return await evaluated_policies(services, stack, plan, costs, tags, written, tried)
