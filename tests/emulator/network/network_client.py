"""Calls of the network API, for its tests."""

from __future__ import annotations

from typing import Any

from openstack_emulator.testing import Answer, ServedCloud


class Client:
    """Calls of one user below `/network/v2.0`."""

    def __init__(self, served: ServedCloud, user: str = "demo") -> None:
        self.served = served
        self.user = user

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.served.call(method, f"/network/v2.0{path}", body, self.served.token(self.user, self.user), names)

    def get(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.content
        return answer.json

    def make(self, path: str, name: str, /, **fields: Any) -> dict[str, Any]:
        answer = self.call("POST", path, {name: fields})
        assert answer.status == 201, answer.content
        made: dict[str, Any] = answer.json[name]
        return made

    def network(self, **fields: Any) -> dict[str, Any]:
        return self.make("/networks", "network", **{"name": "net", **fields})

    def subnet(self, network: dict[str, Any], cidr: str = "192.168.0.0/24", **fields: Any) -> dict[str, Any]:
        values = {"network_id": network["id"], "cidr": cidr, "ip_version": 6 if ":" in cidr else 4, **fields}
        return self.make("/subnets", "subnet", **values)

    def port(self, network: dict[str, Any], **fields: Any) -> dict[str, Any]:
        return self.make("/ports", "port", network_id=network["id"], **fields)


def refusal(answer: Answer) -> tuple[int, str]:
    """Status and type of an error; its body is Neutron's."""
    error = answer.json["NeutronError"]
    assert set(error) == {"type", "message", "detail"} and error["message"]
    return answer.status, error["type"]


def named(client: Client, plural: str, name: str) -> dict[str, Any]:
    (found,) = client.get(f"/{plural}?name={name}")[plural.replace("-", "_")]
    row: dict[str, Any] = found
    return row
