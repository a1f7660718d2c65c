"""The policies on plans that managers set for a project or for a tree of stacks."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from urllib.parse import urlsplit

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue
from stoker.contract.approvals import ChangePlanPolicies, PoliciesView, ShowPlanPolicies
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.plan_policies.policy import DOCUMENT, Policy, Source
from stoker.engine.records.services import EngineServices
from stoker.operations.clearance import record_with_event
from stoker.operations.lookup import tree_or_project
from stoker.store import queries, settings
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE

LONGEST_TEXT = 65536
"""Characters of the policies of a project, a stack or a preview."""

LOG = logging.getLogger(__name__)


async def plan_policies_show(
    services: EngineServices, context: RequestContext, request: ShowPlanPolicies
) -> PoliciesView:
    """Return the policies for the plans of a stack, or of all stacks of the project."""
    project_id, stack_id = await tree_or_project(services, context, request.ref)
    return await _view(services, project_id, stack_id)


async def plan_policies_change(
    components: RecordingComponents, context: RequestContext, request: ChangePlanPolicies
) -> PoliciesView:
    """Set the policies of a stack or a project. Raises BadValue, and TemplateInvalid with all mistakes."""
    services = components.services
    project_id, stack_id = await tree_or_project(services, context, request.ref)
    policies: Sequence[Policy] = ()
    if request.policies is not None:
        source = Source.PROJECT if stack_id is None else Source.STACK
        policies = await _read(services, project_id, {DOCUMENT: request.policies}, source)
        if services.settings.webhooks is None and (asking := next((each for each in policies if each.webhook), None)):
            raise BadValue(
                f"The policy {asking.name} asks a webhook, but the operator has set no secret for webhooks ([webhooks] "
                "secret)."
            )
    now = services.clock.now()

    def record(connection: Connection) -> None:
        settings.save_plan_policies(connection, project_id, stack_id or "", request.policies, context.user_id, now)

    user = context.user_name or context.user_id
    text = f"Policies on plans were {'set' if request.policies is not None else 'removed'} by {user}"
    stack = None if stack_id is None else await services.database.read(queries.stack_by_id, stack_id)
    await record_with_event(components, stack, Batch().then(record), COMPLETE, text)
    LOG.info("%s (project %s, stack %s)", text, project_id, stack_id or "all")
    view = await _view(services, project_id, stack_id)
    if services.settings.webhooks is not None and any(each.webhook for each in policies):
        view["webhook_key"] = services.settings.webhooks.key_of(project_id)
    return view


async def tried_policies(
    services: EngineServices, project_id: str, texts: Mapping[str, str] | None
) -> Sequence[Policy]:
    """Return the policies that a preview tries: YAML by the names of files. Raises as `plan_policies_change`."""
    return await _read(services, project_id, texts, Source.COMMAND) if texts else ()


async def _read(
    services: EngineServices, project_id: str, texts: Mapping[str, str], source: Source
) -> Sequence[Policy]:
    from stoker.engine.plan_policies.policy_files import read_policies  # only with policies

    length = sum(map(len, texts.values()))
    if length > LONGEST_TEXT:
        raise BadValue(f"The policies have {length} characters; at most {LONGEST_TEXT} are read.")
    return await services.evaluator.compute_on_thread(project_id, partial(read_policies, [*texts.items()], source))


async def _view(services: EngineServices, project_id: str, stack_id: str | None) -> PoliciesView:
    from stoker.engine.preflight.policy_sources import applying  # only with policies

    written = await services.database.read(settings.plan_policies_of, project_id, stack_id)
    policies = await applying(services, project_id, stack_id, written)
    return {
        "chosen": written.get(stack_id or ""),
        "policies": [
            {
                "name": policy.name,
                "source": policy.source.value,
                "verdict": policy.verdict.value,
                "scope": policy.scope.value,
                "message": policy.message or (f"asks {urlsplit(policy.webhook).hostname}" if policy.webhook else ""),
            }
            for policy in policies
        ],
    }
