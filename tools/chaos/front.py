"""The way of the simulation's user to a real cluster: requests to its API processes over HTTP."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from testing.simulation.simulated_inspection import Inspection
from testing.simulation.simulated_parts import FaultInjector
from tools.chaos.place import USER, Place

_ANSWER_SECONDS = 90.0
_ATTEMPTS = 10


class Refused(Exception):
    """What the API says to a request that it does not take."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes, below the stack unless it makes one, and what is sent with it."""

    method: str
    path: str = ""
    body: Callable[[Mapping[str, Any]], Any] = lambda arguments: None
    collection: str = "stacks"


def _rest(arguments: Mapping[str, Any]) -> Any:
    return dict(arguments)


ROUTES: Mapping[str, Route] = {
    "stack_create": Route("POST", body=lambda arguments: {"stack_name": arguments["name"], **arguments}),
    "stack_update": Route("PUT", body=_rest),
    "stack_delete": Route("DELETE"),
    "stack_action": Route("POST", "/actions", lambda arguments: {arguments["action"]: None}),
    "resource_signal": Route("POST", "/resources/{name}/signal", lambda arguments: arguments.get("details", {})),
    "resource_mark_unhealthy": Route(
        "PATCH", "/resources/{name}", lambda arguments: {"mark_unhealthy": arguments["mark_unhealthy"]}
    ),
    "snapshot_create": Route("POST", "/snapshots", lambda arguments: {}),
    "snapshot_restore": Route("POST", "/snapshots/{snapshot_id}/restore"),
    "snapshot_delete": Route("DELETE", "/snapshots/{snapshot_id}"),
    "software_deployment_update": Route(
        "PUT", "/{deployment_id}", lambda arguments: arguments["values"], collection="software_deployments"
    ),
}
"""The requests that the user makes, by the engine's name for them."""


class Front:
    """What the simulation's user sees of a cluster. Each request goes to one of the API processes."""

    def __init__(
        self, place: Place, session: aiohttp.ClientSession, inspection: Inspection, injector: FaultInjector
    ) -> None:
        self.injector = injector
        self._place = place
        self._session = session
        self._inspection = inspection
        self._token = place.served.token(USER, USER)
        self._project = place.cluster.project(USER)
        self._choice = random.Random(injector.chance.random())

    async def request(self, method: str, **arguments: Any) -> str:
        """Ask for something; return the result."""
        self.injector.counts["operations"] += 1
        outcome = await self._outcome(method, arguments)
        self.injector.trace.append(f"{self.injector.now():.3f} {method} {_as_text(arguments)} {outcome}")
        return outcome

    async def _outcome(self, method: str, arguments: Mapping[str, Any]) -> str:
        status, answer = await self._send(method, arguments)
        if status == 0 or status >= 500:
            self.injector.counts["requests lost"] += 1
            return f"lost ({status} {answer})"
        if status >= 400:
            self.injector.counts["refused"] += 1
            return f"refused ({status} {answer})"
        return "taken"

    async def call(self, method: str, **arguments: Any) -> None:
        """Ask for something at a time when nothing goes wrong; asked again while nobody answers. Raises Refused."""
        for _ in range(_ATTEMPTS):
            outcome = await self.request(method, **arguments)
            if outcome == "taken":
                return
            if not outcome.startswith("lost"):
                break
            await asyncio.sleep(1.0)
        raise Refused(f"{method} {_as_text(arguments)}: {outcome}")

    async def _send(self, method: str, arguments: Mapping[str, Any]) -> tuple[int, Any]:
        """One request; status 0 when there is no answer."""
        route = ROUTES[method]
        stack = (
            await asyncio.to_thread(self._inspection.stack, arguments["ref"]["name"]) if "ref" in arguments else None
        )
        if stack is None and "ref" in arguments:
            return 404, "the stack is gone"
        below = f"/{stack.name}/{stack.id}" if stack is not None else ""
        url = f"http://127.0.0.1:{self._choice.choice(self._place.apis).port}/v1/{self._project}/{route.collection}{below}"
        sent = {name: value for name, value in arguments.items() if name != "ref"}
        try:
            async with self._session.request(
                route.method,
                url + route.path.format(**arguments),
                json=route.body(sent),
                headers={"X-Auth-Token": self._token},
                timeout=aiohttp.ClientTimeout(total=_ANSWER_SECONDS),
            ) as answer:
                return answer.status, _words(await answer.text())
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return 0, f"{type(error).__name__}: {error}"


def _as_text(arguments: Mapping[str, Any]) -> str:
    """The arguments as the history has them."""
    return json.dumps({name: value for name, value in arguments.items() if name != "files"}, default=str)


def _words(text: str) -> str:
    """The message of an error, or the beginning of another answer."""
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return text[:200]
