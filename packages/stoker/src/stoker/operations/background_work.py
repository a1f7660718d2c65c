"""Work for a request that continues after its answer: in one engine, with what only that engine has."""

from __future__ import annotations

import logging

from stoker.base.errors import StokerError
from stoker.base.ids import new_id
from stoker.engine.records.services import EngineServices
from stoker.store import claims

LOG = logging.getLogger(__name__)


def reason_of(error: Exception, work: str) -> str:
    """Return why some work failed, for its record. An unexpected error is logged with a reference."""
    if isinstance(error, StokerError):
        return error.message
    reference = new_id()
    LOG.error("Reference %s: %s failed unexpectedly", reference, work, exc_info=error)
    return f"Internal error; quote reference {reference}"


async def has_living_engine(services: EngineServices, engine: str) -> bool:
    """Return whether the engine that does some work is alive; otherwise the work will never end."""
    return engine in await services.database.read(claims.living, services.clock.now())
