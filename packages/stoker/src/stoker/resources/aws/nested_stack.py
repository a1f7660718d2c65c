"""AWS::CloudFormation::Stack: a nested stack whose template is fetched from a URL."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.base.errors import Overloaded
from stoker.base.fetching import FetchLimits, fetch_text
from stoker.base.ids import arn
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, FetchedTemplate, Snapshot
from stoker.resources.base import value_at
from stoker.resources.heat.nested_stacks.nested import NestedStackResource
from stoker.schema.property import Change, Property, Type
from stoker.schema.unknown import is_unknown
from stoker.template.limits import Limits
from stoker.template.template import Template

_OUTPUTS = "Outputs"
_FETCHED = "template"
_REFERENCE = "reference_id"
_RETRY_SECONDS = 1.0
"""Seconds before a retry while the project's limit of concurrent fetches is reached."""


class TemplateAtUrl(FetchedTemplate):
    """The template that the property TemplateURL names."""

    def url(self, properties: Mapping[str, object]) -> str | None:
        url = properties["TemplateURL"]
        return None if url is None or is_unknown(url) else str(url)

    async def fetch(self, url: str, project_id: str, options: Mapping[str, Any]) -> str:
        limits = FetchLimits(
            size=int(options.get("max_template_size") or Limits().max_template_size),
            seconds=options.get("template_fetch_timeout", 60.0),
            networks=options.get("template_fetch_networks", ()),
            per_project=options.get("template_fetches_per_project", 4),
        )
        return await asyncio.wrap_future(fetch_text(url, project_id, limits))

    def child(self, properties: Mapping[str, Any], template: Mapping[str, object]) -> ChildRequest:
        parameters, minutes = properties["Parameters"], properties["TimeoutInMinutes"]
        return ChildRequest(template, parameters=parameters or {}, timeout_minutes=minutes)


class NestedStack(NestedStackResource):
    """A nested stack. Its template is fetched for the validation of a request, and once for each action."""

    type_name = "AWS::CloudFormation::Stack"
    description = "A nested stack whose template is fetched from a URL."
    missing_attribute_is_null = True
    fetched_template = TemplateAtUrl()

    properties = {
        "TemplateURL": Property(
            description="The http or https URL of the template.", required=True, change=Change.UPDATE
        ),
        "TimeoutInMinutes": Property(
            Type.INTEGER, "Timeout of each action in minutes; by default the parent's.", change=Change.UPDATE
        ),
        "Parameters": Property(Type.MAP, "Values of the template's parameters.", change=Change.UPDATE),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        minutes = properties["TimeoutInMinutes"]
        if isinstance(minutes, int) and not 0 <= minutes < 2**31:
            yield "TimeoutInMinutes: must be from 0 to 2147483647 minutes"

    def child_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        """Return None: the template is known only when it has been fetched."""
        return None

    async def create(self, call: Call) -> Outcome:
        return await self._act(call, "CREATE")

    async def update(self, call: Call) -> Outcome:
        return await self._act(call, "UPDATE")

    async def adopt(self, call: Call) -> Outcome:
        return await self._act(call, "ADOPT")

    async def _act(self, call: Call, action: str) -> Outcome:
        url = call.properties["TemplateURL"]
        if _FETCHED not in call.progress:
            try:
                call.progress[_FETCHED] = await self.fetched_template.fetch(
                    url, call.stack.project_id, call.stack.options
                )
            except Overloaded:
                return InProgress(after=_RETRY_SECONDS)
            return InProgress(after=0.0)
        template = Template.load(call.progress[_FETCHED], source=url)
        outcome = await call.engine.child.run(action, self.fetched_template.child(call.properties, template.data))
        if isinstance(outcome, Done):
            child = outcome.physical_id or call.physical_id or ""
            call.data[_REFERENCE] = arn(call.stack.project_id, call.physical_name, child)
        return outcome

    def reference_id(self, resource: Snapshot) -> object:
        return resource.data.get(_REFERENCE, resource.name)

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        outputs = await call.engine.child.outputs()
        return {key: _output(outputs, key) for key in keys}


def _output(outputs: Mapping[str, object], key: AttributeKey) -> Any:
    """Return an output, named `Outputs.<name>` or by a path below `Outputs`."""
    head, _, name = str(key[0]).partition(".")
    if head != _OUTPUTS:
        return None
    return value_at(outputs.get(name), key[1:]) if name else value_at(outputs, key[1:])
