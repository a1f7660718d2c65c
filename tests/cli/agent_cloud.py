"""A running Stoker and its emulated cloud, as its users and the servers in it see them."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from email import message_from_bytes
from typing import Any

import yaml
from keystoneauth1 import session
from keystoneauth1.identity import V3Password

from tests.cli.cli_shell import Shell

SECONDS = 240.0
"""How long anything may take."""


class Cloud:
    """The running Stoker and its emulated cloud, as the user demo and as the administrator."""

    def __init__(self, shell: Shell) -> None:
        clouds = yaml.safe_load((shell.directory / "clouds.yaml").read_text())["clouds"]
        self.user, self.admin = (
            session.Session(V3Password(**clouds[name]["auth"])) for name in ("stoker", "stoker-admin")
        )

    def stacks(self) -> str:
        return f"{self.user.get_endpoint(service_type='orchestration')}/stacks"

    def create(self, name: str, template: dict[str, Any]) -> None:
        self.user.post(self.stacks(), json={"stack_name": name, "template": template, "disable_rollback": True})

    def deploy(self, name: str, template: dict[str, Any]) -> None:
        """Create a stack to its end."""
        self.create(name, template)
        until(lambda: not self.show(name)["stack_status"].endswith("IN_PROGRESS"))
        assert self.show(name)["stack_status"] == "CREATE_COMPLETE", self.show(name)["stack_status_reason"]

    def update(self, name: str, template: dict[str, Any]) -> None:
        """Update a stack to its end."""
        status, reason = self.updated(name, template)
        assert status == "UPDATE_COMPLETE", reason

    def updated(self, name: str, template: dict[str, Any]) -> tuple[str, str]:
        """Update a stack, and return its status and the reason at the end."""
        self.user.put(f"{self.stacks()}/{name}/{self.show(name)['id']}", json={"template": template})
        until(lambda: not self.show(name)["stack_status"].endswith("IN_PROGRESS"))
        shown = self.show(name)
        return shown["stack_status"], shown["stack_status_reason"]

    def act(self, name: str, action: str) -> None:
        """Suspend, resume or check a stack to its end."""
        self.user.post(f"{self.stacks()}/{name}/{self.show(name)['id']}/actions", json={action: None})
        until(lambda: not self.show(name)["stack_status"].endswith("IN_PROGRESS"))
        shown = self.show(name)
        assert shown["stack_status"] == f"{action.upper()}_COMPLETE", shown["stack_status_reason"]

    def outputs(self, name: str) -> dict[str, Any]:
        return {output["output_key"]: output["output_value"] for output in self.show(name)["outputs"]}

    def show(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.user.get(f"{self.stacks()}/{name}").json()["stack"]
        return found

    def delete(self, name: str) -> None:
        shown = self.show(name)
        self.user.delete(f"{self.stacks()}/{name}/{shown['id']}")
        until(lambda: self.user.get(f"{self.stacks()}/{name}", raise_exc=False).status_code == 404)

    def parts(self, name: str, resource: str = "server") -> dict[str, bytes]:
        """The parts of a server's user data, by the names of their files."""
        place = f"{self.stacks()}/{name}/{self.show(name)['id']}/resources/{resource}"
        until(lambda: self.user.get(place).json()["resource"]["physical_resource_id"])
        server = self.user.get(place).json()["resource"]["physical_resource_id"]
        compute = self.admin.get_endpoint(service_type="compute")
        shown = self.admin.get(f"{compute}/servers/{server}", headers={"X-OpenStack-Nova-API-Version": "2.90"}).json()
        data = base64.b64decode(shown["server"]["OS-EXT-SRV-ATTR:user_data"])
        parts = {part.get_filename(): part.get_payload(decode=True) for part in message_from_bytes(data).walk()}
        return {str(name): bytes(content) for name, content in parts.items() if name and isinstance(content, bytes)}


def until(done: Callable[[], Any]) -> None:
    deadline = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < deadline, f"it does not happen within {SECONDS} seconds"
        time.sleep(0.1)
