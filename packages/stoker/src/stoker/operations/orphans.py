"""Find objects of the caller's project that Stoker has made and no resource has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stoker.base.context import RequestContext
from stoker.contract.finding import FindOrphans, OrphanView
from stoker.engine.records.services import EngineServices
from stoker.engine.settings import observation_seconds

if TYPE_CHECKING:
    from stoker.engine.inspection.orphans import Orphan


async def orphan_find(services: EngineServices, context: RequestContext, request: FindOrphans) -> Sequence[OrphanView]:
    """Return the orphans of the project, as far as the caller can read its objects."""
    from stoker.engine.inspection.orphans import orphans_of

    cloud = await services.credentials.of_caller(context)
    kinds = {name: kind for name, kind in services.types.registry.types.items() if context.may_use(name)}
    seconds = observation_seconds(services.settings)
    return [_view(each) for each in await orphans_of(services.database, cloud, context.project_id, kinds, seconds)]


def _view(orphan: Orphan) -> OrphanView:
    return {
        "status": orphan.status.value,
        "why": orphan.why.value,
        "type": orphan.type,
        "physical_id": orphan.physical_id or None,
        "name": orphan.name or None,
        "resource": orphan.resource or None,
        "stack_name": orphan.stack or None,
        "detail": orphan.detail or None,
    }
