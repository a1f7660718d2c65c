"""Looks for objects that services have created for requests of engines that died.

They are deleted, or recorded as those of resources that have none. See `stoker.store.late_requests`. Only objects with
a name that Stoker has chosen for the resource are looked for: any other one may be a user's.
"""

from __future__ import annotations

import logging
from functools import partial

from stoker.base.errors import StokerError
from stoker.engine.calls.context import RecordingComponents, StackContext
from stoker.engine.records.stack_view import filled
from stoker.engine.running.lost_claims import record_late_object, remove_late_object
from stoker.engine.running.stop import LOST, never
from stoker.store import late_requests, queries
from stoker.store.journal import Batch
from stoker.store.late_requests import LateRequest
from stoker.store.records import IN_PROGRESS

LOG = logging.getLogger(__name__)

RETRY_SECONDS = 60.0


class LateObjects:
    """Looks when a search is due; one engine of a cluster does it."""

    def __init__(self, components: RecordingComponents) -> None:
        self._components = components
        self._busy = False

    async def run_if_due(self) -> None:
        """Repeat the searches that are due."""
        services = self._components.services
        if self._busy:
            return
        self._busy = True
        try:
            LOST.set(never)
            for request in await services.database.read(late_requests.due, services.clock.now()):
                if services.background.stopped:
                    break
                await self._search(request)
        except Exception:
            LOG.exception("cannot look for objects that were created late, will try again")
        finally:
            self._busy = False

    async def _search(self, request: LateRequest) -> None:
        services = self._components.services
        now = services.clock.now()
        step = partial(late_requests.record_search, request=request, now=now)
        again = partial(late_requests.postpone, request=request, due_at=now + RETRY_SECONDS)
        stack = await services.database.read(queries.stack_by_id, request.stack_id)
        row = await services.database.read(queries.resource_by_uuid, request.resource_uuid)
        if stack is None or stack.deleted_at is not None or row is None:
            step = partial(late_requests.forget, request=request)
        elif row.status == IN_PROGRESS:
            step = again
        else:
            try:
                context = await filled(StackContext(self._components, stack, services.journal))
                if (state := context.states.get(row.uuid)) is not None:
                    await (record_late_object if row.physical_id is None else remove_late_object)(context, state)
            except StokerError as error:
                LOG.info("cannot look for late objects of %s in stack %s: %s", row.name, stack.name, error.message)
                step = again
        await services.journal.commit(Batch().then(step))
