"""A stack over the REST API, and the requests with which the engine has changed the cloud: for tests of transfers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests

from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from testing.harness import ThreadedWorld, serve_rest

VERSION = "2021-04-16"


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": VERSION, "resources": resources}


def moves(**names: str) -> dict[str, Any]:
    """An environment that moves resources; the keys are the former names."""
    return {"moved": [{"from": former, "to": name} for former, name in names.items()]}


class Stacks:
    """Sends requests to the REST API of an engine on the emulated cloud."""

    def __init__(self, directory: Path, served: ServedCloud) -> None:
        self.world = ThreadedWorld(
            directory, served, EngineSettings(enable_stack_adopt=True, enable_stack_abandon=True)
        )
        self.served = served
        self._server = serve_rest(self.world, directory)
        self._headers = {"X-Auth-Token": served.token("demo", "demo")}
        project = self.world.world.context.project_id
        self.url = f"http://127.0.0.1:{self._server.port}/v1/{project}/stacks"

    def stop(self) -> None:
        self._server.stop()
        self.world.stop()

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> requests.Response:
        return requests.request(method, self.url + path, json=body, headers=headers or self._headers, timeout=60)

    def shown(self, path: str) -> Any:
        answer = self.send("GET", path)
        assert answer.ok, answer.text
        return answer.json()

    def create(self, request_body: Mapping[str, Any], environment: Any = None, **fields: Any) -> dict[str, Any]:
        body = {"stack_name": "web", "template": request_body, "environment": environment or {}, **fields}
        made = self.send("POST", "", body)
        assert made.status_code == 201, made.text
        self.world.settle(made.json()["stack"]["id"])
        return self.stack()

    def update(self, body: Mapping[str, Any], environment: Any = None, **fields: Any) -> dict[str, Any]:
        asked = self.send("PUT", self.path, {"template": body, "environment": environment or {}, **fields})
        assert asked.status_code == 202, asked.text
        self.world.settle(self.stack()["id"])
        return self.stack()

    def refused(self, request_body: Mapping[str, Any], environment: Any, **fields: Any) -> str:
        """The reason why an update is refused, as its preview is; nothing has changed then."""
        before = self.resources(), self.stack()["updated_time"]
        body = {"template": request_body, "environment": environment, **fields}
        asked = self.send("PUT", self.path, body)
        previewed = self.send("PUT", f"{self.path}/preview", body)
        assert asked.status_code == previewed.status_code == 400, (asked.text, previewed.text)
        assert (self.resources(), self.stack()["updated_time"]) == before
        assert asked.json()["error"]["message"] == previewed.json()["error"]["message"]
        return str(asked.json()["error"]["message"])

    def plan(self, body: Mapping[str, Any], environment: Any = None, **fields: Any) -> dict[str, Any]:
        asked = self.send("PUT", f"{self.path}/preview", {"template": body, "environment": environment or {}, **fields})
        assert asked.ok, asked.text
        plan: dict[str, Any] = asked.json()["plan"]
        return plan

    @property
    def path(self) -> str:
        stack = self.stack()
        return f"/{stack['stack_name']}/{stack['id']}"

    def stack(self) -> dict[str, Any]:
        found: dict[str, Any] = self.shown("/web")["stack"]
        return found

    def resources(self) -> dict[str, dict[str, Any]]:
        return {row["resource_name"]: row for row in self.shown("/web/resources")["resources"]}

    def objects(self) -> dict[str, str]:
        return {name: row["physical_resource_id"] for name, row in self.resources().items()}

    def writes(self) -> list[str]:
        """What the cloud was asked to change, without tokens and trusts."""
        entries = self.served.do(lambda: self.served.cloud.journal.select({}))
        return [
            f"{entry['method']} {entry['path']}"
            for entry in entries
            if entry["method"] not in ("GET", "HEAD") and entry["service"] != "keystone"
        ]
