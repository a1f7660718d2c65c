"""What runs inside a server: it does over HTTP what os-collect-config and the heat-agents do, from a script.

The only thing that it knows at first is the metadata that came with the server's user data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any
from uuid import uuid4

import requests

Configuration = Mapping[str, Any]
Tool = Callable[[dict[str, Any], Any], dict[str, Any]]
"""`(inputs by name, configuration)` → what the tool reports: deploy_stdout, deploy_status_code, outputs …

The configuration is a string, or for structured ones data.
"""

_SECONDS = 20


def boot_metadata(user_data: bytes) -> dict[str, Any]:
    """The metadata among the parts of a server's user data."""
    for part in message_from_bytes(user_data).walk():
        if part.get_filename() == "cfn-init-data":
            found: dict[str, Any] = json.loads(bytes(part.get_payload(decode=True)) or b"{}")
            return found
    raise AssertionError("the user data have no metadata in them")


@dataclass
class Agent:
    """`metadata` are what it knew last, `tools` what applies configurations, by group; `applied` the ids so far."""

    metadata: dict[str, Any]
    tools: Mapping[str, Tool]
    orchestration: str
    applied: list[str] = field(default_factory=list)

    def poll(self) -> list[dict[str, Any]]:
        """Collect the metadata once, apply what is new, and answer; gives what was applied."""
        self.metadata = self._collected(self.metadata["os-collect-config"])
        new = [config for config in self.metadata["deployments"] if config["id"] not in self.applied]
        for config in new:
            inputs = {entry["name"]: entry["value"] for entry in config["inputs"]}
            self._answer(inputs, self._apply(config, inputs))
            self.applied.append(config["id"])
        return new

    def _apply(self, config: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
        group, text = config["group"], config["config"]
        if group == "component":
            (part,) = [part for part in text["configs"] if inputs["deploy_action"] in part["actions"]]
            group, text = part["tool"], part["config"]
        return self.tools[group](inputs, text)

    # -- collectors -------------------------------------------------------------------------------------------

    def _collected(self, configuration: Configuration) -> dict[str, Any]:
        collector = configuration["collectors"][1]
        if collector == "zaqar":
            messages = _Queue(configuration["zaqar"], configuration["zaqar"]["queue_id"]).pop()
            return messages[-1] if messages else self.metadata
        answer = {"heat": self._from_orchestration, "request": _from_object}[collector](configuration[collector])
        answer.raise_for_status()
        body = answer.json()
        found: dict[str, Any] = body["metadata"] if collector == "heat" else body
        return found

    def _from_orchestration(self, configuration: Configuration) -> requests.Response:
        stack = f"{self.orchestration}/{configuration['project_id']}/stacks/{configuration['stack_id']}"
        url = f"{stack}/resources/{configuration['resource_name']}"
        return requests.get(f"{url}/metadata", headers={"X-Auth-Token": token_of(configuration)}, timeout=_SECONDS)

    # -- the way back -----------------------------------------------------------------------------------------

    def _answer(self, inputs: dict[str, Any], said: dict[str, Any]) -> None:
        who = {name.removeprefix("deploy_"): value for name, value in inputs.items()}
        match inputs["deploy_signal_transport"]:
            case "ZAQAR_SIGNAL":
                _Queue(who, who["queue_id"]).post(said)
                return
            case "NO_SIGNAL":
                return
            case "HEAT_SIGNAL":
                where = f"{who['project_id']}/stacks/{who['stack_id']}/resources/{who['resource_name']}/signal"
                url, headers = f"{self.orchestration}/{where}", {"X-Auth-Token": token_of(who)}
                answer = requests.post(url, json=said, headers=headers, timeout=_SECONDS)
            case _:
                verb, url = inputs["deploy_signal_verb"], inputs["deploy_signal_id"]
                answer = requests.request(verb, url, data=json.dumps(said), timeout=_SECONDS)
        answer.raise_for_status()


def _from_object(configuration: Configuration) -> requests.Response:
    return requests.get(configuration["metadata_url"], timeout=_SECONDS)


class _Queue:
    """A queue of the messaging service, by the user whose credentials the agent has."""

    def __init__(self, configuration: Configuration, name: str) -> None:
        answer = _log_in(configuration)
        catalog = answer.json()["token"]["catalog"]
        (service,) = [service for service in catalog if service["type"] == "messaging"]
        self._url = f"{service['endpoints'][0]['url']}/v2/queues/{name}/messages"
        self._headers = {"X-Auth-Token": answer.headers["X-Subject-Token"], "Client-ID": str(uuid4())}

    def pop(self) -> list[Any]:
        answer = requests.delete(self._url, params={"pop": 20}, headers=self._headers, timeout=_SECONDS)
        answer.raise_for_status()
        return [message["body"] for message in answer.json()["messages"]]

    def post(self, body: Any) -> None:
        messages = {"messages": [{"body": body, "ttl": 600}]}
        requests.post(self._url, json=messages, headers=self._headers, timeout=_SECONDS).raise_for_status()


def token_of(configuration: Configuration) -> str:
    """A token of the user whose credentials the agent has."""
    return _log_in(configuration).headers["X-Subject-Token"]


def _log_in(configuration: Configuration) -> requests.Response:
    who = {"id": configuration["user_id"], "password": configuration["password"]}
    body: dict[str, Any] = {
        "auth": {
            "identity": {"methods": ["password"], "password": {"user": who}},
            "scope": {"project": {"id": configuration["project_id"]}},
        }
    }
    root = configuration["auth_url"].rstrip("/").removesuffix("/v3")
    answer = requests.post(f"{root}/v3/auth/tokens", json=body, timeout=_SECONDS)
    answer.raise_for_status()
    return answer
