"""How a server tells what came of a deployment: what it needs to know for that, and what its answer means.

Facts: heat.yaml, OS::Heat::SoftwareDeployment, deploy_inputs and signal.
"""

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
    """The step that makes what the server's answer needs: a user, an empty object, an empty queue."""
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
    """The inputs that tell the server where it is, and how to answer."""
    told = {
        "deploy_server_id": call.properties["server"],
        "deploy_action": call.action,
        "deploy_stack_id": f"{call.stack.name}/{call.stack.id}",
        "deploy_resource_name": call.name,
        "deploy_signal_transport": call.properties["signal_transport"],
    }
    match call.properties["signal_transport"]:
        case "CFN_SIGNAL":
            told |= {"deploy_signal_id": signed_url(call, SIGNAL, since=call.now), "deploy_signal_verb": "POST"}
        case "TEMP_URL_SIGNAL":
            told |= {"deploy_signal_id": call.data[signal_place.OBJECT_URL], "deploy_signal_verb": "PUT"}
        case "HEAT_SIGNAL" | "ZAQAR_SIGNAL" as transport:
            told |= {f"deploy_{name}": value for name, value in signal_place.sender(call).items() if value is not None}
            told |= {"deploy_queue_id": call.data[signal_place.QUEUE]} if transport == "ZAQAR_SIGNAL" else {}
    return told


async def collected(call: Call) -> Mapping[str, Any] | None:
    """The answer that lies in the object store or in the queue; None while there is none.

    Raises BadValue for one that is no map.
    """
    match call.properties["signal_transport"]:
        case "TEMP_URL_SIGNAL":
            return await signal_place.signal_in_object(call)
        case "ZAQAR_SIGNAL":
            return next(iter((await signal_place.signals_in_queue(call)).values()), None)
    return None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an answer means: the outputs to keep, why it is a failure (None for success), the code it ended with."""

    outputs: dict[str, Any]
    failure: str | None
    code: str


def judged(declared: Sequence[Mapping[str, Any]], details: Mapping[str, Any]) -> Judgement:
    """The meaning of an answer, given the configuration's declared outputs."""
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
    return Judgement(outputs, ", ".join(problems) or None, code)
