"""OS::Heat::SoftwareDeployment and OS::Heat::StructuredDeployment.

The object is a record of this service: which configuration a server should apply, and the result. Each action derives a
configuration of its own, which contains the values of the inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker.base.ids import new_id
from stoker.base.redaction import redact, strings_of
from stoker.plugins.agents import AGENT
from stoker.plugins.capabilities import Cancelable, Resumable, Signalable, Suspendable
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome, Replace
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, NoActionRequired, ResourceType, poll_pause
from stoker.plugins.transports import deployment_transports, remove_signals, secrets_of, signal_transports
from stoker.resources.base import value_at
from stoker.resources.declare import offered, one_of
from stoker.resources.heat.software.deployment_config import (
    as_variables,
    derived_config,
    put_in,
    triggers,
    value_of,
    with_inputs,
)
from stoker.resources.heat.software.deployment_signal import (
    collected,
    evaluated,
    prepare,
    sender_inputs,
    transport_of,
)
from stoker.resources.heat.users.companion_user import adopt_user, dismiss_user
from stoker.resources.heat.users.stack_user import user_project
from stoker.resources.steps import Step, in_turn
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker_foundation.clock import isoformat

ACTIONS = ("CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME")
IN_PROGRESS, COMPLETE, FAILED = "IN_PROGRESS", "COMPLETE", "FAILED"

_POLL_SECONDS = 5.0
"""Time between two looks at a deployment whose signal wakes it."""
_LOOK_SECONDS = 60.0
"""Time between two looks at the status of a server whose agent does not answer."""
_COMPUTE = "OS::Nova::Server"
_WRITTEN = {"request": "the object that the agent reads", "zaqar": "the queue that the agent reads"}
"""Collectors of the agent that do not read from this service, and where it has written the configuration for them."""

COMMON_PROPERTIES: dict[str, Property] = {
    "config": Property(description="ID of the configuration to apply.", change=Change.UPDATE),
    "input_values": Property(Type.MAP, "Values of the configuration's inputs.", change=Change.UPDATE),
    "actions": Property(
        Type.LIST,
        "The actions of the stack at which the configuration is applied.",
        default=["CREATE", "UPDATE"],
        constraints=one_of(*ACTIONS),
        change=Change.UPDATE,
    ),
    "name": Property(description="Name of the derived configuration.", change=Change.UPDATE),
    "signal_transport": Property(
        description="How the server reports the result.",
        default="CFN_SIGNAL",
        constraints=offered(deployment_transports),
    ),
}
"""Properties of deployments and of groups of deployments."""

STRUCTURED_PROPERTIES: dict[str, Property] = {
    "input_key": Property(
        description="The key that marks references to inputs in the configuration.", default="get_input"
    ),
    "input_values_validate": Property(
        description="Whether a reference to an input without a value is an error (STRICT) or null (LAX).",
        default="LAX",
        constraints=one_of("LAX", "STRICT"),
    ),
}


def with_default_transport(properties: Mapping[str, Property], options: Mapping[str, object]) -> dict[str, Property]:
    """Return the declarations with the operator's default_deployment_signal_transport."""
    transport = options.get("default_deployment_signal_transport") or properties["signal_transport"].default
    return {**properties, "signal_transport": replace(properties["signal_transport"], default=transport)}


class SoftwareDeployment(ResourceType, Cancelable, Resumable, Signalable, Suspendable):
    """The application of a configuration to a server."""

    type_name = "OS::Heat::SoftwareDeployment"
    description = "Applies a software configuration to a server, and waits for the result."
    support = Support(version="2014.1")
    service = "heat"
    signalable = True
    object_ids = ObjectIds(kind="heat software_deployments")
    no_signals_during = frozenset()
    any_attribute = True
    redacted_data = frozenset({"password", "access_key", "secret_key", "credential_id"})
    recovery = Recovery(
        RecoveryMethod.IDENTIFIER,
        "The deployment's ID is the resource's ID; the IDs of derived configurations are recorded before creation.",
    )

    properties = {"server": Property(description="ID of the server.", required=True), **COMMON_PROPERTIES}
    attributes = {
        "deploy_stdout": Attribute("Standard output of the configuration's tool.", Type.STRING),
        "deploy_stderr": Attribute("Standard error of the configuration's tool.", Type.STRING),
        "deploy_status_code": Attribute("Exit code of the configuration's tool.", Type.STRING),
    }

    def configure(self, options: Mapping[str, object]) -> None:
        self.properties = with_default_transport(type(self).properties, options)
        self.redacted_data = type(self).redacted_data | secrets_of(signal_transports())

    def rendered(self, call: Call, config: object, inputs: Sequence[Mapping[str, object]]) -> object:
        """Return the configuration in the form for the server."""
        return config

    # -- actions ----------------------------------------------------------------------------------------------

    async def create(self, call: Call) -> Outcome:
        return await in_turn(call, self._steps)

    async def update(self, call: Call) -> Outcome:
        name = await _replacing_input(call) if "turn" not in call.progress else None
        return Replace(f"the value of the input {name} changes") if name else await in_turn(call, self._steps)

    async def suspend(self, call: Call) -> Outcome:
        return await in_turn(call, self._steps)

    async def resume(self, call: Call) -> Outcome:
        return await in_turn(call, self._steps)

    async def delete(self, call: Call) -> Outcome:
        return await in_turn(call, (*self._steps, _forget, dismiss_user))

    async def adopt(self, call: Call) -> Outcome:
        """Move the deployment to the resource's own ID, which becomes its ID."""
        former = await call.engine.deployments.get(str(call.physical_id))
        if former is None and await call.engine.deployments.get(call.resource.uuid) is None:
            return Failed(f"software deployment {call.physical_id} does not exist", "NotFound")
        if former is not None and call.physical_id != call.resource.uuid:
            await call.engine.deployments.create(call.resource.uuid, former)
            await call.engine.deployments.delete(str(call.physical_id))
        outcome = await adopt_user(call)
        return Done(physical_id=call.resource.uuid) if isinstance(outcome, Done) else outcome

    @property
    def _steps(self) -> tuple[Step, ...]:
        return _begin, _equip, self._record, _wait

    async def cancel(self, call: Call, why: str) -> None:
        """Mark a deployment that is still in progress as failed."""
        deployment = await call.engine.deployments.get(call.resource.uuid)
        if deployment is not None and deployment["status"] == IN_PROGRESS:
            await call.engine.deployments.update(call.resource.uuid, {"status": FAILED, "status_reason": why})

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return call.physical_id is None or await call.engine.deployments.get(call.physical_id) is None

    async def _record(self, call: Call) -> Outcome:
        """Derive the configuration of this action, and record the deployment for the server."""
        if not call.progress["wanted"]:
            return Done()
        if call.physical_id is None:
            return InProgress(after=0.0, physical_id=call.resource.uuid)
        source = await call.engine.configs.get(call.properties["config"]) if call.properties["config"] else {}
        if source is None:
            return Failed(f"software configuration {call.properties['config']!r} does not exist", "NotFound")
        inputs = with_inputs(source, call.properties["input_values"] or {}, await sender_inputs(call))
        config = self.rendered(call, source.get("config"), inputs)
        inputs = as_variables(source, inputs)
        derived = derived_config(
            source, call.properties["name"] or source.get("name") or call.physical_name, config, inputs
        )
        makers = [call.stack.id, *(source.get("stacks") or ())]
        await call.engine.configs.create(call.progress["derived"], {**derived, "stacks": makers})
        await _send(call)
        if call.progress["former"]:
            await call.engine.configs.delete(call.progress["former"])
        return Done()

    # -- signals --------------------------------------------------------------------------------------

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        """Record the result that the server reports; later signals are ignored."""
        return await _take(call, details or {})

    # -- reading --------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        deployment = await call.engine.deployments.get(call.physical_id) if call.physical_id is not None else None
        outputs = (deployment or {}).get("output_values") or {}
        return {key: value_at(outputs.get(str(key[0])), key[1:]) for key in keys}


class StructuredDeployment(SoftwareDeployment):
    """The application of a configuration that is a map, with the values of its inputs filled in."""

    type_name = "OS::Heat::StructuredDeployment"
    description = "Applies a structured configuration to a server, and waits for the result."
    properties = {**SoftwareDeployment.properties, **STRUCTURED_PROPERTIES}

    def rendered(self, call: Call, config: object, inputs: Sequence[Mapping[str, Any]]) -> object:
        values = {entry["name"]: entry["value"] for entry in inputs}
        strict = call.properties["input_values_validate"] == "STRICT"
        return put_in(config, call.properties["input_key"], values, strict=strict)


# -- steps --------------------------------------------------------------------------------------------------------


async def _begin(call: Call) -> Outcome:
    """Determine whether this action applies the configuration, and the derived configuration's ID."""
    source = await call.engine.configs.get(call.properties["config"]) if call.properties["config"] else {}
    is_triggered = triggers(source or {}, call.properties["actions"], call.action)
    if call.action == "DELETE":
        is_triggered = is_triggered and call.physical_id is not None and await _has_server(call)
    deployment = await call.engine.deployments.get(call.resource.uuid) if is_triggered else None
    call.progress["wanted"] = is_triggered
    call.progress["derived"] = new_id()
    call.progress["former"] = deployment and deployment["config_id"]
    return Done()


async def _equip(call: Call) -> Outcome:
    """Prepare the transport of the signal. Fails for a server that does not use software configuration."""
    if not call.progress["wanted"]:
        return Done()
    server = await call.engine.neighbours.by_reference(call.properties["server"])
    if server is not None and server.type == _COMPUTE and AGENT not in server.metadata:
        reason = (
            f"server: {server.name} does not take software configuration; its user_data_format must be SOFTWARE_CONFIG"
        )
        return Failed(reason, "StackValidationFailed")
    return await prepare(call)


async def _send(call: Call) -> None:
    """Record the deployment of the derived configuration, once: the server may have signalled already."""
    deployment = await call.engine.deployments.get(call.resource.uuid)
    if deployment is not None and deployment["config_id"] == call.progress["derived"]:
        return
    silent = not transport_of(call).expected
    values = {
        "config_id": call.progress["derived"],
        "action": call.action,
        "status": COMPLETE if silent else IN_PROGRESS,
        "status_reason": "No signal is expected" if silent else f"Waiting for the server to {call.action.lower()}",
        "input_values": call.properties["input_values"] or {},
        "output_values": {},
    }
    if deployment is None:
        owner = user_project(call) if "user_id" in call.data else call.stack.user_project_id
        values |= {"server_id": call.properties["server"], "stack_user_project_id": owner}
        await call.engine.deployments.create(call.resource.uuid, values)
    else:
        await call.engine.deployments.update(call.resource.uuid, values)


async def _wait(call: Call) -> Outcome:
    """Wait until the server has reported the result, as a step."""
    if not call.progress["wanted"]:
        return Done()
    deployment = await call.engine.deployments.get(call.resource.uuid)
    if deployment is None:
        return Failed(f"software deployment {call.resource.uuid} no longer exists", "NotFound")
    if deployment["status"] == COMPLETE:
        return Done()
    if deployment["status"] == FAILED:
        return Failed(f"Deployment to server failed: {deployment['status_reason']}", "Error")
    if call.action == "DELETE" and not await _has_server(call):
        return Done()
    details = await collected(call)
    if details is None:
        after = poll_pause(call.elapsed) if transport_of(call).place in call.data else _POLL_SECONDS
        return InProgress(after=after, waiting=await _reason_to_wait(call, deployment))
    await _take(call, details)
    return InProgress(after=0.0)


async def _reason_to_wait(call: Call, deployment: Mapping[str, Any]) -> str:
    """Say how far the deployment has come: agents that read their metadata elsewhere are not seen."""
    if deployment["delivered_at"] is not None:
        when = isoformat(deployment["delivered_at"])
        return f"The agent on the server received the configuration at {when}; waiting for its result."
    if status := await _server_problem(call):
        return f"The server is {status}; waiting for its agent."
    server = await call.engine.neighbours.by_reference(call.properties["server"])
    collectors = (server.metadata.get(AGENT) or {}).get("collectors") or () if server is not None else ()
    written = next((place for name, place in _WRITTEN.items() if name in collectors), None)
    if written is not None:
        return f"The configuration is in {written}; waiting for the result of the agent on the server."
    return "Waiting for the agent on the server to request the configuration."


async def _forget(call: Call) -> Outcome:
    """Delete the deployment and its derived configurations, as a step.

    The deployment goes last: only it has the ID of a configuration that an earlier action derived.
    """
    deployment = await call.engine.deployments.get(call.resource.uuid)
    if deployment is not None:
        await call.engine.configs.delete(deployment["config_id"])
        await call.engine.deployments.delete(call.resource.uuid)
    if "derived" in call.progress:
        await call.engine.configs.delete(call.progress["derived"])
    await remove_signals(call)
    return Done()


async def _take(call: Call, details: Mapping[str, object]) -> str:
    """Record the result; return the event's reason. Raises NoActionRequired when no signal is expected."""
    deployment = await call.engine.deployments.get(call.resource.uuid)
    if deployment is None or deployment["status"] != IN_PROGRESS:
        raise NoActionRequired(f"software deployment {call.resource.uuid} does not expect a signal")
    config = await call.engine.configs.get(deployment["config_id"]) or {}
    outcome = evaluated(config.get("outputs") or [], redact(details, _own_secrets(call)))
    failed = outcome.failure is not None
    await call.engine.deployments.update(
        call.resource.uuid,
        {
            "output_values": outcome.outputs,
            "status": FAILED if failed else COMPLETE,
            "status_reason": outcome.failure if failed else "Outputs received",
        },
    )
    return f"deployment {call.resource.uuid} {f'failed ({outcome.code})' if failed else 'succeeded'}"


def _own_secrets(call: Call) -> list[str]:
    """Return the credentials of the deployment's user: the agent passes them to the configuration's tool, and what the
    tool prints of its environment is shown in outputs."""
    own = SoftwareDeployment.redacted_data | secrets_of(signal_transports())
    return [text for key in own & call.data.keys() for text in strings_of(call.data[key])]


async def _has_server(call: Call) -> bool:
    path = f"/servers/{call.properties['server']}"
    return (await call.cloud.request("GET", "nova", path, ok=(404,))).status != 404


async def _server_problem(call: Call) -> str:
    """Return the status of a server of the compute service that does not run; an empty string otherwise."""
    if call.elapsed >= call.progress.get("looked_after", 0.0) + _LOOK_SECONDS:
        found = await call.cloud.request("GET", "nova", f"/servers/{call.properties['server']}", ok=(404,))
        status = value_at(found.body, ["server", "status"]) if found.status != 404 else None
        call.progress |= {"looked_after": call.elapsed, "problem": status if status not in (None, "ACTIVE") else ""}
    return str(call.progress.get("problem", ""))


async def _replacing_input(call: Call) -> str | None:
    """Return the name of a changed input whose declaration requires a new deployment; None if there is none."""
    before, after = call.previous or {}, call.properties
    source = await call.engine.configs.get(after["config"]) if after["config"] else None
    former = await call.engine.configs.get(before["config"]) if before.get("config") else None
    for entry in (source or {}).get("inputs") or []:
        if entry.get("replace_on_change"):
            old = next((item for item in (former or {}).get("inputs") or [] if item["name"] == entry["name"]), entry)
            if value_of(old, before.get("input_values") or {}) != value_of(entry, after["input_values"] or {}):
                return str(entry["name"])
    return None
