"""OS::Mistral::CronTrigger"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource
from stoker.resources.declare import custom
from stoker.resources.mistral.requests import SERVICE, json_string, workflow_key
from stoker.resources.wire import without_nulls
from stoker.schema.property import Attribute, Property, Support, Type


class CronTrigger(RestResource):
    """A cron trigger, whose physical ID is its name. The service deletes it after its last execution."""

    type_name = "OS::Mistral::CronTrigger"
    description = "Starts a workflow at the times that a cron expression describes."
    collection = Collection(SERVICE, "/cron_triggers", members="cron_triggers", id_field="name", owner=None)
    support = Support(version="5.0.0")
    id_is_new = False
    recovery = Recovery(
        FoundBy.NAME,
        "The name is the physical name, which is unique in the project. A trigger with a name that the template gives "
        "must also have been created since the action began, and belong to no other resource.",
    )

    properties = {
        "name": Property(description="Name of the trigger."),
        "pattern": Property(description="Cron expression of the times, in UTC.", constraints=custom("cron_expression")),
        "workflow": Property(
            Type.MAP,
            "The workflow.",
            required=True,
            schema={
                "name": Property(
                    description="Name or ID of the workflow.", required=True, constraints=custom("mistral.workflow")
                ),
                "input": Property(Type.MAP, "Input of the workflow."),
            },
        ),
        "first_time": Property(description="Time of the first execution, in UTC, as YYYY-MM-DD HH:MM."),
        "count": Property(Type.INTEGER, "Number of executions; unlimited by default."),
    }
    attributes = {
        "next_execution_time": Attribute("Time of the next execution, in UTC.", Type.STRING),
        "remaining_executions": Attribute("Number of executions that remain.", Type.INTEGER),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        if properties["pattern"] is None and properties["first_time"] is None:
            yield "at least one of the properties pattern and first_time is required"

    async def create_body(self, call: Call) -> dict[str, Any]:
        given = call.properties
        workflow = given["workflow"]
        body = {
            "name": given["name"] or call.physical_name,
            "pattern": given["pattern"],
            "first_execution_time": given["first_time"],
            "remaining_executions": given["count"],
            "workflow_input": json_string(workflow["input"]) if workflow.get("input") else None,
        }
        return without_nulls({**body, **workflow_key(workflow["name"])})

    def made_by(self, call: Call, body: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
        compared = {key: body[key] for key in ("name", "pattern", "workflow_name", "workflow_id") if key in body}
        return super().made_by(call, compared, item)

    async def observe(self, call: Call) -> Mapping[str, Any] | None:
        """Return no differences: nothing of a trigger can be changed, and one that is gone may have run out."""
        return {}
