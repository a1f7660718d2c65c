"""Call a resource type's method until it is done, and record the result of every call.

Before a side effect, the intent is already stored; to recover, the method is called again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import CloudError, Fenced, StokerError, TemplateInvalid, Unconfirmed
from stoker.base.ids import new_id
from stoker.cloud.transport import counted
from stoker.contract.views import NO_REASON
from stoker.engine.calls.building import fits, make_call, with_fitting_id
from stoker.engine.planning.decide import BEGINNING
from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState, attribute_text
from stoker.engine.redaction.stacks import without_secrets
from stoker.engine.running.hooks import pause
from stoker.engine.running.interrupted_creations import (
    LATE_SECONDS,
    SEARCH_AGAIN,
    find_if_possible,
    has_own_name,
    mark_not_found,
    not_owned,
    was_created,
)
from stoker.engine.running.lost_claims import remove_lost_object
from stoker.engine.running.operation_context import OperationContext, has_hook
from stoker.engine.running.refusals import (
    failure_of,
    pause_after_refusal,
    unconfirmed_reason,
    wait_until_free,
    with_users,
)
from stoker.engine.running.retries import Retries, backoff
from stoker.engine.running.stop import CANCELLED, Stop, Stopped
from stoker.plugins import capabilities
from stoker.plugins.agents import USER_PROJECT
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome, Replace
from stoker.plugins.resource import ADDRESS, NAME, AttributeKey, Call, indexed_keys
from stoker.store.journal import Batch
from stoker.store.ownership import ObjectAlreadyOwned
from stoker.store.records import COMPLETE, IN_PROGRESS, CreationHistory
from stoker.store.search import TermKind, plain_address
from stoker.template.properties import against_schema, declared_for, key_path

LOG = logging.getLogger(__name__)

Method = Callable[[Call], Awaitable[Outcome]]


class NeedsReplacement(Exception):
    """The type cannot make the change in place."""


class Performer:
    """Performs actions of single resources for one run; it has no state of its own."""

    def __init__(self, run: OperationContext) -> None:
        self.run = run

    async def perform(self, state: ResourceState, method: Method, pending: Batch | None = None) -> None:
        """Call `method` until it is done, and record the end; the first commit includes `pending` changes.

        Raises Failure (recorded), NeedsReplacement, or Stopped.
        """
        await self._removing_lost_objects(state, self._perform(state, method, [pending] if pending is not None else []))

    async def _perform(self, state: ResourceState, method: Method, first: list[Batch]) -> None:
        while True:
            done = await self._recording_failure(state, method, first)
            try:
                return await self._completed(state, done, next_batch(first))
            except ObjectAlreadyOwned as taken:
                if not state.stored.uncertain:  # otherwise this resource searches for its own
                    failure = not_owned(self.run, state, taken)
                    await self.failed(state, failure)
                    raise failure from taken

    async def perform_only(self, state: ResourceState, method: Method, first: list[Batch]) -> None:
        """Perform a method like `perform`, but leave the recording of success, with what is left of `first`, to the
        caller.
        """
        await self._removing_lost_objects(state, self._recording_failure(state, method, first))

    async def _removing_lost_objects(self, state: ResourceState, work: Awaitable[object]) -> None:
        """Run `work`; if the claim is lost while it creates an object, ensure that only one object remains."""
        run, uuid = self.run, state.row.uuid
        try:
            await work
        except (Fenced, Stopped) as stopped:
            lost = isinstance(stopped, Fenced) or run.progress.stopping is Stop.LOST
            if lost and uuid in run.objects.making:
                run.services.background.spawn(remove_lost_object(run, state))
            raise
        finally:
            run.objects.making.pop(uuid, None)

    async def prepare(self, state: ResourceState, method: Method) -> None:
        """Call `method` until it is done; keep the resource's own action and status. Raises Failure."""
        state.stored.progress = {}
        await self._removing_lost_objects(state, self._until_done(state, method, []))
        state.stored.progress = {}

    async def _recording_failure(self, state: ResourceState, method: Method, first: list[Batch]) -> Done:
        with counted() as effects:
            try:
                self._check_values(state)
                return await self._until_done(state, method, first)
            except Failure as failure:
                if self.run.progress.stopping is Stop.EXPIRED:
                    await self._cancel(state, Stop.EXPIRED.value)
                await self.failed(state, failure, next_batch(first), unchanged=not effects.requests)
                raise

    def _check_values(self, state: ResourceState) -> None:
        """Raise Failure if values that were unknown before are invalid."""
        run, desired = self.run, self.run.planning.desired
        resource = desired.definition.resources.get(state.row.name) if desired is not None else None
        beginning = (
            state.row.action in BEGINNING and state.in_progress and not state.stored.definition.get("external_id")
        )
        if desired is None or resource is None or not beginning or state.type.any_properties:
            return
        if resource.references or run.stack.parent_id is not None:
            place = key_path(desired.definition, resource, "properties")
            values, problems = against_schema(
                desired.definition, declared_for(resource, state.type), state.properties, place
            )
            if not problems:
                document = desired.definition.template.document
                problems = [
                    Diagnostic("properties", problem, place, document.source, document.locate(place))
                    for problem in state.type.validate(values)
                ]
            if problems:
                raise Failure.of(TemplateInvalid(problems), state.row.name)

    async def _cancel(self, state: ResourceState, why: str) -> None:
        """Make the type notify others; an error of that does not change the resource's own failure."""
        call = await make_call(self.run, state)
        try:
            await capabilities.cancel(state.type, call, why)
        except StokerError as error:
            LOG.warning("cannot notify others of the failure of %s: %s", state.row.name, error.message)
        state.stored.metadata = call.metadata

    async def _until_done(self, state: ResourceState, method: Method, first: list[Batch]) -> Done:
        """Call the method; `first` contains the changes for the first commit, until it has been made."""
        run = self.run
        retries, conflicts, waiting = Retries(run.services.clock), 0, ""
        earlier: Call | None = None
        while True:
            self._leave_if_stopped(state, waiting)
            if run.progress.cancelled:
                await self._cancel(state, CANCELLED)
            try:
                call, earlier = await make_call(run, state, earlier), None
                outcome = await self._enter(state, method, call)
                if isinstance(outcome, InProgress) and outcome.after == 0.0:
                    earlier = call
                if retries.attempts:
                    retries.succeeded()
            except CloudError as error:
                outcome = await self._outcome_of_error(state, error, retries, conflicts)
                conflicts += error.conflict
            except Fenced:
                raise
            except StokerError as error:
                outcome = Failed(error.message, kind=error.kind)
            if isinstance(outcome, InProgress):
                if outcome.physical_id is not None:
                    state.row.physical_id = outcome.physical_id
                if outcome.waiting != waiting:
                    waiting = outcome.waiting
                    self._show_waiting(state, waiting, first)
                try:
                    if first or not state.is_sealed:
                        await self._record(state, next_batch(first))
                except ObjectAlreadyOwned as taken:
                    if not state.stored.uncertain:
                        raise not_owned(self.run, state, taken) from taken
                    continue
                with contextlib.suppress(Stopped):  # the beginning of the loop handles it
                    await self._pause(state, outcome)
            elif isinstance(outcome, Done):
                return outcome
            elif isinstance(outcome, Replace):
                raise NeedsReplacement(outcome.reason)
            elif not (self._may_try_again(state, outcome) and await self._start_over(state, outcome)):
                raise failure_of(state, outcome)

    async def _pause(self, state: ResourceState, outcome: InProgress) -> None:
        """Wait as long as a method requested, or until its object changes if many are watched together.

        The resource's values are released meanwhile.
        """
        async with self.run.services.memory.values.paused(partial(self.run.values_of, state.row.name, state.row.uuid)):
            await self._wait(state, outcome)

    async def _wait(self, state: ResourceState, outcome: InProgress) -> None:
        run, uuid = self.run, state.row.uuid
        if outcome.watch is None or outcome.after is None or state.row.physical_id is None:
            await run.pause(uuid, outcome.after)
            return
        poller = run.components.object_poller
        watching = poller.watching(
            await run.cloud(), outcome.watch, state.row.physical_id, outcome.after, partial(run.wake, uuid)
        )
        with watching as watched:
            await run.pause(uuid, None if watched else outcome.after)

    def _show_waiting(self, state: ResourceState, waiting: str, first: list[Batch]) -> None:
        """Add to the next commit what a resource waits for, as its reason and in an event."""
        if waiting and waiting != state.row.reason and state.row.stack_id == self.run.stack.id:
            state.row.reason = waiting
            first.append(next_batch(first).add(self.run.event(state, waiting)))

    def _leave_if_stopped(self, state: ResourceState, waiting: str = "") -> None:
        """Raise an error if the run stops: a Failure after a timeout, Stopped if another run takes over.

        waiting: what the resource has waited for.
        """
        if self.run.progress.stopping is Stop.EXPIRED:
            text = f"{state.row.action} aborted ({Stop.EXPIRED.value})"
            raise Failure("Aborted", (state.row.name,), f"{text}: {waiting}" if waiting else text)
        self.run.check_stopped()

    async def _enter(self, state: ResourceState, method: Method, call: Call) -> Outcome:
        """Call the method once; if an interrupted creation may have created an object, search for it first."""
        if state.stored.uncertain and state.row.physical_id is None:
            await find_if_possible(self.run, state, call)
            if state.row.physical_id is None and state.stored.progress.pop(SEARCH_AGAIN, False):
                state.stored.uncertain = has_own_name(state, call)
                return InProgress(after=LATE_SECONDS if state.stored.uncertain else 0.0)
        if state.row.action == "CREATE" and state.row.physical_id is None and not state.type.local:
            task = asyncio.current_task()
            assert task is not None
            self.run.objects.making[state.row.uuid] = task
        try:
            return with_fitting_id(await method(call), call)
        finally:
            if call.metadata is not state.stored.metadata:
                state.stored.metadata = call.metadata
            state.seen |= call.report.seen
            if call.physical_id is not None and fits(call.physical_id) and state.row.physical_id is None:
                state.row.physical_id = call.physical_id
            await self.run.adopt_user_project(state.stored.data.get(USER_PROJECT))

    async def _record(self, state: ResourceState, batch: Batch) -> None:
        """Commit changes of a resource, including the id of its object when it becomes known.

        Raises ObjectAlreadyOwned if the object belongs to another resource. If its ID is a new one, that resource has
        found it in the meantime by a search, and this one must search for the other one's object.
        """
        run, row = self.run, state.row
        try:
            await run.commit(batch.change(state.seal()))
        except ObjectAlreadyOwned as taken:
            LOG.info("%s of stack %s does not get its object: %s", row.name, run.stack.name, taken.message)
            searches = row.uuid in run.objects.making and state.type.id_is_new
            row.status, row.physical_id = IN_PROGRESS, None
            state.stored.progress, state.stored.uncertain = {}, searches
            raise
        if row.physical_id is not None:
            run.objects.making.pop(row.uuid, None)

    async def _outcome_of_error(
        self, state: ResourceState, error: CloudError, retries: Retries, conflicts: int
    ) -> Outcome:
        """Return how to continue after an error: retry, start over, or fail."""
        action = state.row.action
        if action == "CREATE" and state.row.physical_id is None and (error.status == 0 or error.status >= 500):
            state.stored.uncertain = True
        pause = await pause_after_refusal(self.run, state, error, retries)
        if pause is not None:
            return InProgress(after=pause, waiting=await unconfirmed_reason(self.run, state, error))
        if action == "DELETE" and state.stored.uncertain and isinstance(error, Unconfirmed):
            await mark_not_found(self.run, state, error)
            return InProgress(after=0.0)
        if state.stored.uncertain and await was_created(self.run, state):
            return InProgress(after=0.0)
        if error.conflict and action == "DELETE" and not error.lasting:
            return await wait_until_free(self.run, state, error, conflicts)
        refused = action == "DELETE" and 400 <= error.status < 500
        text = await with_users(self.run, state, error) if refused else error.message
        return Failed(text, kind=error.kind, in_error=error.conflict and not error.lasting)

    def _may_try_again(self, state: ResourceState, outcome: Failed) -> bool:
        limit = self.run.services.settings.action_retry_limit
        return outcome.in_error and state.row.action == "CREATE" and state.stored.creation.attempts < limit

    async def _start_over(self, state: ResourceState, outcome: Failed) -> bool:
        """Delete a broken object and wait a little, so that it can be created again.

        Returns False if it cannot be deleted: then it remains the resource's object, so that it is not lost. After
        further failed attempts, the first failure is reported.
        """
        run, stored = self.run, state.stored
        first = stored.creation.first_failure or [outcome.kind, outcome.reason, *outcome.path]
        stored.creation = replace(stored.creation, first_failure=first)
        stored.progress = {}
        if state.row.physical_id is not None and not await self._removed(state):
            return False
        state.row.physical_id = None
        stored.progress = {}
        stored.creation = replace(stored.creation, attempts=stored.creation.attempts + 1)
        await run.commit(Batch().change(state.seal()))
        with contextlib.suppress(Stopped):  # the next call of the resource handles it
            await run.pause(state.row.uuid, backoff(stored.creation.attempts))
        return True

    async def _removed(self, state: ResourceState) -> bool:
        """Delete the remains of a creation; return False if that fails."""
        run, limit = self.run, self.run.services.settings.action_retry_limit
        retries, conflicts = Retries(run.services.clock), 0
        while True:
            self._leave_if_stopped(state)
            try:
                outcome = await state.type.delete(await make_call(run, state))
                if retries.attempts:
                    retries.succeeded()
            except CloudError as error:
                pause = await pause_after_refusal(self.run, state, error, retries)
                if pause is None and error.conflict and not error.lasting and conflicts < limit:
                    conflicts += 1
                    pause = backoff(conflicts)
                if pause is None:
                    return error.not_found
                outcome = InProgress(after=pause)
            if not isinstance(outcome, InProgress):
                return isinstance(outcome, Done)
            with contextlib.suppress(Stopped):
                await run.pause(state.row.uuid, outcome.after)

    # -- results ---------------------------------------------------------------------------------------------

    async def _completed(self, state: ResourceState, outcome: Done, batch: Batch) -> None:
        run, row = self.run, state.row
        reason = await without_secrets(run, outcome.note, [state]) if outcome.note else NO_REASON
        if outcome.physical_id is not None:
            row.physical_id = outcome.physical_id
        row.status, row.reason, row.updated_at = COMPLETE, reason, run.services.clock.now()
        stored = state.stored
        stored.progress, stored.creation, stored.uncertain = {}, CreationHistory(), False
        if row.action in BEGINNING:
            state.end_change()
            stored.deployed = {}
        keys = run.planning.keys_of(row.name) if row.action != "DELETE" else set()
        stored.attributes = {}
        if keys:
            with contextlib.suppress(Stopped):  # they are read again when they are needed
                values = await self.read_if_possible(state, keys)
                state.stored.attributes = {attribute_text(key): value for key, value in values.items()}
        if is_unseen(state):
            with contextlib.suppress(Stopped):
                await self.read_if_possible(state, {("show",)})
        await record_terms(run, state, batch)
        await self._record(state, batch.add(run.event(state, row.reason)))
        if has_hook(run, row.name, "post", row.action):
            await pause(run, state, "post", row.action)

    async def read(self, state: ResourceState, keys: set[AttributeKey]) -> dict[AttributeKey, Any]:
        """Return current attribute values from the service; None for those that the service refuses to show.

        Requests to a service that is busy or fails are retried, since the operation must not depend on that. Raises
        Stopped, and CloudError if the service does not answer: then it is unknown which values the attributes have.
        """
        retries, failures = Retries(self.run.services.clock), 0
        while True:
            try:
                call = await make_call(self.run, state)
                values = await state.type.read_attributes(call, keys)
                state.seen |= call.report.seen
                return values
            except StokerError as error:
                pause = (
                    await pause_after_refusal(self.run, state, error, retries)
                    if isinstance(error, CloudError)
                    else None
                )
                if isinstance(error, CloudError) and error.without_answer and pause is None:
                    failures += 1
                    if failures >= READ_ATTEMPTS:
                        raise
                    pause = backoff(failures)
                if pause is None:
                    LOG.warning("cannot read attributes of %s: %s", state.row.name, error.message)
                    return dict.fromkeys(keys)
            await self.run.pause(new_id(), pause)

    async def read_if_possible(self, state: ResourceState, keys: set[AttributeKey]) -> dict[AttributeKey, object]:
        """Return what `read` does, or nothing if the service does not answer. Raises Stopped."""
        try:
            return await self.read(state, keys)
        except CloudError as error:
            LOG.warning("cannot read attributes of %s, they stay unknown: %s", state.row.name, error.message)
            return {}

    async def failed(
        self, state: ResourceState, failure: Failure, batch: Batch | None = None, *, unchanged: bool = False
    ) -> None:
        """Record that the resource's action has failed.

        After an update without a request that was executed (`unchanged`), the object has its former values: a rollback
        has nothing to send, which the service could refuse as well.
        """
        run = self.run
        row = state.row
        reason, message = await without_secrets(run, [failure.text(), failure.message], [state])
        state.fail(replace(failure, message=message), reason)
        row.updated_at = run.services.clock.now()
        state.stored.progress = {}
        if not unchanged:
            state.stored.attributes = {}  # nobody knows which of them the action has changed
        event = run.event(state, row.reason, cause=failure)
        if unchanged and state.revertible and row.action == "UPDATE" and not (state.type.local or state.type.nested):
            state.revert_change()
        batch = batch or Batch()
        try:
            await run.commit(batch.change(state.seal()).add(event))
        except ObjectAlreadyOwned:  # the failed call has got an object that belongs to another resource
            row.physical_id = None
            await run.commit(batch.change(state.seal()))


READ_ATTEMPTS = 4
"""How often attributes are read from a service that fails or does not respond."""


def is_unseen(state: ResourceState) -> bool:
    """Return whether something that the object is found by is not recorded, nor was seen during the action that ends:
    its methods never read it, or an earlier release has recorded the resource.
    """
    row = state.row
    known = row.searchable or row.physical_id is None or row.action == "DELETE"
    return not known and not indexed_keys(state.type) <= state.seen.keys()


async def record_terms(run: OperationContext, state: ResourceState, batch: Batch) -> None:
    """Add to the batch that ends an action the name and the addresses that the service has shown since it began.

    A name that the service does not show, or that contains a secret, is not recorded.
    """
    seen, state.seen = state.seen, {}
    if state.row.action == "DELETE":
        return
    if indexed_keys(state.type) <= seen.keys():
        state.row.searchable = True
    terms: dict[TermKind, frozenset[str]] = {}
    if NAME in seen:
        terms[TermKind.NAME] = await _names(run, state, seen[NAME])
    if ADDRESS in seen:
        plain = {plain_address(address) for address in seen[ADDRESS]}
        terms[TermKind.ADDRESS] = frozenset(address for address in plain if address is not None)
    if terms:
        batch.terms[state.row.uuid] = terms


async def _names(run: OperationContext, state: ResourceState, seen: frozenset[str]) -> frozenset[str]:
    names = sorted(seen)
    if not seen <= {state.physical_name, state.row.name}:  # otherwise the names contain no other values
        safe = await without_secrets(run, names, [state])
        names = [name for name, without in zip(names, safe, strict=True) if name == without]
    return frozenset(names)


def next_batch(first: list[Batch]) -> Batch:
    """Remove and return the changes for the first commit; an empty batch after that."""
    return first.pop() if first else Batch()
