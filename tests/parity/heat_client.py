"""The life cycle of a stack over the Orchestration API of the service at a URL."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WAIT_SECONDS = 60
POLL_SECONDS = 0.25


@dataclass(frozen=True)
class Service:
    """The URL of an orchestration service for one project, and a token for it."""

    url: str
    token: str

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the body of an answer; numbers are read as they are written, NaN included."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Auth-Token": self.token, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, _parsed(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, _parsed(error.read())

    def outcome(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """The outcome of a case: the status of the stack and its outputs, or the refusal's status and error type."""
        name = f"parity-{uuid.uuid4().hex[:12]}"
        body = {key: case[key] for key in ("parameters", "environment", "files") if key in case}
        body |= {"stack_name": name, "timeout_mins": 1, "template": json.dumps(case["template"])}
        status, answer = self.call("POST", "/stacks", body)
        if status >= 400:
            return _refusal(status, answer)
        path = f"/stacks/{name}/{answer['stack']['id']}"
        try:
            stack = self._ended(path)
        finally:
            self.call("DELETE", path)
        found: dict[str, Any] = {"status": stack["stack_status"]}
        outputs = {output["output_key"]: output.get("output_value") for output in stack.get("outputs", ())}
        if outputs and stack["stack_status"] == "CREATE_COMPLETE":
            found["outputs"] = outputs
        return found

    def _ended(self, path: str) -> dict[str, Any]:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            status, answer = self.call("GET", path)
            stack: dict[str, Any] = answer["stack"] if status == 200 else {"stack_status": f"HTTP {status}"}
            if not stack["stack_status"].endswith("_IN_PROGRESS") or time.monotonic() > deadline:
                return stack
            time.sleep(POLL_SECONDS)


def _refusal(status: int, answer: Any) -> dict[str, Any]:
    error = answer.get("error", {}) if isinstance(answer, Mapping) else {}
    return {"status": status, "error": error.get("type")}


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return raw.decode(errors="replace")


def token(auth_url: str, user: str, password: str, project: str) -> tuple[str, str]:
    """A token for a user's project in the default domain, and the project's id."""
    domain = {"id": "default"}
    who = {"methods": ["password"], "password": {"user": {"name": user, "domain": domain, "password": password}}}
    body = {"auth": {"identity": who, "scope": {"project": {"name": project, "domain": domain}}}}
    request = urllib.request.Request(
        f"{auth_url}/auth/tokens", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return answer.headers["X-Subject-Token"], json.load(answer)["token"]["project"]["id"]
