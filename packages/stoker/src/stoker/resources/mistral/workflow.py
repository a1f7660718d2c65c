"""OS::Mistral::Workflow"""

from __future__ import annotations

import logging
from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from stoker.base.errors import BadValue, CloudError
from stoker.base.json_text import read_json
from stoker.plugins.capabilities import Resumable, Signalable, Suspendable
from stoker.plugins.object_ids import IdScope, ObjectIds
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call
from stoker.resources.base import Collection, RestResource, value_at
from stoker.resources.heat.signals.signal_url import SIGNAL, signed_url
from stoker.resources.heat.users.companion_user import adopt_user, dismiss_user, ensure_user, resume_user, suspend_user
from stoker.resources.mistral.definition import PROPERTIES, document_of, problems, yaml_of
from stoker.resources.mistral.requests import SERVICE, execution_path, start_execution
from stoker.resources.steps import in_turn
from stoker.schema.property import Attribute, Support, Type

LOG = logging.getLogger(__name__)
EXECUTIONS = "executions"
"""The key of `Call.data` with the comma-separated IDs of the executions that signals have started, latest first."""
NAME = "name"
_PLACE = {"scope": "private", "namespace": ""}
_SHOWN = ("id", "workflow_name", "created_at", "updated_at", "state")


class Workflow(RestResource, Resumable, Signalable, Suspendable):
    """A workflow, whose physical ID is its name. A user of its own may start executions of it by signals."""

    type_name = "OS::Mistral::Workflow"
    description = "A workflow; a signal starts an execution of it."
    collection = Collection(SERVICE, "/workflows", members="workflows", id_field="name", owner=None)
    support = Support(version="2015.1")
    signalable = True
    id_is_new = False
    id_property = "name"
    object_ids = ObjectIds(IdScope.PROJECT)
    always_replace_on_check_failed = False
    redacted_data = frozenset({"password", "access_key", "secret_key", "credential_id"})
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The name is the physical name, which is unique in the project. A workflow with a name that the template gives "
        "must also have this definition and have been created since the action began, and belong to no other resource.",
    )

    properties = PROPERTIES
    attributes = {
        "data": Attribute("Name and input of the workflow.", Type.MAP),
        "alarm_url": Attribute("A signed URL that accepts a signal (POST) without a token.", Type.STRING, live=True),
        "executions": Attribute("The executions that signals have started, the latest first.", Type.LIST),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        return problems(properties)

    # -- the definition --------------------------------------------------------------------------------------------

    async def create_body(self, call: Call) -> dict[str, object]:
        """Return what a list shows of the workflow; the request itself has the definition as its body."""
        name = str(call.properties["name"] or call.physical_name)
        return {"name": name, "definition": yaml_of(document_of(name, call.properties))}

    async def begin(self, call: Call) -> dict[str, Any]:
        return await self._send(call, "POST", await self.create_body(call))

    async def update_body(self, call: Call) -> dict[str, object]:
        return {"definition": yaml_of(document_of(str(call.physical_id), call.properties))}

    async def send_update(self, call: Call, body: Mapping[str, object]) -> dict[str, object]:
        return await self._send(call, "PUT", body)

    async def _send(self, call: Call, method: str, body: Mapping[str, Any]) -> dict[str, object]:
        answer = await call.cloud.request(
            method,
            SERVICE,
            self.collection.path,
            data=body["definition"].encode(),
            params=_PLACE,
            headers={"Content-Type": "text/plain"},
        )
        made: dict[str, object] = answer.body["workflows"][0]
        return made

    def created(self, call: Call, shown: Mapping[str, object]) -> None:
        call.data[NAME] = shown["name"]

    # -- lifecycle ---------------------------------------------------------------------------------------------------

    async def create(self, call: Call) -> Outcome:
        equipped = await ensure_user(call, with_key_pair=True)
        return await super().create(call) if isinstance(equipped, Done) else equipped

    async def delete(self, call: Call) -> Outcome:
        return await in_turn(call, (_delete_executions, super().delete, dismiss_user))

    async def suspend(self, call: Call) -> Outcome:
        return await suspend_user(call)

    async def resume(self, call: Call) -> Outcome:
        return await resume_user(call)

    async def adopt(self, call: Call) -> Outcome:
        outcome = await super().adopt(call)
        return await adopt_user(call) if isinstance(outcome, Done) else outcome

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return call.physical_id is None or not call.properties["name"] or await self.show(call) is None

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        name = str(call.physical_id)
        try:
            found = yaml.safe_load(shown.get("definition") or "")
        except (yaml.YAMLError, RecursionError):
            found = None
        live = found.get(name) if isinstance(found, dict) else None
        declared = document_of(name, call.properties)[name]
        call.report.compared.update(key.replace("-", "_") for key in ("name", *declared))
        if not isinstance(live, dict):
            return {"tasks": None}
        return {key.replace("-", "_"): None for key, value in declared.items() if live.get(key) != value}

    # -- signals ---------------------------------------------------------------------------------------------------

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        """Start an execution with the input and the parameters of the signal. Raises BadValue for unknown ones."""
        given, params = _signalled(call, dict(details or {}))
        values = {**(call.properties["input"] or {}), **given}
        parameters = {**(call.properties["params"] or {}), **params}
        made = await start_execution(call, call.physical_id, values, parameters)
        call.data[EXECUTIONS] = ",".join([str(made["id"]), *_executions(call)])
        return f"started the workflow execution {made['id']}"

    # -- reading ---------------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Several[AttributeKey]) -> dict[AttributeKey, object]:
        own = [key for key in keys if key[0] in self.attributes]
        found = await super().read_attributes(call, [key for key in keys if key not in own])
        names = {str(key[0]) for key in own} if call.physical_id is not None else set()
        values: dict[str, object] = {}
        if "data" in names:
            values["data"] = {"name": call.physical_id, "input": call.properties["input"]}
        if "alarm_url" in names:
            values["alarm_url"] = _alarm_url(call)
        if EXECUTIONS in names:
            values[EXECUTIONS] = [await _execution(call, identifier) for identifier in _executions(call)]
        return {**found, **{key: value_at(values, key) for key in own}}


def _signalled(call: Call, body: dict[str, Any]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the input and the parameters in a signal. Raises BadValue."""
    whole = call.properties["use_request_body_as_input"]
    given, params = (body, {}) if whole else (body.get("input"), body.get("params"))
    for what, value in (("input", given), ("params", params)):
        if value is not None and not isinstance(value, Mapping):
            raise BadValue(f"The {what} in the signal for {call.resource.name} must be a map.")
    declared = call.properties["input"] or {}
    if unknown := sorted(set(given or {}) - declared.keys()):
        known = ", ".join(sorted(declared))
        raise BadValue(f"The workflow {call.resource.name} has no input {unknown[0]!r}; its inputs are {known}.")
    return dict(given or {}), dict(params or {})


def _executions(call: Call) -> list[str]:
    """Return the IDs of the executions that signals have started."""
    return [one for one in str(call.data.get(EXECUTIONS) or "").split(",") if one]


async def _execution(call: Call, identifier: str) -> dict[str, object]:
    shown = await call.cloud.get(SERVICE, execution_path(identifier))
    parsed = {name: read_json(shown.get(name) or "{}") for name in ("input", "output")}
    return {**{name: shown.get(name) for name in _SHOWN}, **parsed}


async def _delete_executions(call: Call) -> Outcome:
    """Delete the executions that signals have started, also those in progress."""
    for identifier in _executions(call):
        await call.cloud.delete(SERVICE, execution_path(identifier), params={"force": "true"}, ok=(404,))
    call.data.pop(EXECUTIONS, None)
    return Done()


def _alarm_url(call: Call) -> str | None:
    """Return the signed URL; None if the catalog has no endpoint of the CloudFormation API."""
    try:
        return signed_url(call, SIGNAL)
    except CloudError as error:
        LOG.info("workflow %s of stack %s has no signed URL: %s", call.resource.name, call.stack.name, error.message)
        return None
