"""A cloud served to a test: on a free loopback port, on a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from types import TracebackType
from typing import Any, TypeVar

import orjson
from aiohttp import web

from openstack_emulator.core.app import runner
from openstack_emulator.core.cloud import Cloud
from openstack_emulator.name_server import NameServer
from stoker_foundation.clock import ManualClock

T = TypeVar("T")

_GRACE = 0.1
"""Seconds that a cloud waits for its answers in progress when a test has ended: nobody waits for them any more."""


@dataclass(frozen=True)
class Answer:
    """The answer to a call: `headers` by lower-case name."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.content)


class CloudClient:
    """Requests to a cloud on a loopback port."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self._tokens: dict[tuple[str, str | None], str] = {}

    def password_of(self, user: str) -> str:
        """The password of a seeded user."""
        return "secret"

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request; `body` is bytes, or anything else as JSON.

        Raises: http.client.RemoteDisconnected or ConnectionError when the cloud hangs up.
        """
        sent = dict(headers or {})
        if token is not None:
            sent["X-Auth-Token"] = token
        if body is not None and not isinstance(body, bytes):
            body = orjson.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def token(self, user: str = "admin", project: str | None = "admin") -> str:
        """A token of a seeded user; kept, so that asking again costs nothing. `project` None: unscoped."""
        if (user, project) not in self._tokens:
            self._tokens[user, project] = self._log_in(user, project)
        return self._tokens[user, project]

    def forget_tokens(self) -> None:
        """Log in again when a token is next asked for."""
        self._tokens.clear()

    def _log_in(self, user: str, project: str | None) -> str:
        default = {"id": "default"}
        user_body = {"name": user, "domain": default, "password": self.password_of(user)}
        auth: dict[str, object] = {"identity": {"methods": ["password"], "password": {"user": user_body}}}
        if project is not None:
            auth["scope"] = {"project": {"name": project, "domain": default}}
        answer = self.call("POST", "/identity/v3/auth/tokens", {"auth": auth})
        if answer.status != 201:
            raise AssertionError(f"{user} cannot log in: {answer.status} {answer.content!r}")
        return answer.headers["x-subject-token"]


class ServedCloud(CloudClient):
    """Context manager. While it is open, touch `cloud` from the test's thread through `do` only."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__()
        self.cloud = cloud
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._runner = runner(cloud, _GRACE)
        self._thread = threading.Thread(target=self._loop.run_forever, name="emulated-cloud", daemon=True)
        self._name_server = NameServer(cloud)

    def __enter__(self) -> ServedCloud:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._name_server.stop(), self._loop).result()
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        asyncio.run_coroutine_threadsafe(self.cloud.guests.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.cloud.close()

    async def _start(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        self.url = self.cloud.endpoint = f"http://127.0.0.1:{self.port}"

    def password_of(self, user: str) -> str:
        return self.cloud.password_of(user)

    def serve_dns(self) -> int:
        """Serve the cloud's zones over DNS until the end, and return the port. Call it once."""
        return asyncio.run_coroutine_threadsafe(self._name_server.start("127.0.0.1", 0), self._loop).result()

    def do(self, action: Callable[[], T]) -> T:
        """Run something on the cloud's own thread and give its result."""

        async def act() -> T:
            return action()

        return asyncio.run_coroutine_threadsafe(act(), self._loop).result()

    def advance(self, seconds: float) -> None:
        """Move the cloud's manual clock; the state changes that fall due have happened when this returns."""
        clock = self.cloud.clock
        if not isinstance(clock, ManualClock):
            raise TypeError("Only a cloud on a ManualClock can be moved in time.")
        self.forget_tokens()
        self.do(lambda: clock.advance(seconds))
