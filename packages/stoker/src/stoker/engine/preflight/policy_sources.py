"""Which policies apply to a stack: those of the operator, of its project, and of its tree of stacks, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial

from stoker.engine.plan_policies.policy import DOCUMENT, Policy, Source
from stoker.engine.plan_policies.policy_files import stored_policies
from stoker.engine.records.services import EngineServices


async def applying(
    services: EngineServices, project_id: str, root_id: str | None, written: Mapping[str, str]
) -> tuple[Policy, ...]:
    """Return the policies for a tree of stacks, or for all stacks of a project; `written` are theirs (see
    `written_policies`).

    Raises TemplateInvalid if this release cannot read what another one has stored.
    """
    if not written:
        return services.settings.plan_policies
    work = partial(_read_all, written.get(""), written.get(root_id) if root_id else None)
    return (*services.settings.plan_policies, *await services.evaluator.compute_on_thread(project_id, work))


def _read_all(project: str | None, stack: str | None) -> tuple[Policy, ...]:
    return (*_read(project, Source.PROJECT), *_read(stack, Source.STACK))


@lru_cache(maxsize=64)
def _read(text: str | None, source: Source) -> tuple[Policy, ...]:
    return stored_policies(DOCUMENT, text, source) if text is not None else ()
