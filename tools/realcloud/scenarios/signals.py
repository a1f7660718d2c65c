"""Signals that reach resources from outside: as users of the stack domain, by signed URLs, and through other services.

Each trial sends what a server would send, with what Stoker hands to the server and nothing else, and then tries the
same with what has been tampered with.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import requests

from tools.realcloud.lab import Account
from tools.realcloud.scenarios.trials import Failed, Place, Trial

_THING = "thing"
_READY_SECONDS = 60.0
_DETAILS = {"result": "42", "deploy_stdout": "done", "deploy_stderr": "", "deploy_status_code": 0}
_AMAZON = {"UniqueId": "1", "Status": "SUCCESS", "Reason": "done", "Data": "42"}
_STATUS = {"id": "1", "status": "SUCCESS", "reason": "done", "data": "42"}
_TRANSPORTS = ("CFN_SIGNAL", "HEAT_SIGNAL", "TEMP_URL_SIGNAL", "ZAQAR_SIGNAL")


def signals(place: Place) -> Iterator[Trial]:
    """Deployments and wait conditions with each transport."""
    for transport in _TRANSPORTS:
        yield Trial(f"deployment with {transport}", partial(_deployment, place, transport))
    for transport in (*_TRANSPORTS, "TOKEN_SIGNAL"):
        yield Trial(f"wait condition with {transport}", partial(_handle, place, transport))
    yield Trial("AWS wait condition", partial(_amazon, place))
    yield Trial("SwiftSignal", partial(_swift, place))


def _deployment(place: Place, transport: str) -> str:
    """A deployment whose server reads its inputs from its metadata, and sends its outputs."""
    server = {"type": "OS::Heat::DeployedServer", "properties": {"software_config_transport": "POLL_TEMP_URL"}}
    resources = {
        "config": {
            "type": "OS::Heat::SoftwareConfig",
            "properties": {"group": "script", "config": "true", "outputs": [{"name": "result"}]},
        },
        "server": server,
        _THING: {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "config": {"get_resource": "config"},
                "server": {"get_resource": "server"},
                "signal_transport": transport,
            },
        },
    }
    outputs = {
        "collect": {"value": {"get_attr": ["server", "os_collect_config"]}},
        "result": {"value": {"get_attr": [_THING, "result"]}},
    }
    stack = _begun(place, f"deployment-{transport}", resources, outputs)
    inputs = _wait_for(lambda: _inputs(place, stack))
    _send(place, transport, inputs, _DETAILS)
    place.expect(stack, "CREATE_COMPLETE")
    return _ended(place, stack, {"result": "42"})


def _inputs(place: Place, stack: str) -> dict[str, str] | None:
    """The inputs that begin with `deploy_`, without that, as the server reads them in its metadata."""
    collect = place.outputs(stack)["collect"]
    if not collect:
        return None
    metadata = requests.get(collect["request"]["metadata_url"], timeout=30)
    if metadata.status_code != 200 or not metadata.json().get("deployments"):
        return None
    (deployment,) = metadata.json()["deployments"]
    return {
        item["name"].removeprefix("deploy_"): item["value"]
        for item in deployment["inputs"]
        if item["name"].startswith("deploy_") and item.get("value")
    }


def _handle(place: Place, transport: str) -> str:
    """A wait condition whose handle has the transport."""
    resources = {
        _THING: {"type": "OS::Heat::WaitConditionHandle", "properties": {"signal_transport": transport}},
        "condition": {
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": _THING}, "timeout": 120},
        },
    }
    outputs = {
        "data": {"value": {"get_attr": ["condition", "data"]}},
        **{name: {"value": {"get_attr": [_THING, name]}} for name in ("endpoint", "signal", "token")},
    }
    stack = _begun(place, f"handle-{transport}", resources, outputs)
    found = _wait_for(lambda: _known(place, stack, transport))
    if transport == "TOKEN_SIGNAL":
        endpoint = place.outputs(stack)["endpoint"]
        _require(requests.post(endpoint, json=_STATUS, timeout=30).status_code == 401, "no token is needed")
        _accepted(requests.post(endpoint, json=_STATUS, headers={"X-Auth-Token": found}, timeout=30))
    else:
        handle = {"signal_id": found.get("alarm_url"), "signal_verb": "PUT", **found}
        _send(place, transport, handle, _STATUS)
    place.expect(stack, "CREATE_COMPLETE")
    return _ended(place, stack, {"data": '{"1": "42"}'})


def _known(place: Place, stack: str, transport: str) -> Any:
    """What a handle tells its senders; None before it is complete."""
    outputs = _outputs(place, stack)
    if outputs is None:
        return None
    return outputs["token"] if transport == "TOKEN_SIGNAL" else json.loads(outputs["signal"] or "null")


def _amazon(place: Place) -> str:
    """A CloudFormation wait condition, whose handle's reference is a signed URL."""
    resources = {
        _THING: {"type": "AWS::CloudFormation::WaitConditionHandle"},
        "condition": {
            "type": "AWS::CloudFormation::WaitCondition",
            "properties": {"Handle": {"get_resource": _THING}, "Timeout": 120},
        },
    }
    outputs = {"data": {"value": {"get_attr": ["condition", "Data"]}}, "url": {"value": {"get_resource": _THING}}}
    stack = _begun(place, "amazon", resources, outputs)
    url = _wait_for(lambda: (_outputs(place, stack) or {}).get("url"))
    _signed(url, "PUT", _AMAZON)
    place.expect(stack, "CREATE_COMPLETE")
    return _ended(place, stack, {"data": '{"1": "42"}'})


def _swift(place: Place) -> str:
    """A signal that is an object in Swift."""
    resources = {
        _THING: {"type": "OS::Heat::SwiftSignalHandle"},
        "condition": {
            "type": "OS::Heat::SwiftSignal",
            "properties": {"handle": {"get_resource": _THING}, "timeout": 120, "count": 2},
        },
    }
    outputs = {
        "data": {"value": {"get_attr": ["condition", "data"]}},
        "url": {"value": {"get_attr": [_THING, "endpoint"]}},
    }
    stack = _begun(place, "swift", resources, outputs)
    url = _wait_for(lambda: (_outputs(place, stack) or {}).get("url"))
    _signed(url, "PUT", {**_STATUS, "id": "1"})
    _signed(url, "PUT", {**_STATUS, "id": "2", "data": "43"})
    place.expect(stack, "CREATE_COMPLETE")
    return _ended(place, stack, {"data": '{"1": "42", "2": "43"}'})


# -- sending --------------------------------------------------------------------------------------------------------


def _send(place: Place, transport: str, handle: Mapping[str, Any], body: Mapping[str, Any]) -> None:
    """Send a signal as the holder of the inputs of a deployment can."""
    if transport in ("CFN_SIGNAL", "TEMP_URL_SIGNAL"):
        _signed(handle["signal_id"], handle["signal_verb"], body)
        return
    user = _user(place, handle)
    if transport == "HEAT_SIGNAL":
        url = handle.get("alarm_url") or _signal_url(place, handle)
        _require(requests.post(url, json=body, timeout=30).status_code == 401, "no token is needed")
        _accepted(user.send("orchestration", "POST", url, json=body))
        stacks = place.engine.url
        _require(user.send("orchestration", "GET", f"{stacks}/stacks").status_code == 403, "it may list stacks")
        return
    message = {"messages": [{"body": body, "ttl": 600}]}
    _accepted(user.send("messaging", "POST", f"/v2/queues/{handle['queue_id']}/messages", json=message))


def _signal_url(place: Place, handle: Mapping[str, Any]) -> str:
    root = place.engine.url.rpartition("/")[0]
    stack = f"{handle['stack_id']}/resources/{handle['resource_name']}"
    return f"{root}/{handle['project_id']}/stacks/{stack}/signal"


def _user(place: Place, handle: Mapping[str, Any]) -> Account:
    """The user of the stack domain, from what a server is given."""
    auth = {
        "auth_url": handle["auth_url"],
        "user_id": handle["user_id"],
        "password": handle["password"],
        "project_id": handle["project_id"],
    }
    return Account(auth, place.account.region)


def _signed(url: str, method: str, body: Mapping[str, Any]) -> None:
    """Send a signal to a signed URL, also with another signature and for another object."""
    content = {"Content-Type": "application/json"}
    for name, other in (("ignature=", "ignature=x"), ("_sig=", "_sig=0"), ("thing", "think")):
        if name in url:
            refused = requests.request(method, url.replace(name, other), json=body, headers=content, timeout=30)
            _require(refused.status_code in (401, 403), f"another signature is answered with {refused.status_code}")
    _accepted(requests.request(method, url, json=body, headers=content, timeout=30))


def _accepted(answer: requests.Response) -> None:
    _require(answer.status_code < 300, f"{answer.request.method} is answered with {answer.status_code} {answer.text}")


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise Failed(text)


# -- stacks ---------------------------------------------------------------------------------------------------------


def _begun(place: Place, name: str, resources: Mapping[str, Any], outputs: Mapping[str, Any]) -> str:
    template = {"heat_template_version": "2021-04-16", "resources": dict(resources), "outputs": dict(outputs)}
    return place.create(name.lower().replace("_", "-"), template)


def _ended(place: Place, stack: str, expected: Mapping[str, Any]) -> str:
    """Compare the outputs with the expected ones, and delete the stack with its users."""
    found = place.outputs(stack)
    _require(expected.items() <= found.items(), f"the outputs are {found}")
    place.delete(stack)
    return "The stack completes when it is signalled; a forged signal is refused."


def _outputs(place: Place, stack: str) -> dict[str, Any] | None:
    """The outputs once the handle is complete: before, its URL leads nowhere."""
    made = place.engine.resource(stack, _THING)["resource_status"] == "CREATE_COMPLETE"
    return place.outputs(stack) if made else None


def _wait_for(ask: Callable[[], Any]) -> Any:
    """Return what something is as soon as it is known. Raises Failed."""
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        if found := ask():
            return found
        time.sleep(0.5)
    raise Failed("nothing is known that a server could signal with")
