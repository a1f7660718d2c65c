"""How a server tells what came of a deployment: what it needs to know for that, and what its answer means.

Facts: heat.yaml, OS::Heat::SoftwareDeployment, deploy_inputs and signal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.base.errors import BadValue
from stoker.cloud import messaging
from stoker.cloud.session import Cloud
from stoker.plugins.agents import as_stack_user
from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import Call
from stoker.resources.heat.companion_user import ensure_user
from stoker.resources.heat.signal_url import SIGNAL, signed_url
from stoker.resources.heat.stack_user import user_project
from stoker.resources.swift.temp_url import delete_object, object_path, put_object, temp_url

TRANSPORTS = ("CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL", "NO_SIGNAL", "ZAQAR_SIGNAL")
STANDARD_OUTPUTS = ("deploy_stdout", "deploy_stderr", "deploy_status_code")

_URL = "signal_url"
"""The key of `Call.data` for the signed URL of the object that the server writes its answer to."""

_QUEUE = "zaqar_signal_queue_id"
"""The key of `Call.data` for the queue that the server sends its answer to."""


async def prepare(call: Call) -> Outcome:
    """The step that makes what the server's answer needs: a user, an empty object, an empty queue."""
    transport = call.properties["signal_transport"]
    if transport == "TEMP_URL_SIGNAL":
        await put_object(call.cloud, _place(call), None)
        call.data[_URL] = call.data.get(_URL) or await temp_url(call.cloud, "PUT", _place(call))
        return Done()
    if transport == "NO_SIGNAL":
        return Done()
    outcome = await ensure_user(call, with_key_pair=transport == "CFN_SIGNAL")
    if transport == "ZAQAR_SIGNAL" and isinstance(outcome, Done):
        return await _prepare_queue(call)
    return outcome


async def _prepare_queue(call: Call) -> Outcome:
    """Have a queue without messages, which an earlier action may have left there."""
    if _QUEUE not in call.data:
        call.data[_QUEUE] = call.physical_name
        return Again(after=0.0)
    await messaging.delete_queue(await _user(call), call.data[_QUEUE])
    return Done()


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
            told |= {"deploy_signal_id": call.data[_URL], "deploy_signal_verb": "PUT"}
        case "HEAT_SIGNAL" | "ZAQAR_SIGNAL" as transport:
            told |= {
                "deploy_auth_url": call.cloud.server_auth_url,
                "deploy_username": call.physical_name,
                "deploy_user_id": call.data["user_id"],
                "deploy_password": call.data["password"],
                "deploy_project_id": user_project(call),
            }
            region = call.stack.region or call.cloud.region
            told |= {"deploy_region_name": region} if region else {}
            told |= {"deploy_queue_id": call.data[_QUEUE]} if transport == "ZAQAR_SIGNAL" else {}
    return told


async def collected(call: Call) -> Mapping[str, Any] | None:
    """The answer that lies in the object store or in the queue; None while there is none.

    It stays there, so that it is not lost when the process ends before it has been recorded. Raises BadValue for one
    that is no map.
    """
    match call.properties["signal_transport"]:
        case "TEMP_URL_SIGNAL":
            answer = await call.cloud.request("GET", "swift", _place(call), ok=(404,))
            said = None if answer.status == 404 else answer.body
        case "ZAQAR_SIGNAL":
            said = next(iter(await messaging.read(await _user(call), call.data[_QUEUE])), None)
        case _:
            return None
    if not said:
        return None
    try:
        details = said if isinstance(said, dict) else json.loads(said)
    except (TypeError, ValueError):
        details = None
    if not isinstance(details, dict):
        raise BadValue("what the server wrote as its signal is not a JSON object")
    return details


async def remove_place(call: Call) -> None:
    """Remove the object or the queue for the answer, if there is one."""
    if call.properties["signal_transport"] == "TEMP_URL_SIGNAL":
        await delete_object(call.cloud, _place(call))
        call.data.pop(_URL, None)
    elif _QUEUE in call.data and "user_id" in call.data:
        await messaging.delete_queue(await _user(call), call.data[_QUEUE])
        del call.data[_QUEUE]


async def _user(call: Call) -> Cloud:
    """Calls as the deployment's user, to whose project the queue belongs."""
    return await as_stack_user(call.cloud, call.data, user_project(call))


def _place(call: Call) -> str:
    return object_path(call.stack.id, call.physical_name)


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
