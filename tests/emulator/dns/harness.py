"""A user of the emulated DNS service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.testing import Answer, ServedCloud

ALL_PROJECTS = {"X-Auth-All-Projects": "true"}
EXAMPLE = "example.test."


class Designate:
    """Sends requests as a user in the project of the same name."""

    def __init__(self, served: ServedCloud, user: str = "demo") -> None:
        self.served, self.user = served, user

    def call(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request below /v2."""
        return self.served.call(method, f"/dns/v2{path}", body, self.served.token(self.user, self.user), headers)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        """Return what a path shows."""
        answer = self.call("GET", path, headers=headers)
        assert answer.status == 200, answer.content
        return answer.json

    def make(self, path: str, body: Any, wait: bool = True, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Create an object, and wait until it is ready."""
        answer = self.call("POST", path, body, headers)
        assert answer.status in (201, 202), answer.content
        if wait:
            self.served.advance(2)
        made: dict[str, Any] = answer.json
        return made

    def zone(self, name: str = EXAMPLE, **fields: Any) -> str:
        """Create a zone, and return its ID."""
        return str(self.make("/zones", {"name": name, "email": "admin@example.test", **fields})["id"])

    def record_set(self, zone: str, name: str, kind: str, *records: str, **fields: Any) -> str:
        """Create a record set, and return its ID."""
        body = {"name": name, "type": kind, "records": list(records), **fields}
        return str(self.make(f"/zones/{zone}/recordsets", body)["id"])

    def refused(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Send a request that is refused; return the status, the type of the error, and its message."""
        answer = self.call(method, path, body, headers)
        error = answer.json
        assert {"code", "type", "request_id"} <= error.keys(), answer.content
        assert (error["code"], error["request_id"]) == (answer.status, answer.headers["x-openstack-request-id"])
        problems = "; ".join(one["message"] for one in error.get("errors", {}).get("errors", ()))
        return answer.status, error["type"], problems or error.get("message", "")
