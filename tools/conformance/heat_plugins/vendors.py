"""Imitations of what vendors' plug-ins talk to: collections of objects at URLs, below the `requests` library."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
from requests.adapters import HTTPAdapter

BIG_IP = "big-ip.example.com"
NETMRI = "netmri.example.com"
_EXTENSIONS = re.compile(r"/v2\.0(/(?:grouppolicy|servicechain|bgpvpn)/.*)")
_SINGULAR = (("ies", "y"), ("s", ""))
_REAL_SEND = HTTPAdapter.send


class Vendors:
    """Objects by path, and the requests that were made."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.requests: list[str] = []

    def install(self) -> Callable[[], None]:
        """Answer the vendors' requests from now on; the result ends it."""

        def send(adapter: Any, request: Any, **options: Any) -> Any:
            answer = self.answer(request)
            return _REAL_SEND(adapter, request, **options) if answer is None else answer

        HTTPAdapter.send = send  # type: ignore[method-assign, assignment]

        def restore() -> None:
            HTTPAdapter.send = _REAL_SEND  # type: ignore[method-assign]

        return restore

    def answer(self, request: Any) -> requests.Response | None:
        """Return the answer to a request; None for one to another service."""
        parts = urlsplit(request.url)
        body = json.loads(request.body) if request.body else {}
        query = dict(parse_qsl(parts.query))
        path = re.sub(r"\.json$", "", parts.path)
        if parts.hostname == BIG_IP:
            status, answer = self._big_ip(request.method, path, body)
        elif parts.hostname == NETMRI:
            status, answer = self._netmri(path.removeprefix("/api/"), body)
        elif found := _EXTENSIONS.search(path):
            assert request.headers["X-Auth-Token"], "plug-ins have the token of the stack's owner"
            status, answer = self._neutron(request.method, found[1], body, query)
        else:
            return None
        self.requests.append(f"{request.method} {path}")
        made = requests.Response()
        made.status_code, made.url, made.request = status, request.url, request
        made._content = b"" if answer is None else json.dumps(answer).encode()
        made._content_consumed = True
        made.headers["Content-Type"] = "application/json"
        return made

    def _big_ip(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """iControl REST: objects are named `~partition~name` below their collection."""
        link, path = f"https://localhost{path}?ver=13.1.0", path.rstrip("/")
        if path == "/mgmt/tm/sys":
            return 200, {"kind": "tm:sys:syscollectionstate", "selfLink": link}
        if path == "/mgmt/tm/sys/config":
            return 200, {"kind": "tm:sys:config:savestate", "command": "save"}
        if method == "POST":
            partition, name = body.get("partition"), body["name"]
            place = f"{path}/~{f'{partition}~' if partition else ''}{name}"
            kind = ":".join(["tm", *path.strip("/").split("/")[2:], f"{path.split('/')[-1]}state"])
            made = {**body, "kind": kind, "fullPath": name, "generation": 1, "selfLink": f"https://localhost{place}"}
            made["selfLink"] += "?ver=13.1.0"
            self.objects[place] = made
            return 200, made
        if path not in self.objects:
            return 404, {"code": 404, "message": f"{path} was not found."}
        if method == "DELETE":
            del self.objects[path]
            return 200, None
        return 200, self.objects[path]

    def _netmri(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """NetMRI: a job runs a script on devices, and has ended when it is shown for the second time."""
        if path == "authenticate":
            return 200, {}
        path = path.removeprefix("3/")
        if path == "virtual_networks/search":
            return 200, {"virtual_networks": [{"VirtualNetworkID": 1, "VirtualNetworkName": "Network 1"}]}
        if path == "devices/index":
            return 200, {"devices": [{"DeviceID": 5, "DeviceIPDotted": "192.0.2.5", "VirtualNetworkID": 1}]}
        if path == "scripts/run":
            key = len(self.objects) + 1
            self.objects[f"jobs/{key}"] = {**body, "id": key, "completed_at": None}
            return 200, {"JobID": key}
        job = self.objects[path]
        shown = dict(job)
        job["completed_at"] = "2026-01-01 00:00:00"
        return 200, {"job": shown}

    def _neutron(self, method: str, path: str, body: dict[str, Any], query: dict[str, str]) -> tuple[int, Any]:
        """An extension of Neutron: objects by ID, each below its own name."""
        members = path.rstrip("/").split("/")[-1]
        if method == "POST":
            ((member, values),) = body.items()
            identifier = str(uuid.uuid4())
            self.objects[f"{path}/{identifier}"] = {**values, "id": identifier, "status": "ACTIVE"}
            return 201, {member: self.objects[f"{path}/{identifier}"]}
        if path in self.objects:
            member = _singular(path.split("/")[-2])
            if method == "DELETE":
                del self.objects[path]
                return 204, None
            self.objects[path].update(body.get(member, {}))
            return 200, {member: self.objects[path]}
        if re.fullmatch(r"[0-9a-f-]{36}", members):
            return 404, {"NeutronError": {"type": "NotFound", "message": f"{path} was not found.", "detail": ""}}
        below = [made for place, made in self.objects.items() if place.rpartition("/")[0] == path]
        return 200, {members: [made for made in below if all(made.get(key) == query[key] for key in query)]}


def _singular(members: str) -> str:
    for ending, instead in _SINGULAR:
        if members.endswith(ending):
            return members.removesuffix(ending) + instead
    return members
