"""OS::Mistral::ExternalResource"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from stoker.base.errors import CloudError
from stoker.base.json_text import read_json
from stoker.plugins.capabilities import Cancelable, ConditionallyReplaced, Resumable, Suspendable
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType, Waiter
from stoker.resources.base import value_at
from stoker.resources.declare import custom
from stoker.resources.mistral.requests import SERVICE, execution_path, json_string, start_execution
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

OUTPUTS = "outputs"
"""The key of `Call.data` with the merged outputs of all executions, a string of JSON."""
SECRETS = "secrets"
"""The key of `Call.data` with the outputs that a workflow has marked as secret, by name."""
_SECRET_OUTPUTS = "secret_outputs"  # noqa: S105  a name
"""The output with the names of the outputs that are secret."""
_EXECUTION = "execution"
_LONGEST_ID = 255
_WAITS = Waiter.until("SUCCESS", pending=("IDLE", "RUNNING", "PAUSED"), failed=("ERROR", "CANCELLED"))


def _action(verb: str) -> Property:
    return Property(
        Type.MAP,
        f"The workflow that {verb} the resource.",
        schema={
            "workflow": Property(
                description="Name or ID of the workflow.", required=True, constraints=custom("mistral.workflow")
            ),
            "params": Property(Type.MAP, "Parameters of the execution, such as env or task_name.", default={}),
        },
    )


class ExternalResource(ResourceType, Cancelable, ConditionallyReplaced, Resumable, Suspendable):
    """An object that workflows create, update and delete; its ID is the output `resource_id` of the execution.

    The ID of an execution is chosen and recorded before it is started; a request that is repeated with it starts no
    second execution. Outputs that the output `secret_outputs` names are redacted like other generated secrets.
    """

    type_name = "OS::Mistral::ExternalResource"
    description = "An object that workflows create, update, suspend, resume and delete."
    service = SERVICE
    support = Support(version="9.0.0")
    updates_with_parent = "always_update"
    path_in_attribute = True
    redacted_data = frozenset({SECRETS})
    recovery = Recovery(
        RecoveryMethod.IDENTIFIER,
        "The ID of the execution is recorded before it is started; the service starts one execution per ID.",
    )

    properties = {
        "actions": Property(
            Type.MAP,
            "The workflows, by action. An action without one succeeds without any request.",
            required=True,
            schema={
                "CREATE": _action("creates"),
                "UPDATE": _action("updates"),
                "SUSPEND": _action("suspends"),
                "RESUME": _action("resumes"),
                "DELETE": _action("deletes"),
            },
        ),
        "input": Property(Type.MAP, "Input of the workflows.", default={}, change=Change.UPDATE),
        "description": Property(description="Description of the executions.", default="Heat managed"),
        "replace_on_change_inputs": Property(
            Type.LIST, "Names of inputs whose change replaces the resource.", default=[]
        ),
        "always_update": Property(
            Type.BOOLEAN, "Whether every update of the stack runs the UPDATE workflow.", default=False
        ),
    }
    attributes = {"output": Attribute("The outputs of the executions, the latest value of each.", Type.MAP)}

    def replacement_reason(
        self, before: Mapping[str, Any], after: Mapping[str, Any], changed: Mapping[str, object]
    ) -> str | None:
        if is_unknown(before["input"]) or is_unknown(after["input"]) or is_unknown(after["replace_on_change_inputs"]):
            return None
        was, after_input = before["input"] or {}, after["input"] or {}
        names = [name for name in after["replace_on_change_inputs"] or [] if was.get(name) != after_input.get(name)]
        return f"the input {names[0]} changes" if names else None

    async def create(self, call: Call) -> Outcome:
        return await _run(call, "CREATE")

    async def update(self, call: Call) -> Outcome:
        if "input" not in call.changed and not call.properties["always_update"]:
            return Done()
        return await _run(call, "UPDATE")

    async def suspend(self, call: Call) -> Outcome:
        return await _run(call, "SUSPEND")

    async def resume(self, call: Call) -> Outcome:
        return await _run(call, "RESUME")

    async def delete(self, call: Call) -> Outcome:
        return await _run(call, "DELETE")

    async def cancel(self, call: Call, why: str) -> None:
        """Cancel the execution that is in progress."""
        if call.progress.get("sent"):
            body = {"state": "CANCELLED"}
            # An execution that has just ended cannot be cancelled, and need not be.
            await call.cloud.put(SERVICE, execution_path(call.progress[_EXECUTION]), body, ok=(400, 404))

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        """Return the outputs as the recorded JSON, and parts of them by their path."""
        outputs = call.data.get(OUTPUTS)
        return {key: value_at(_outputs(call), key[1:]) if len(key) > 1 else outputs for key in keys}


async def _run(call: Call, action: str) -> Outcome:
    """Run the workflow of an action, if it has one, and record its outputs."""
    declared = (call.properties["actions"] or {}).get(action)
    if declared is None:
        return Done()
    if _EXECUTION not in call.progress:
        call.progress[_EXECUTION] = str(uuid4())
        return InProgress(after=0.0)
    identifier = call.progress[_EXECUTION]
    if not call.progress.get("sent"):
        description = call.properties["description"]
        await start_execution(
            call, declared["workflow"], call.properties["input"] or {}, _params(call, declared), description, identifier
        )
        call.progress["sent"] = True
        return InProgress(after=_WAITS.pause(call.elapsed))
    try:
        shown = await call.cloud.get(SERVICE, execution_path(identifier))
    except CloudError as error:
        if not error.not_found:
            raise
        return Failed(f"the execution {identifier} of the workflow {declared['workflow']} was deleted", "NotFound")
    outcome = _WAITS.outcome(shown.get("state"), shown.get("state_info"), call.elapsed)
    if isinstance(outcome, Failed):
        # Workflows are not repeated: they may have changed something already.
        return replace(outcome, in_error=False)
    return _completed(call, identifier, shown) if isinstance(outcome, Done) else outcome


def _params(call: Call, declared: Mapping[str, Any]) -> dict[str, object]:
    """Return the parameters of an execution; the workflows of an existing resource also get its outputs."""
    params = dict(declared.get("params") or {})
    if call.physical_id is not None:
        params["env"] = {**(params.get("env") or {}), "heat_extresource_data": _outputs(call)}
    return params


def _completed(call: Call, identifier: str, shown: Mapping[str, Any]) -> Done:
    """Record the outputs of an execution; the output `resource_id` becomes the resource's ID.

    Without it, the ID of the first execution does. The output `secret_outputs` names the outputs that are secret.
    """
    output = read_json(shown.get("output") or "{}")
    output = output if isinstance(output, dict) else {}
    merged = {**_outputs(call), **output}
    call.data[OUTPUTS] = json_string(merged)
    names = merged.get(_SECRET_OUTPUTS)
    call.data[SECRETS] = {name: merged[name] for name in merged if isinstance(names, list) and name in names}
    return Done(physical_id=str(output.get("resource_id", call.physical_id or identifier))[:_LONGEST_ID])


def _outputs(call: Call) -> dict[str, object]:
    recorded = read_json(call.data.get(OUTPUTS) or "{}")
    return recorded if isinstance(recorded, dict) else {}
