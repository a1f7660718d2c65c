"""Calls of the compute service and what its tests need around them."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import Answer, CloudClient, ServedCloud


class Nova:
    """The compute service as a user sees it, in the latest microversion unless told otherwise."""

    def __init__(self, client: CloudClient) -> None:
        self.client = client

    @property
    def served(self) -> ServedCloud:
        """The cloud, if it is served by the test itself."""
        assert isinstance(self.client, ServedCloud)
        return self.client

    def call(self, method: str, path: str, body: Any = None, user: str = "demo", version: str = "2.100") -> Answer:
        headers = {"OpenStack-API-Version": f"compute {version}"}
        return self.client.call(method, f"/compute/v2.1{path}", body, self.client.token(user, user), headers)

    def other(self, method: str, path: str, body: Any = None) -> Answer:
        """A call of another service."""
        headers = {"OpenStack-API-Version": "volume 3.71"}
        return self.client.call(method, path, body, self.client.token("demo", "demo"), headers)

    def act(self, server: str, action: str, arguments: Any = None, user: str = "demo") -> Answer:
        return self.call("POST", f"/servers/{server}/action", {action: arguments}, user)

    def wait(self, seconds: float = 2) -> None:
        self.served.advance(seconds)

    def image(self) -> str:
        images = self.other("GET", "/image/v2/images?name=cirros").json["images"]
        return str(images[0]["id"])

    def network(self) -> str:
        networks = self.other("GET", "/network/v2.0/networks?name=private").json["networks"]
        return str(networks[0]["id"])

    def boot(self, **fields: Any) -> str:
        """The id of a new server that is built."""
        server = {"name": "s", "flavorRef": "1", "imageRef": self.image(), "networks": "auto", **fields}
        answer = self.call("POST", "/servers", {"server": server})
        assert answer.status == 202, answer.content
        self.wait()
        return str(answer.json["server"]["id"])

    def server(self, key: str, user: str = "demo") -> dict[str, Any]:
        shown: dict[str, Any] = self.call("GET", f"/servers/{key}", user=user).json["server"]
        return shown

    def status(self, key: str) -> str:
        answer = self.call("GET", f"/servers/{key}")
        return "gone" if answer.status == 404 else str(answer.json["server"]["status"])

    def volume(self, size: int = 1, **fields: Any) -> str:
        answer = self.other("POST", "/volume/v3/volumes", {"volume": {"size": size, **fields}})
        self.wait()
        return str(answer.json["volume"]["id"])

    def volume_status(self, key: str) -> str:
        answer = self.other("GET", f"/volume/v3/volumes/{key}")
        return "gone" if answer.status == 404 else str(answer.json["volume"]["status"])


@pytest.fixture
def nova(served: ServedCloud) -> Nova:
    return Nova(served)
