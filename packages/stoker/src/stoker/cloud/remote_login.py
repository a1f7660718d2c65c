"""Login at a cloud that a user names: with a deadline for the whole login, and a limit of the size of responses.

keystoneauth is synchronous, and the timeouts of its connections restart with every byte received. Therefore its
requests are sent by `Transport`, whose deadline covers a whole exchange, and run on dedicated threads.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import requests
from keystoneauth1 import session as ksa_session
from keystoneauth1.identity.base import BaseIdentityPlugin
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

from stoker.base.errors import CloudError
from stoker.cloud.call_slots import CallSlots, Destination
from stoker.cloud.login import Access, PluginLogin
from stoker.cloud.settings import Tls
from stoker.cloud.transport import AnswerTooLarge, Request, Transport, reason_of
from stoker_foundation.clock import Clock

_SERVICE = "keystone"
_LATE = "the deadline of the login has passed"


_THREADS = 32


class RemoteLoginThreads:
    """The threads of all logins at clouds that users name: slow logins delay others of their project only."""

    def __init__(self, clock: Clock) -> None:
        self._workers = ThreadPoolExecutor(_THREADS, thread_name_prefix="remote-cloud-login")
        self._slots = CallSlots(_THREADS, clock)

    async def run(self, project_id: str, login: Callable[[], Access]) -> Access:
        """Run the login on a thread as soon as the project may use one."""
        async with self._slots.slot(Destination(project_id)):
            return await asyncio.get_running_loop().run_in_executor(self._workers, login)

    def close(self) -> None:
        """Start no further login."""
        self._workers.shutdown(wait=False, cancel_futures=True)


class RemoteLogin(PluginLogin):
    """A token of a cloud that a user names. `seconds` limits the login, including its redirects and retries."""

    def __init__(
        self,
        clock: Clock,
        auth_url: str,
        make: Callable[[], BaseIdentityPlugin],
        transport: Transport,
        tls: Tls,
        seconds: float,
        threads: RemoteLoginThreads,
    ) -> None:
        super().__init__(clock, auth_url, ksa_session.Session(), make)
        self._transport, self._tls, self._seconds, self._threads = transport, tls, seconds, threads

    async def _fetched(self) -> Access:
        loop = asyncio.get_running_loop()
        deadline = time.monotonic() + self._seconds
        adapter = _Adapter(self._transport, self._tls, loop, deadline)
        self._session = ksa_session.Session(session=adapter.session(), app_name="stoker")
        try:
            async with asyncio.timeout(self._seconds):
                return await self._threads.run(self._tls.named_by or "", self._fetch)
        except (TimeoutError, CloudError) as error:
            # At the deadline the last request fails too, and either of the two errors arrives first.
            if isinstance(error, CloudError) and time.monotonic() < deadline:
                raise
            problem = f"the login at {self.auth_url} takes longer than {self._seconds:g} s (remote_cloud_timeout)"
            raise CloudError(_SERVICE, 0, problem, transient=True) from None


class _Adapter(BaseAdapter):
    """Sends the requests of one login through a Transport, on its event loop, up to `deadline` (monotonic seconds)."""

    def __init__(self, transport: Transport, tls: Tls, loop: asyncio.AbstractEventLoop, deadline: float) -> None:
        super().__init__()
        self._transport, self._tls, self._loop, self._deadline = transport, tls, loop, deadline

    def session(self) -> requests.Session:
        """Return a session that uses this adapter. Proxies and credentials from the environment are not used."""
        session = requests.Session()
        session.trust_env = False
        for prefix in ("http://", "https://"):
            session.mount(prefix, self)
        return session

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: object = None,
        verify: bool | str = True,
        cert: object = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Return the response to a request, read completely. Raises requests' exceptions."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise requests.ConnectTimeout(_LATE, request=request)
        headers: dict[str, Any] = {
            name: value for name, value in request.headers.items() if name.lower() not in _OWN_HEADERS
        }
        body: Any = request.body
        sent = Request(_SERVICE, str(request.method), str(request.url), headers, body=body, tls=self._tls)
        exchange = asyncio.run_coroutine_threadsafe(self._transport.attempt(sent), self._loop)
        try:
            answer = exchange.result(left)
        except TimeoutError as error:
            exchange.cancel()
            raise requests.ConnectTimeout(_LATE, request=request) from error
        except aiohttp.ClientSSLError as error:
            raise requests.exceptions.SSLError(reason_of(error), request=request) from error
        except AnswerTooLarge as error:
            raise requests.exceptions.ContentDecodingError(error, request=request) from error
        except aiohttp.InvalidURL as error:
            raise requests.exceptions.InvalidURL(error, request=request) from error
        except aiohttp.ClientError as error:
            raise requests.ConnectionError(reason_of(error), request=request) from error
        response = requests.Response()
        response.status_code, response.url, response.request = answer.status, str(request.url), request
        response.headers = CaseInsensitiveDict(answer.headers)
        response.encoding = "utf-8"
        response._content = answer.content
        return response

    def close(self) -> None:
        """Do nothing: the connections belong to the transport."""


_OWN_HEADERS = frozenset({"accept-encoding", "connection", "content-length"})
"""Headers of the connection, which the transport sets."""
