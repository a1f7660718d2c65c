"""Signals by which servers report the result of a deployment: how they are sent, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.plugins.outcome import InProgress, Outcome
from stoker.plugins.resource import Call
from stoker.plugins.transports import SignalTransport, signal_transport

LAST_LINES, LONGEST_END = 5, 500
"""How much of standard error is in the reason of a failure: lines and characters."""
STANDARD_OUTPUTS = ("deploy_stdout", "deploy_stderr", "deploy_status_code")


def transport_of(call: Call) -> SignalTransport:
    """Return the transport of the deployment's signal. Raises NotSupported when it is not available any more."""
    return signal_transport(call.properties["signal_transport"])


async def prepare(call: Call) -> Outcome:
    """Create what the server's signal needs, as a step."""
    transport = transport_of(call)
    if await transport.choose(call):
        return InProgress(after=0.0)
    return await transport.prepare_deployment(call)


async def sender_inputs(call: Call) -> dict[str, object]:
    """Return the inputs that identify the deployment to the server and state how to signal its result."""
    inputs = await transport_of(call).deployment_inputs(call)
    return {
        "deploy_server_id": call.properties["server"],
        "deploy_action": call.action,
        "deploy_stack_id": f"{call.stack.name}/{call.stack.id}",
        "deploy_resource_name": call.resource.name,
        "deploy_signal_transport": call.properties["signal_transport"],
        **{f"deploy_{name}": value for name, value in inputs.items()},
    }


async def collected(call: Call) -> Mapping[str, object] | None:
    """Return the signal that the transport has stored; None if there is none. Raises BadValue if it is not a map."""
    transport = transport_of(call)
    return await transport.signal_of_deployment(call) if transport.place in call.data else None


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a deployment: its outputs, the reason of its failure (None for success), its exit code."""

    outputs: dict[str, object]
    failure: str | None
    code: str


def _end_of(text: str) -> str:
    """Return the last lines of a message, in which a program says why it has failed."""
    lines = text.splitlines()
    end = "\n".join(lines[-LAST_LINES:])[-LONGEST_END:]
    return end if end == text else f"… {end}"


def evaluated(declared: Sequence[Mapping[str, Any]], details: Mapping[str, object]) -> Result:
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
        if error_output := str(details.get("deploy_stderr") or "").strip():
            problems.append(f"deploy_stderr : {_end_of(error_output)}")
    return Result(outputs, ", ".join(problems) or None, code)
