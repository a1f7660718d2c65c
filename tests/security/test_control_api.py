"""The emulated cloud's control API against pages in a browser on the same machine, and against its own fault rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock


class Control:
    """The control API at a URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.origin = url.removesuffix("/control")

    def send(self, method: str, path: str, **options: Any) -> requests.Response:
        return requests.request(method, self.url + path, timeout=10, **options)


@pytest.fixture
def control() -> Iterator[Control]:
    with ServedCloud(new_cloud(clock=SystemClock())) as served:
        yield Control(f"{served.url}/control")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example.com"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "evil.example.com"},
        {"Host": "127.0.0.1.evil.example.com:5000"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=lambda headers: " ".join(f"{name} {value}" for name, value in headers.items()),
)
def test_pages_of_other_sites(control: Control, headers: dict[str, str]) -> None:
    """A page in the developer's browser sends requests to the control API, or rebinds its DNS name to loopback."""
    rule = {"on": "* *", "do": "fail"}
    for method, path in (("POST", "/faults"), ("GET", "/journal"), ("DELETE", "/faults"), ("GET", "/objects")):
        answer = control.send(method, path, json=rule if method == "POST" else None, headers=headers)
        assert answer.status_code == 403, path
    assert control.send("GET", "/faults").json() == {"faults": []}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:5000", "[::1]:5000", None])
def test_programs_on_this_machine_are_served(control: Control, host: str | None) -> None:
    """A check that is too strict: programs on this machine must still be served."""
    headers = {"Host": host} if host else {"Origin": control.origin}
    assert control.send("GET", "/faults", headers=headers).status_code == 200


@pytest.mark.parametrize("do", ["fail", "drop", "rate_limit", "act_and_drop", "delay"])
def test_a_rule_for_everything(control: Control, do: str) -> None:
    """A fault rule for every request locks its author out of the control API."""
    assert control.send("POST", "/faults", json={"on": "* *", "do": do, "seconds": 3600}).status_code == 201
    assert len(control.send("GET", "/faults").json()["faults"]) == 1
    assert control.send("GET", "//faults").status_code in (200, 404)
    assert control.send("DELETE", "/faults").status_code == 204
    assert control.send("GET", "/faults").json() == {"faults": []}
