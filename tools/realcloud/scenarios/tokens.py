"""Operations whose token is revoked in the middle: they complete with the login or the trust that Stoker has then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import requests

from tools.realcloud.lab import Account
from tools.realcloud.scenarios.trials import Failed, Place, Trial

_PAUSE_SECONDS = 12
"""Seconds in the middle of each operation; the token is revoked during them."""
_SOON_SECONDS = 60.0


def tokens(place: Place) -> Iterator[Trial]:
    """A stack whose creation, update and deletion each lose their token."""
    holder: dict[str, str] = {}
    for operation in ("create", "update", "delete"):
        yield Trial(f"token revoked during {operation}", partial(_lose, place, operation, holder))


def _template(round_number: int) -> dict[str, Any]:
    """Objects of several services before and after a pause, which is replaced in each update."""
    pause = {"type": "OS::Heat::Delay", "properties": {"min_wait": _PAUSE_SECONDS + round_number, "max_jitter": 0}}
    changed = {"metadata": {"round": str(round_number)}}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "net": {"type": "OS::Neutron::Net", "properties": {"tags": [f"round-{round_number}"]}},
            "pause": {**pause, "depends_on": "net"},
            "subnet": {
                "type": "OS::Neutron::Subnet",
                "depends_on": "pause",
                "properties": {"network": {"get_resource": "net"}, "cidr": f"10.5{round_number}.0.0/24"},
            },
            "volume": {
                "type": "OS::Cinder::Volume",
                "depends_on": "pause",
                "properties": {"size": 1, **changed},
            },
            "secret": {
                "type": "OS::Barbican::Secret",
                "depends_on": "pause",
                "properties": {"payload": f"round {round_number}", "payload_content_type": "text/plain"},
            },
            "container": {
                "type": "OS::Swift::Container",
                "depends_on": "pause",
                "properties": {"X-Container-Meta": {"round": str(round_number)}},
            },
        },
    }


def _lose(place: Place, operation: str, holder: dict[str, str]) -> str:
    """Begin an operation with a token of its own, revoke it in the pause, and wait for the end."""
    token = _Token(place.account)
    expected = "CREATE_COMPLETE"
    if operation == "create":
        name = "rc-scenario-tokens"
        answer = token.send(place, "POST", "/stacks", json={"stack_name": name, "template": _template(0)})
        holder["stack"] = f"/stacks/{name}/{answer['stack']['id']}"
        place.adopt(holder["stack"])
    elif operation == "update":
        token.send(place, "PUT", holder["stack"], json={"template": _template(1)})
        expected = "UPDATE_COMPLETE"
    else:
        token.send(place, "DELETE", holder["stack"])
        expected = "DELETE_COMPLETE"
    stack = holder["stack"]
    if operation != "delete":
        _until_paused(place, stack)
    token.revoke()
    status = place.engine.show(stack)["stack_status"]
    if not status.endswith("_IN_PROGRESS"):
        raise Failed(f"the operation had ended before the token was revoked: {status}")
    place.expect(stack, expected)
    return f"Revoked in {status}; {expected}."


def _until_paused(place: Place, stack: str) -> None:
    deadline = time.monotonic() + _SOON_SECONDS
    while time.monotonic() < deadline:
        shown = place.engine.resource(stack, "pause")
        if shown["resource_status"].endswith("_IN_PROGRESS"):
            return
        time.sleep(0.3)
    raise Failed("the operation did not come to its pause")


class _Token:
    """A token of the user, which nobody else uses."""

    def __init__(self, account: Account) -> None:
        self._account, auth = account, account.auth
        domain = {"name": "Default"}
        user = {"name": auth["username"], "password": auth["password"], "domain": domain}
        scope = {"project": {"name": auth["project_name"], "domain": domain}}
        body: Any = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
        answer = requests.post(f"{auth['auth_url']}/auth/tokens", json=body, timeout=60)
        answer.raise_for_status()
        self._token = answer.headers["X-Subject-Token"]

    def send(self, place: Place, method: str, path: str, **options: Any) -> Any:
        """Send a request to Stoker with the token."""
        headers = {"X-Auth-Token": self._token}
        answer = requests.request(method, f"{place.engine.url}{path}", headers=headers, timeout=60, **options)
        if answer.status_code >= 400:
            raise Failed(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def revoke(self) -> None:
        """Revoke it, and make sure that Keystone accepts it no more. Raises Failed."""
        url = f"{self._account.auth['auth_url']}/auth/tokens"
        headers = {"X-Auth-Token": self._token, "X-Subject-Token": self._token}
        requests.delete(url, headers=headers, timeout=60).raise_for_status()
        if (status := requests.get(url, headers=headers, timeout=60).status_code) not in (401, 404):
            raise Failed(f"the revoked token is answered with {status}")
