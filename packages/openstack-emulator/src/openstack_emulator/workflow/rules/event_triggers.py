"""Event triggers: they are only stored, since the emulated cloud has no notifications that could start workflows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation import fields
from openstack_emulator.workflow.records import EventTrigger
from openstack_emulator.workflow.rules.definitions import Definitions
from openstack_emulator.workflow.rules.executions import check_input
from openstack_emulator.workflow.rules.fields import choice, json_object, string_of
from openstack_emulator.workflow.rules.sharing import SCOPES, SECONDS_FORM, WorkflowSharing, require_publisher

_EVENT = ("exchange", "topic", "event")
"""What selects the notifications; it cannot be changed."""
_UNIQUE = (*_EVENT, "workflow_id", "workflow_input", "workflow_params")
"""No two triggers of a project are equal in all of these."""


class EventTriggers(Rules):
    """Event triggers."""

    def __init__(
        self, records: Records, rows: Table[EventTrigger], sharing: WorkflowSharing, definitions: Definitions
    ) -> None:
        super().__init__(records)
        self.sharing = sharing
        self._definitions = definitions
        self.rows = rows

    def find(self, context: Context, key: str) -> EventTrigger:
        """Return an event trigger that the caller may see. Raises ApiError 404."""
        row = self.rows.get(key)
        if row is None or not self.sharing.is_visible(context, row):
            raise missing_event_trigger(key)
        return row

    def create(self, context: Context, body: Mapping[str, Any]) -> EventTrigger:
        """Create an event trigger.

        Raises: ApiError 400 for a missing field or a wrong value, 403 for a public trigger of a caller who may not
        publish, 404 for an unknown workflow, 409 if the project has an equal trigger.
        """
        values = dict(body)
        absent = [name for name in ("workflow_id", *_EVENT) if not string_of(values, name)]
        if absent:
            raise bad_request(f"The following parameters are required: {', '.join(absent)}")
        key, moment, fields = new_id(), self.records.timestamp(SECONDS_FORM), self._fields(context, values)
        trigger = EventTrigger(
            id=key,
            name=string_of(values, "name") or key,
            exchange=values.get("exchange", ""),
            topic=values.get("topic", ""),
            event=values.get("event", ""),
            workflow_id=fields["workflow_id"],
            workflow_input=fields.get("workflow_input", {}),
            workflow_params=fields.get("workflow_params", {}),
            scope=fields.get("scope", "private"),
            project_id=context.project,
            created_at=moment,
            updated_at=None,
        )
        for row in self.rows.select(workflow_id=trigger.workflow_id):
            if row.project_id == context.project and all(row.get(name) == trigger.get(name) for name in _UNIQUE):
                raise conflict(f"Duplicate entry for EventTrigger: {[trigger.get(name) for name in _EVENT]}")
        return self.rows.add(trigger)

    def change(self, context: Context, key: str, body: Mapping[str, object]) -> EventTrigger:
        """Change an event trigger of the caller's project.

        Raises: ApiError 400 for a wrong value or a field that cannot be changed, 403 for a public trigger of a caller
        who may not publish, 404 for an unknown trigger or workflow.
        """
        row, values = self._own(context, key), dict(body)
        if fixed := [name for name in _EVENT if name in values]:
            raise bad_request(f"Can not update fields {fixed} of event trigger.")
        fields = self._fields(context, values)
        if name := string_of(values, "name"):
            fields.update(name=name)
        return self.rows.update(row, **fields, updated_at=self.records.timestamp(SECONDS_FORM))

    def remove(self, context: Context, key: str) -> None:
        """Delete an event trigger. Raises ApiError 404."""
        self.rows.remove(self._own(context, key))

    def _own(self, context: Context, key: str) -> EventTrigger:
        return visible(self.rows, context, key)

    def _fields(self, context: Context, values: dict[str, object]) -> dict[str, Any]:
        """Return the workflow, its input and parameters, and the scope that a request sets. Raises ApiError."""
        body: dict[str, Any] = {
            name: json_object(values, name, "event_trigger")
            for name in ("workflow_input", "workflow_params")
            if name in values
        }
        if "scope" in values:
            body.update(scope=choice(values.get("scope"), "scope", SCOPES))
            require_publisher(str(values.get("scope")), context)
        if "workflow_id" in values:
            workflow_id = string_of(values, "workflow_id") or ""
            if (problem := fields.identifier(workflow_id)) is not None:
                raise bad_request(f"Invalid input for field/attribute workflow_id. Value: {workflow_id}. {problem}")
            workflow = self._definitions.workflow(context, workflow_id)
            check_input(workflow.spec, body.get("workflow_input", {}))
            body.update(workflow_id=workflow.id)
        return body


def missing_event_trigger(key: str) -> ApiError:
    """Return the 404 for an event trigger."""
    return not_found(f"Event trigger not found [id={key}].")
