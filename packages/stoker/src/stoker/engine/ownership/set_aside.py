"""Resume operations that were set aside, once, after a time in which no engine has died."""

from __future__ import annotations

import logging

from sqlalchemy import Connection

from stoker.base.errors import StokerError
from stoker.engine.records.services import RecordingServices
from stoker.store import claimable
from stoker.store.journal import Batch
from stoker.store.records import SECOND_CHANCE, Operation

LOG = logging.getLogger(__name__)

_PAUSE_SECONDS = 30.0


class SetAsideOperations:
    """Resumes operations that were set aside; one engine of a cluster does this."""

    def __init__(self, services: RecordingServices) -> None:
        self._services = services
        self._next_check = 0.0

    async def run_if_due(self) -> None:
        """Resume what may be resumed now; called at every heartbeat. The next takeover finds the new operations."""
        services, now = self._services, self._services.clock.now()
        quiet = services.settings.set_aside_seconds
        if quiet <= 0 or now < self._next_check:
            return
        self._next_check = now + min(_PAUSE_SECONDS, quiet)
        for identifier in await services.database.read(claimable.second_chances, now, quiet):
            await self._resume(identifier)

    async def _resume(self, identifier: str) -> None:
        services, resumed = self._services, list[Operation]()

        def resume(connection: Connection) -> None:
            resumed[:] = [claimable.resume(connection, identifier, services.clock.now(), SECOND_CHANCE)]

        try:
            await services.journal.commit(Batch().then(resume))
        except StokerError as error:
            LOG.info("operation %s is not resumed: %s", identifier, error.message)
        else:
            LOG.warning("operation %s was set aside and is resumed once, as %s", identifier, resumed[0].id)
