"""An admin's view of the identity service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud

V3 = "/identity/v3"
SINGULAR = {"policies": "policy"}


@dataclass
class Identity:
    """Calls below `/identity/v3`; as admin unless another token is given."""

    served: ServedCloud

    def call(self, method: str, path: str, body: Any = None, token: str | None = None) -> Answer:
        return self.served.call(method, V3 + path, body, token or self.served.token())

    def ok(self, method: str, path: str, body: Any = None, token: str | None = None) -> Any:
        """The JSON of a call that must succeed; None without a body."""
        answer = self.call(method, path, body, token)
        assert answer.status < 300, answer.content
        return answer.json if answer.content else None

    def make(self, plural: str, token: str | None = None, **fields: Any) -> dict[str, Any]:
        singular = SINGULAR.get(plural, plural.removesuffix("s"))
        made: dict[str, Any] = self.ok("POST", f"/{plural}", {singular: fields}, token)[singular]
        return made

    def find(self, plural: str, name: str) -> str:
        """The id of what has this name."""
        [found] = self.ok("GET", f"/{plural}?name={name}")[plural]
        return str(found["id"])

    def log_in(self, methods: dict[str, Any], scope: Any = None) -> Answer:
        auth: dict[str, Any] = {"identity": {"methods": list(methods), **methods}}
        if scope is not None:
            auth["scope"] = scope
        return self.served.call("POST", f"{V3}/auth/tokens", {"auth": auth})

    def token(self, user: dict[str, Any], scope: Any = None, password: str = "secret") -> str:
        """A token of a user that was made here."""
        answer = self.log_in({"password": {"user": {"id": user["id"], "password": password}}}, scope)
        assert answer.status == 201, answer.content
        return answer.headers["x-subject-token"]

    def member(self, name: str, project_id: str, role: str = "member") -> dict[str, Any]:
        """A new user with a role on a project."""
        user = self.make("users", name=name, password="secret")
        self.grant(f"/projects/{project_id}/users/{user['id']}", role)
        return user

    def grant(self, place: str, role: str) -> None:
        self.ok("PUT", f"{place}/roles/{self.find('roles', role)}")


@pytest.fixture
def identity(served: ServedCloud) -> Identity:
    return Identity(served)
