"""AWS::CloudFormation::Stack: a nested stack whose template is fetched from a URL."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.base.errors import Overloaded
from stoker.base.fetching import FetchLimits, fetch_text
from stoker.base.ids import arn
from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, Snapshot
from stoker.resources.base import dig
from stoker.resources.heat.nested import NestedStackResource
from stoker.schema.property import Change, Property, Type
from stoker.template.limits import Limits
from stoker.template.template import Template

_OUTPUTS = "Outputs"
_FETCHED = "template"
_REFERENCE = "reference_id"
_RETRY_SECONDS = 1.0
"""Seconds before a retry while the project's limit of concurrent fetches is reached."""


class NestedStack(NestedStackResource):
    """A nested stack. Its template is fetched once for each action."""

    type_name = "AWS::CloudFormation::Stack"
    description = "A nested stack whose template is fetched from a URL."

    properties = {
        "TemplateURL": Property(
            description="The http or https URL of the template.", required=True, change=Change.UPDATE
        ),
        "TimeoutInMinutes": Property(
            Type.INTEGER, "Timeout of each action in minutes; by default the parent's.", change=Change.UPDATE
        ),
        "Parameters": Property(Type.MAP, "Values of the template's parameters.", change=Change.UPDATE),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        minutes = properties["TimeoutInMinutes"]
        if isinstance(minutes, int) and not 0 <= minutes < 2**31:
            yield "TimeoutInMinutes: must be from 0 to 2147483647 minutes"

    def child_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        """Return None: the template is fetched only when an action begins."""
        return None

    async def create(self, call: Call) -> Outcome:
        return await self._act(call, "CREATE")

    async def update(self, call: Call) -> Outcome:
        return await self._act(call, "UPDATE")

    async def adopt(self, call: Call) -> Outcome:
        return await self._act(call, "ADOPT")

    async def _act(self, call: Call, action: str) -> Outcome:
        given = call.properties
        limit = int(call.stack.options.get("max_template_size") or Limits().max_template_size)
        if _FETCHED not in call.progress:
            options = call.stack.options
            limits = FetchLimits(
                size=limit,
                seconds=options.get("template_fetch_timeout", 60.0),
                networks=options.get("template_fetch_networks", ()),
                per_project=options.get("template_fetches_per_project", 4),
            )
            try:
                fetched = fetch_text(given["TemplateURL"], call.stack.project_id, limits)
            except Overloaded:
                return Again(after=_RETRY_SECONDS)
            call.progress[_FETCHED] = await asyncio.wrap_future(fetched)
            return Again(after=0.0)
        template = Template.load(call.progress[_FETCHED], source=given["TemplateURL"])
        request = ChildRequest(
            template.data, parameters=given["Parameters"] or {}, timeout_minutes=given["TimeoutInMinutes"]
        )
        outcome = await call.child.run(action, request)
        if isinstance(outcome, Done):
            child = outcome.physical_id or call.physical_id or ""
            call.data[_REFERENCE] = arn(call.stack.project_id, call.physical_name, child)
        return outcome

    def reference_id(self, resource: Snapshot) -> Any:
        return resource.data.get(_REFERENCE, resource.name)

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        outputs = await call.child.outputs()
        return {key: _output(outputs, key) for key in keys}


def _output(outputs: Mapping[str, Any], key: AttributeKey) -> Any:
    """Return an output, named `Outputs.<name>` or by a path below `Outputs`."""
    head, _, name = str(key[0]).partition(".")
    if head != _OUTPUTS:
        return None
    return dig(outputs.get(name), key[1:]) if name else dig(outputs, key[1:])
