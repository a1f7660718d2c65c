"""OS::Mistral::CronTrigger"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from stoker.plugins.object_ids import IdScope, ObjectIds
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource
from stoker.resources.declare import custom
from stoker.resources.mistral.requests import SERVICE, json_string, workflow_key
from stoker.resources.wire import without_nulls
from stoker.schema.live import never, same
from stoker.schema.property import Attribute, Property, Support, Type


class CronTrigger(RestResource):
    """A cron trigger, whose physical ID is its name. The service deletes it after its last execution."""

    type_name = "OS::Mistral::CronTrigger"
    description = "Starts a workflow at the times that a cron expression describes."
    collection = Collection(SERVICE, "/cron_triggers", members="cron_triggers", id_field="name", owner=None)
    support = Support(version="5.0.0")
    id_is_new = False
    id_property = "name"
    object_ids = ObjectIds(IdScope.PROJECT)
    recovery = Recovery(
        RecoveryMethod.NAME,
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
        "first_time": Property(
            description="Time of the first execution, in UTC, as YYYY-MM-DD HH:MM.",
            live=never("the service shows the time of the next execution only"),
        ),
        "count": Property(
            Type.INTEGER,
            "Number of executions; unlimited by default.",
            live=never("the service shows how many executions remain"),
        ),
    }
    attributes = {
        "next_execution_time": Attribute("Time of the next execution, in UTC.", Type.STRING),
        "remaining_executions": Attribute("Number of executions that remain.", Type.INTEGER),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties["pattern"] is None and properties["first_time"] is None:
            yield "at least one of the properties pattern and first_time is required"

    async def create_body(self, call: Call) -> dict[str, object]:
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

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        compared = {key: body[key] for key in ("name", "pattern", "workflow_name", "workflow_id") if key in body}
        return super().made_by(call, compared, item)

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        """Compare a trigger that exists; one that is gone is missed only if it does not run out by itself."""
        shown = await self.show(call)
        if shown is None:
            ends = call.properties["pattern"] is None or call.properties["count"] is not None
            reason = "the trigger does not exist; it may have run out"
            call.report.unread.update({name: reason for name, value in call.properties.items() if value is not None})
            return {} if ends else None
        body = await self.create_body(call)
        fields = {"pattern": ("pattern",), "workflow": ("workflow_name", "workflow_id", "workflow_input")}
        found: dict[str, object] = {}
        for name, parts in fields.items():
            call.report.compared.add(name)
            if not all(same(_plain(body[part]), _plain(shown.get(part))) for part in parts if part in body):
                found[name] = shown["pattern"] if name == "pattern" else None
        call.report.compared.add("name")  # the ID of the trigger
        return found


def _plain(value: object) -> object:
    """Return the input of a workflow, which is JSON text, as data; other values as they are."""
    return json.loads(value) if isinstance(value, str) and value.startswith("{") else value
