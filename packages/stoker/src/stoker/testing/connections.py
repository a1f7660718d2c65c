"""What connects an engine to the world, without threads and sockets: its journal, its requests, its logins.

Nothing else is replaced: requests are answered by the emulated cloud's own dispatch, and the real journal writes rows
to a real database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from io import BytesIO

import aiohttp
import requests
from multidict import CIMultiDict
from requests.adapters import BaseAdapter
from yarl import URL

from openstack_emulator.core.http import Request as CloudRequest
from openstack_emulator.core.http import Response
from stoker.cloud.auth import CloudPool
from stoker.cloud.settings import CloudSettings
from stoker.cloud.transport import Answer, Body, Request, Transport, parse
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker_foundation.clock import Clock

CLOUD_URL = "http://cloud"
"""The root of the emulated cloud's URLs; nothing listens there."""

Respond = Callable[[CloudRequest], Response | None]
"""Answers a request; None closes the connection without an answer."""


def settings_of(url: str) -> CloudSettings:
    """The settings of an engine for an emulated cloud at `url`, with its seeded users."""
    return CloudSettings(
        auth_url=f"{url}/identity",
        username="heat",
        password="secret",  # noqa: S106  the documented password of the emulated cloud
        project_name="service",
        stack_user_domain_name="heat",
        stack_domain_admin="heat_domain_admin",
        stack_domain_admin_password="secret",  # noqa: S106
        allow_trusts_redelegation=True,
    )


class LoopJournal(Journal):
    """Writes on the loop, a moment after something has been submitted."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._due = False
        super().__init__(database)

    def begin(self) -> None:
        """There are no threads."""

    def submit(self, batch: Batch, answer: Callable[[BaseException | None], None]) -> None:
        super().submit(batch, answer)
        if not self._due:
            self._due = True
            self._loop.call_later(self._delay(), self._turn)

    def _delay(self) -> float:
        """Seconds until a group is written."""
        return 0.0

    def _turn(self) -> None:
        self._due = False
        self.write_next()

    def collect(self) -> None:
        """Nothing arrives meanwhile on the only thread."""

    def pause(self) -> None:
        """The next attempt is made at once: nothing else happens on the only thread meanwhile."""


class LoopTransport(Transport):
    """Sends requests without sockets; subclasses define `_answered`."""

    async def _exchange(self, request: Request) -> Answer:
        url = URL(request.url)
        if request.params:
            url = url.extend_query(request.params)
        headers = {**self._session.headers, **request.headers}
        content = await _content(request.body)
        sent = CloudRequest(request.method, url.raw_path, url.raw_query_string, headers, content)
        return _answer_of(await self._answered(request, sent))

    async def _answered(self, request: Request, sent: CloudRequest) -> Response | None:
        """Return the cloud's response to `request`, which it receives as `sent`; None if the connection breaks."""
        raise NotImplementedError


def _answer_of(response: Response | None) -> Answer:
    """A response as an engine receives it. Raises aiohttp.ServerDisconnectedError without one."""
    if response is None:
        raise aiohttp.ServerDisconnectedError()
    content, kind = response.payload(), (response.content_type or "").partition(";")[0]
    return Answer(response.status, CIMultiDict(response.headers), parse(content, kind), content)


async def _content(body: Body) -> bytes:
    if body is None or isinstance(body, bytes):
        return body or b""
    if isinstance(body, str):
        return body.encode()
    return b"".join([part async for part in body])


class LoginAdapter(BaseAdapter):
    """keystoneauth's requests, answered on the spot."""

    def __init__(self, respond: Respond) -> None:
        super().__init__()
        self._respond = respond

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float | None, float | None] | None = None,
        verify: bool | str = True,
        cert: str | tuple[str, str] | None = None,
        proxies: dict[str, str] | None = None,
    ) -> requests.Response:
        assert request.url is not None and request.method is not None
        url = URL(request.url)
        body = request.body or b""
        content = body.encode() if isinstance(body, str) else body
        assert isinstance(content, bytes)
        headers = {name: str(value) for name, value in request.headers.items()}
        response = self._respond(CloudRequest(request.method, url.raw_path, url.raw_query_string, headers, content))
        if response is None:
            raise requests.ConnectionError("the connection broke")
        answer = requests.Response()
        answer.status_code = response.status
        answer.headers.update(response.headers)
        if response.content_type is not None:
            answer.headers["Content-Type"] = response.content_type
        answer.raw = BytesIO(response.payload())
        answer.url, answer.request = request.url, request
        return answer

    def close(self) -> None:
        """Nothing is open."""


class LoopPool(CloudPool):
    """Clouds that are reached without sockets; `respond` answers the requests of logins."""

    def __init__(self, settings: CloudSettings, clock: Clock, transport: Transport, respond: Respond) -> None:
        super().__init__(settings, clock, transport)
        self._respond = respond

    def plain_session(self) -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        session.mount("http://", LoginAdapter(self._respond))
        return session
