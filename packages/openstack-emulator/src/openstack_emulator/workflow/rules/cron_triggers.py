"""Cron triggers: executions that start on the cloud's clock, on behalf of the user who created the trigger."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from croniter import CroniterBadDateError, croniter

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.identity.rules.service_trusts import end_trust, token_of, trust_for
from openstack_emulator.workflow.records import CronTrigger
from openstack_emulator.workflow.rules.definitions import Definitions
from openstack_emulator.workflow.rules.executions import Executions, check_input
from openstack_emulator.workflow.rules.fields import json_object, string_of
from openstack_emulator.workflow.rules.sharing import SECONDS_FORM, WorkflowSharing

log = logging.getLogger(__name__)

SERVICE_USER = "mistral"
SOONEST = 60.0
"""Seconds from now until the earliest first execution."""
_FORMS = ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M")


class CronTriggers(Rules):
    """Cron triggers. A trigger has a trust of its user, which is deleted with it; one that a user creates through a
    trust uses this trust.
    """

    def __init__(
        self,
        records: Records,
        rows: Table[CronTrigger],
        sharing: WorkflowSharing,
        definitions: Definitions,
        executions: Executions,
    ) -> None:
        super().__init__(records)
        self._sharing = sharing
        self._definitions = definitions
        self._executions = executions
        self.rows = rows
        records.deferrable(self.fire_trigger)

    def require(self, context: Context, key: str) -> CronTrigger:
        """Return a trigger by its name or ID. Raises ApiError 404."""
        known = self.rows.get(key)
        found = [
            row for row in ([known] if known else self.rows.select(name=key)) if self._sharing.is_visible(context, row)
        ]
        if not found:
            raise missing_cron_trigger(key)
        return min(found, key=lambda row: row.project_id != context.project_id)

    def create(self, request: Request, body: Mapping[str, Any]) -> CronTrigger:
        """Create a trigger and schedule its first execution. Raises ApiError 400, 404, 409."""
        context, name = request.context, string_of(dict(body), "name")
        if not name:
            raise bad_request("A cron trigger requires a name.")
        if self.rows.first(name=name, project_id=context.project) is not None:
            raise conflict(f"Duplicate entry for cron trigger ['name', 'project_id']: {name}, None")
        key = body.get("workflow_id") or body.get("workflow_name")
        if not isinstance(key, str):
            raise bad_request("A cron trigger requires workflow_id or workflow_name.")
        first, pattern, remaining = self._times(body)
        workflow = self._definitions.workflow(context, key)
        values = json_object(body, "workflow_input", "cron_trigger")
        check_input(workflow.spec, values)
        following = self._next(pattern, None) if first is None else first
        params = json_object(body, "workflow_params", "cron_trigger")
        if first is not None and remaining is not None:
            self._require_unique(
                workflow_id=workflow.id,
                workflow_input=values,
                workflow_params=params,
                project_id=context.project,
                pattern=pattern,
                remaining_executions=remaining,
                first_execution_time=_shown(first),
            )
        trust, is_new = trust_for(self.cloud, request, SERVICE_USER)
        row = self.rows.add(
            CronTrigger(
                id=new_id(),
                name=name,
                workflow_name=workflow.name,
                workflow_id=workflow.id,
                workflow_input=values,
                workflow_params=params,
                project_id=context.project,
                scope="private",
                pattern=pattern,
                remaining_executions=remaining,
                first_execution_time=None if first is None else _shown(first),
                next_execution_time=_shown(following),
                created_at=self.records.timestamp(SECONDS_FORM),
                updated_at=None,
                trust=trust,
                own_trust=is_new,
            )
        )
        self._schedule(row)
        return row

    def _require_unique(self, **fields: object) -> None:
        """Refuse a trigger that starts the same workflow at the same times as another one. Raises ApiError 409."""
        for row in self.rows.select(workflow_id=fields["workflow_id"]):
            if all(row.get(name) == value for name, value in fields.items()):
                raise conflict(f"Duplicate entry for CronTrigger: the trigger {row.name} is the same.")

    def _times(self, body: Mapping[str, object]) -> tuple[datetime | None, str | None, int | None]:
        """Return the first execution, the pattern and the number of executions. Raises ApiError 400."""
        pattern = string_of(dict(body), "pattern", 100) or None
        first_time, count = body.get("first_execution_time"), body.get("remaining_executions")
        remaining = None if count is None else as_integer(count)
        if pattern is None and not first_time:
            raise bad_request(
                "Either pattern or first_execution_time is a mandatory parameter. Both parameters cannot be None/empty."
            )
        if pattern is not None and not (len(pattern.split()) == 5 and croniter.is_valid(pattern)):
            raise bad_request(f"The specified pattern is not valid: {pattern}")
        if count is not None and (remaining is None or remaining < 1):
            raise bad_request(f"remaining_executions must be a positive number, not {count}")
        if pattern is None and (remaining or 1) > 1:
            raise bad_request("Pattern must be provided if count is superior to 1.")
        first = _moment(first_time) if first_time else None
        if first is not None and first.timestamp() < self.cloud.clock.now() + SOONEST:
            raise bad_request("first_execution_time must be at least 1 minute in the future.")
        return first, pattern, 1 if pattern is None else remaining

    def _next(self, pattern: str | None, after: datetime | None) -> datetime:
        try:
            following: datetime = croniter(str(pattern), after or self.records.now()).get_next(datetime)
        except CroniterBadDateError:
            raise bad_request(f"The specified pattern is not valid: no time matches {pattern}") from None
        return following

    def _schedule(self, row: CronTrigger) -> None:
        due = _moment(row.next_execution_time).timestamp()
        # The time of an execution is one of the calendar, which the cloud's pace does not change.
        delay = max(due - self.cloud.clock.now(), 0.0)
        self.cloud.transitions.add(delay, "mistral", self.fire_trigger.__name__, [row.id, row.next_execution_time])

    def fire_trigger(self, key: str, due: str) -> None:
        """Start the execution of a trigger, and schedule the next one; the last one deletes the trigger."""
        row = self.rows.get(key)
        if row is None or row.next_execution_time != due:
            return
        left = row.remaining_executions
        try:
            self._start(row)
        except ApiError as error:
            log.warning("Cron trigger %s cannot start its workflow: %s", row.name, error.message)
        if left == 1:
            self.remove(row)
            return
        following = self._next(row.pattern, _moment(due))
        row.remaining_executions = None if left is None else left - 1
        row.next_execution_time = _shown(following)
        row.updated_at = self.records.timestamp(SECONDS_FORM)
        self.rows.save(row)
        self._schedule(row)

    def _start(self, row: CronTrigger) -> None:
        """Start a trigger's workflow with a token of its trust. Raises ApiError when that is no longer possible."""
        caller = self.cloud.authenticate(token_of(self.cloud, row.trust))
        if caller is None:
            raise ApiError(401, "the trust of its user is no longer valid")
        workflow = self._definitions.workflow(caller, row.workflow_id)
        description = {"description": "Workflow execution created by cron trigger.", "triggered_by": _cause(row)}
        self._executions.start(
            workflow, caller.project, row.workflow_input, row.workflow_params, json.dumps(description)
        )

    def remove(self, row: CronTrigger) -> None:
        """Delete a trigger, and its trust."""
        self.rows.remove(row)
        if row.own_trust:
            end_trust(self.cloud, row.trust)


def _cause(row: CronTrigger) -> dict[str, str]:
    return {"type": "cron_trigger", "id": row.id, "name": row.name}


def _shown(moment: datetime) -> str:
    return moment.strftime(SECONDS_FORM)


def _moment(text: object) -> datetime:
    """Return a time in UTC. Raises ApiError 400."""
    for form in _FORMS:
        try:
            return datetime.strptime(str(text), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise bad_request(f"first_execution_time must have the form YYYY-MM-DD HH:MM, not {text}")


def missing_cron_trigger(key: str) -> ApiError:
    """Return the 404 for a trigger."""
    return not_found(f"Cron trigger not found [identifier={key}]")
