"""Signals by which servers report the result of a deployment: how they are sent, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import Call
from stoker.resources.heat import signal_place
from stoker.resources.heat.companion_user import ensure_user
from stoker.resources.heat.signal_url import SIGNAL, signed_url

TRANSPORTS = ("CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL", "NO_SIGNAL", "ZAQAR_SIGNAL")
STANDARD_OUTPUTS = ("deploy_stdout", "deploy_stderr", "deploy_status_code")


async def prepare(call: Call) -> Outcome:
    """Create what the server's signal needs, as a step: a user, an empty object, or an empty queue."""
    transport = call.properties["signal_transport"]
    if await signal_place.choose(call, transport):
        return Again(after=0.0)
    match transport:
        case "NO_SIGNAL":
            return Done()
        case "TEMP_URL_SIGNAL":
            await signal_place.empty_object(call)
            return Done()
    outcome = await ensure_user(call, with_key_pair=transport == "CFN_SIGNAL")
    if transport == "ZAQAR_SIGNAL" and isinstance(outcome, Done):
        await signal_place.empty_queue(call)
    return outcome


async def sender_inputs(call: Call) -> dict[str, Any]:
    """Return the inputs that identify the deployment to the server and state how to signal its result."""
    inputs = {
        "deploy_server_id": call.properties["server"],
        "deploy_action": call.action,
        "deploy_stack_id": f"{call.stack.name}/{call.stack.id}",
        "deploy_resource_name": call.name,
        "deploy_signal_transport": call.properties["signal_transport"],
    }
    match call.properties["signal_transport"]:
        case "CFN_SIGNAL":
            inputs |= {"deploy_signal_id": signed_url(call, SIGNAL, since=call.now), "deploy_signal_verb": "POST"}
        case "TEMP_URL_SIGNAL":
            inputs |= {"deploy_signal_id": call.data[signal_place.OBJECT_URL], "deploy_signal_verb": "PUT"}
        case "HEAT_SIGNAL" | "ZAQAR_SIGNAL" as transport:
            inputs |= {
                f"deploy_{name}": value for name, value in signal_place.sender(call).items() if value is not None
            }
            inputs |= {"deploy_queue_id": call.data[signal_place.QUEUE]} if transport == "ZAQAR_SIGNAL" else {}
    return inputs


async def collected(call: Call) -> Mapping[str, Any] | None:
    """Return the signal that is stored in the object or the queue; None if there is none yet.

    Raises BadValue if it is not a map.
    """
    match call.properties["signal_transport"]:
        case "TEMP_URL_SIGNAL":
            return await signal_place.signal_in_object(call)
        case "ZAQAR_SIGNAL":
            return next(iter((await signal_place.signals_in_queue(call)).values()), None)
    return None


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a deployment: its outputs, the reason of its failure (None for success), its exit code."""

    outputs: dict[str, Any]
    failure: str | None
    code: str


def judged(declared: Sequence[Mapping[str, Any]], details: Mapping[str, Any]) -> Result:
    """Return the result that a signal reports, given the configuration's declared outputs."""
    names = [str(output["name"]) for output in declared]
    outputs = {name: details[name] for name in names if name in details}
    outputs |= {name: details.get(name) for name in STANDARD_OUTPUTS}
    problems = [
        f"{output['name']} : {details[output['name']]}"
        for output in declared
        if output.get("error_output") and details.get(output["name"]) not in (None, "")
    ]
    code = str(details.get("deploy_status_code") or 0)
    if code != "0":
        problems.append(f"deploy_status_code : Deployment exited with non-zero status code: {code}")
    return Result(outputs, ", ".join(problems) or None, code)
