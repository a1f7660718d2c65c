"""Make the stacks of `heat_stacks.yaml` in a Heat."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openstack
from keystoneauth1.exceptions import ClientException

from testing.heat_stacks import definition

_SETTLE_SECONDS = 120.0


class Heat:
    """The stacks of one project in a Heat, through its API."""

    def __init__(self, connection: openstack.connection.Connection) -> None:
        self._api = connection.orchestration

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request. Raises RuntimeError with the answer of a refusal."""
        answer = self._api.request(path, method, json=body, connect_retries=3)
        if answer.status_code >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json() if "json" in answer.headers.get("Content-Type", "") and answer.content else None

    def show(self, name: str) -> dict[str, Any]:
        """Return a stack."""
        stack: dict[str, Any] = self.call("GET", f"/stacks/{name}")["stack"]
        return stack

    def path(self, name: str) -> str:
        """Return the path of a stack."""
        stack = self.call("GET", f"/stacks/{name}?resolve_outputs=false")["stack"]
        return f"/stacks/{stack['stack_name']}/{stack['id']}"

    def settled(self, name: str, expected: str | None = None) -> str:
        """Wait until a stack has a state, or is not in progress; return the state."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while True:
            state = str(self.call("GET", f"/stacks/{name}?resolve_outputs=false")["stack"]["stack_status"])
            if state == expected or (expected is None and not state.endswith("IN_PROGRESS")):
                return state
            if time.monotonic() > deadline:
                raise RuntimeError(f"{name} is {state}, not {expected or 'settled'}")
            time.sleep(0.5)

    def make(self, entry: Mapping[str, Any]) -> str:
        """Make the stack of an entry; return its state."""
        name, body = entry["name"], definition(entry)
        self.call("POST", "/stacks", {"stack_name": name, "timeout_mins": 60, **body, **_tags(entry)})
        if "signal" in entry and not entry["template"]["resources"].get("up"):
            self._signal_when_ready(name, entry)
        if entry.get("ends") == "CREATE_IN_PROGRESS":
            time.sleep(8)
            return self.settled(name, "CREATE_IN_PROGRESS")
        self.settled(name)
        self._change(name, entry, body)
        return self.settled(name, entry.get("ends"))

    def _change(self, name: str, entry: Mapping[str, Any], body: Mapping[str, Any]) -> None:
        path = self.path(name)
        if "snapshot" in entry:
            self.call("POST", f"{path}/snapshots", {"name": entry["snapshot"]})
            self.settled(name)
        if "update" in entry:
            time.sleep(1)
            self.call("PUT", path, {**body, **entry["update"], **_tags(entry)})
            time.sleep(3)
            if not str(entry.get("ends")).endswith("IN_PROGRESS"):
                self.settled(name)
        if entry.get("signal") == "up":
            self.call("POST", f"{path}/resources/up/signal", {})
            time.sleep(5)
        if "unhealthy" in entry:
            body = {"mark_unhealthy": True, "resource_status_reason": "broken"}
            self.call("PATCH", f"{path}/resources/{entry['unhealthy']}", body)
        if entry.get("action") == "delete":
            self.call("DELETE", path)
            time.sleep(5)
        elif "action" in entry:
            self.call("POST", f"{path}/actions", {entry["action"]: None})
            time.sleep(3)

    def _signal_when_ready(self, name: str, entry: Mapping[str, Any]) -> None:
        """Signal a resource of a stack that waits for it."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(1)
            found = self.call("GET", f"{self.path(name)}/resources")["resources"]
            states = {each["resource_name"]: each for each in found}
            one = states.get(entry["signal"])
            waits = one is not None and one["resource_type"].endswith("Deployment")
            if (
                one is not None
                and one["physical_resource_id"]
                and (waits or one["resource_status"] == "CREATE_COMPLETE")
            ):
                time.sleep(2)
                body = entry.get("details", {"status": "SUCCESS", "data": "signalled", "reason": "ready", "id": "1"})
                self.call("POST", f"{self.path(name)}/resources/{entry['signal']}/signal", body)
                return


def _tags(entry: Mapping[str, Any]) -> dict[str, str]:
    return {"tags": ",".join(entry["tags"])} if "tags" in entry else {}


def make_all(heat: Heat, entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Make all stacks; return their states, or the refusals, by name."""

    def made(entry: Mapping[str, Any]) -> tuple[str, str]:
        try:
            return entry["name"], heat.make(entry)
        except (RuntimeError, ClientException) as error:
            return entry["name"], f"refused: {error}"

    with ThreadPoolExecutor(4) as threads:
        return dict(threads.map(made, entries))


def shown_outputs(heat: Heat, name: str) -> dict[str, Any]:
    """Return a stack's ID, outputs, tags and hidden parameters, as its users see them.

    Reading a signal URL for the first time creates it.
    """
    try:
        shown = heat.show(name)
    except RuntimeError:
        return {"id": None, "outputs": {}, "tags": [], "hidden": []}
    return {
        "id": shown["id"],
        "outputs": {each["output_key"]: each.get("output_value") for each in shown.get("outputs", ())},
        "tags": shown["tags"],
        "hidden": heat.call("GET", f"{heat.path(name)}/environment").get("encrypted_param_names"),
    }
