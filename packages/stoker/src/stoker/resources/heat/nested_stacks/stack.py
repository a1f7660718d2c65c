"""OS::Heat::Stack"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from stoker.base.errors import StokerError, TemplateInvalid
from stoker.plugins.capabilities import (
    ConditionallyReplaced,
    ParentInAnotherService,
    Resumable,
    ServiceValidated,
    Suspendable,
)
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, ResourceType, Snapshot, Sources, Waiter
from stoker.resources.base import value_at
from stoker.resources.heat.nested_stacks.remote_cloud import remote_cloud
from stoker.resources.heat.nested_stacks.remote_snapshot import RemoteSnapshot
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import has_unknown, is_unknown
from stoker.template.document import Document

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

_WAITS = Waiter.until("COMPLETE", pending=("IN_PROGRESS",), failed=("FAILED",), every=10.0)
_SINCE_12 = Support(version="12.0.0")


class Stack(ResourceType, ServiceValidated, ParentInAnotherService, ConditionallyReplaced, Resumable, Suspendable):
    """A stack of another orchestration service: in another region, or in another cloud."""

    type_name = "OS::Heat::Stack"
    description = "A stack in another region or another cloud."
    content = "what the remote stack contains, which was not read"
    service = "heat"
    object_ids = ObjectIds()
    updates_with_parent = True
    consults = True
    copy = RemoteSnapshot()
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The stack has the physical name in the remote project, where names are unique.",
    )

    properties = {
        "context": Property(
            Type.MAP,
            "The region, cloud and credential for the stack.",
            change=Change.UPDATE,
            schema={
                "region_name": Property(description="The region; by default that of this stack."),
                "credential_secret_id": Property(
                    description="A secret of the key manager with the credential for another cloud: "
                    "JSON with `auth_type` and `auth`.",
                    change=Change.UPDATE,
                    support=_SINCE_12,
                ),
                "ca_cert": Property(
                    description="The CA certificate of the other cloud, in PEM format.",
                    change=Change.UPDATE,
                    support=_SINCE_12,
                ),
                "insecure": Property(
                    Type.BOOLEAN,
                    "Whether to skip the verification of the other cloud's certificates.",
                    default=False,
                    change=Change.UPDATE,
                    support=_SINCE_12,
                ),
            },
        ),
        "template": Property(description="The stack's template.", required=True, change=Change.UPDATE),
        "parameters": Property(Type.MAP, "The stack's parameters.", default={}, change=Change.UPDATE),
        "timeout": Property(Type.INTEGER, "Timeout of each action in minutes.", change=Change.UPDATE),
    }
    attributes = {
        "stack_name": Attribute("The stack's name.", Type.STRING),
        "outputs": Attribute("Map from name to value of the stack's outputs.", Type.MAP),
    }

    def remote_stack_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        template = properties["template"]
        if not isinstance(template, str):
            return None
        try:
            data = Document.parse(template).data
        except TemplateInvalid:  # which `validate` tells
            return None
        return ChildRequest(data, parameters=properties["parameters"] or {})

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if isinstance(template := properties["template"], str):
            try:
                Document.parse(template)
            except TemplateInvalid as error:
                yield f"template: {error.diagnostics[0].message}"
        context = properties["context"]
        if not isinstance(context, Mapping) or context["credential_secret_id"]:
            return
        for name in ("ca_cert", "insecure"):
            if context[name]:
                yield (
                    f"context: {name} requires credential_secret_id, since it is for another cloud; this cloud's own "
                    "certificates are configured by the operator"
                )

    async def consult(self, properties: Mapping[str, Any], cloud: Cloud, sources: Sources) -> Iterable[str]:
        """Check that the region exists, and have the service there validate the template."""
        context, template = properties["context"] or {}, properties["template"]
        if has_unknown(context) or has_unknown(template):
            return []
        region = context.get("region_name") or cloud.region
        try:
            remote = await remote_cloud(cloud, context)
            remote.endpoint("heat")
        except StokerError as error:
            return [f"context: the orchestration service of region {region!r} cannot be used: {error.message}"]
        known = {name: value for name, value in (properties["parameters"] or {}).items() if not has_unknown(value)}
        given = {"template": template, **_surroundings(sources, known)}
        answer = await remote.request("POST", "heat", "/validate", json=given, ok=(400,))
        if answer.status != 400:
            return []
        return [f"template: region {region!r} finds it invalid: {_reason(answer.body)}"]

    def replacement_reason(
        self, before: Mapping[str, Any], after: Mapping[str, Any], changed: Mapping[str, object]
    ) -> str | None:
        if is_unknown(after["context"]):
            return None
        former, present = ((values["context"] or {}).get("region_name") for values in (before, after))
        return None if former == present else f"the region changes from {former} to {present}"

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_id

    # -- creating ---------------------------------------------------------------------------------------------

    async def find(self, call: Call) -> str | None:
        cloud = await remote_cloud(call.cloud, call.properties["context"])
        listed = await cloud.list("heat", "/stacks", "stacks", {"name": call.physical_name})
        return next((str(item["id"]) for item in listed if item["stack_name"] == call.physical_name), None)

    async def create(self, call: Call) -> Outcome:
        cloud = await remote_cloud(call.cloud, call.properties["context"])
        if call.physical_id is None:
            call.data["stack_name"] = call.physical_name
            made = await cloud.post("heat", "/stacks", {"stack_name": call.physical_name, **_body(call)})
            return InProgress(after=_WAITS.pause(0.0), physical_id=str(made["stack"]["id"]))
        return await self._evaluate_action(call, cloud, "CREATE")

    async def update(self, call: Call) -> Outcome:
        body = {**_body(call), "disable_rollback": call.stack.disable_rollback}
        return await self._request_action(call, "UPDATE", "PUT", "", body)

    async def suspend(self, call: Call) -> Outcome:
        return await self._request_action(call, "SUSPEND", "POST", "/actions", {"suspend": None})

    async def resume(self, call: Call) -> Outcome:
        return await self._request_action(call, "RESUME", "POST", "/actions", {"resume": None})

    async def adopt(self, call: Call) -> Outcome:
        if await _show(call, await remote_cloud(call.cloud, call.properties["context"])) is None:
            return Failed(f"stack {call.physical_id} does not exist in the remote region or cloud", "NotFound")
        return Done()

    async def check(self, call: Call) -> Outcome:
        return await self._request_action(call, "CHECK", "POST", "/actions", {"check": ""})

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return Done()
        cloud = await remote_cloud(call.cloud, call.properties["context"])
        if not call.progress.get("sent"):
            answer = await cloud.request("DELETE", "heat", _path(call), ok=(404,))
            if answer.status == 404:
                return Done()
            call.progress["sent"] = True
        return await self._evaluate_action(call, cloud, "DELETE")

    async def _request_action(
        self, call: Call, action: str, method: str, below: str, body: Mapping[str, object]
    ) -> Outcome:
        """Request an action of the remote stack, then wait for it."""
        if call.physical_id is None:
            return Failed(f"cannot {action.lower()} {call.resource.name}: it has not been created", "Error")
        cloud = await remote_cloud(call.cloud, call.properties["context"])
        if not call.progress.get("sent"):
            await cloud.request(method, "heat", f"{_path(call)}{below}", json=body)
            call.progress["sent"] = True
            return InProgress(after=_WAITS.pause(0.0))
        return await self._evaluate_action(call, cloud, action)

    async def _evaluate_action(self, call: Call, cloud: Cloud, action: str) -> Outcome:
        """Evaluate the remote stack's status; while it shows another action, the requested one has not begun."""
        shown = await _show(call, cloud)
        if shown is None:
            return (
                Done()
                if action == "DELETE"
                else Failed(f"stack {call.physical_id} no longer exists in the remote region or cloud", "NotFound")
            )
        remote_action, _, status = shown["stack_status"].partition("_")
        if remote_action != action:
            return InProgress(after=_WAITS.pause(call.elapsed))
        return _WAITS.outcome(status, shown.get("stack_status_reason"), call.elapsed)

    # -- reading --------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        shown = (
            await _show(call, await remote_cloud(call.cloud, call.properties["context"]))
            if call.physical_id is not None
            else None
        )
        if shown is None:
            return dict.fromkeys(keys)
        outputs = {output["output_key"]: output.get("output_value") for output in shown.get("outputs") or []}
        values = {"stack_name": shown["stack_name"], "outputs": outputs, "show": shown}
        return {key: value_at(values.get(str(key[0])), key[1:]) for key in keys}


def _path(call: Call) -> str:
    """Return the stack's path; an adopted stack keeps the name that it was created with."""
    name = call.data.get("stack_name", call.physical_name)
    return f"/stacks/{quote(name, safe='')}/{call.physical_id}"


def _body(call: Call) -> dict[str, Any]:
    """Return the request body for the stack."""
    properties = call.properties
    parameters = properties["parameters"] or {}
    body = {
        "template": properties["template"],
        "parameters": parameters,
        **_surroundings(call.engine.sources, parameters),
        "disable_rollback": True,
    }
    return body if properties["timeout"] is None else {**body, "timeout_mins": properties["timeout"]}


def _surroundings(sources: Sources, parameters: Mapping[str, object]) -> dict[str, object]:
    """Return what the template may refer to: the files and the environment of this stack."""
    environment = {section: value for section, value in sources.environment().items() if value}
    return {"files": dict(sources.files), "environment": {**environment, "parameters": parameters}}


def _reason(body: object) -> str:
    """Return the error message of an orchestration service."""
    return str(value_at(body, ("error", "message")) or body)


async def _show(call: Call, cloud: Cloud) -> dict[str, Any] | None:
    answer = await cloud.request("GET", "heat", _path(call), ok=(404,))
    found: dict[str, object] | None = None if answer.status == 404 else answer.body["stack"]
    return found
