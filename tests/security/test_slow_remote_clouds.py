"""Clouds that a user names and that answer slowly, endlessly, or with more than fits into memory."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from stoker.base.errors import CloudError
from stoker.cloud.auth import CloudPool
from stoker.cloud.credentials import PluginCredential
from stoker.cloud.settings import CloudSettings
from stoker_foundation.clock import SystemClock

SECONDS = 1.0
SLACK = 2.0
SIZE = 100_000
LOGIN = {"username": "u", "password": "p", "project_name": "p", "user_domain_id": "d", "project_domain_id": "d"}

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def forever(writer: asyncio.StreamWriter, start: bytes, piece: bytes, pause: float) -> None:
    writer.write(start)
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(pause)


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


async def slow_status_line(writer: asyncio.StreamWriter) -> None:
    await forever(writer, b"HTTP/1.1 200 O", b"K", 0.1)


async def slow_headers(writer: asyncio.StreamWriter) -> None:
    await forever(writer, b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.1)


async def continued(writer: asyncio.StreamWriter) -> None:
    await forever(writer, b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.05)


async def slow_body(writer: asyncio.StreamWriter) -> None:
    await forever(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n", b" ", 0.1)


SLOW = (silence, slow_status_line, slow_headers, continued, slow_body)


async def endless_body(writer: asyncio.StreamWriter) -> None:
    await forever(writer, b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[", b"1," * 20_000, 0)


async def endless_chunks(writer: asyncio.StreamWriter) -> None:
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    await forever(writer, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk, 0)


async def endless_headers(writer: asyncio.StreamWriter) -> None:
    await forever(writer, b"HTTP/1.1 200 OK\r\n", b"X-Header: value\r\n" * 1000, 0)


HUGE = (endless_body, endless_chunks, endless_headers)


BOMB = gzip.compress(b" " * 100 * SIZE)


async def compressed(writer: asyncio.StreamWriter) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(BOMB)}\r\n\r\n"
    writer.write(head.encode() + BOMB)


class Remote:
    """A cloud of the attacker, with a catalog that leads to itself."""

    def __init__(self) -> None:
        self.login: Answer = self._token
        self.stacks: Answer = silence
        self.redirects = False

    async def __aenter__(self) -> Remote:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            answer = self.stacks if "/stacks" in head.splitlines()[0] else self.login
            await answer(writer)
            await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def _token(self, writer: asyncio.StreamWriter) -> None:
        endpoints = [{"interface": "public", "region": "R", "region_id": "R", "url": f"{self.url}/v1/p"}]
        token = {
            "methods": ["password"], "expires_at": "2099-01-01T00:00:00.000000Z", "issued_at": "2020-01-01T00:00:00Z",
            "user": {"id": "u", "name": "u", "domain": {"id": "d", "name": "d"}}, "roles": [],
            "catalog": [{"type": "orchestration", "name": "heat", "endpoints": endpoints}],
            "project": {"id": "p", "name": "p", "domain": {"id": "d", "name": "d"}},
        }  # fmt: skip
        await self._send(writer, "201 Created", json.dumps({"token": token}))

    async def no_stacks(self, writer: asyncio.StreamWriter) -> None:
        await self._send(writer, "200 OK", "{}")

    async def redirect(self, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        await self._send(writer, "305 Use Proxy", "", f"Location: {self.url}/v3/auth/tokens\r\n")

    async def _send(self, writer: asyncio.StreamWriter, status: str, body: str, headers: str = "") -> None:
        head = (
            f"HTTP/1.1 {status}\r\nX-Subject-Token: t\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{headers}"
        )
        writer.write(f"{head}\r\n{body}".encode())


@pytest.fixture
async def remote() -> AsyncIterator[Remote]:
    async with Remote() as remote:
        yield remote


def pool_with(**settings: Any) -> CloudPool:
    networks = ("127.0.0.0/8",)
    return CloudPool(CloudSettings(client_retry_limit=0, remote_cloud_networks=networks, **settings), SystemClock())


@pytest.fixture
async def pool() -> AsyncIterator[CloudPool]:
    pool = pool_with(remote_cloud_timeout=SECONDS, remote_cloud_answer_size=SIZE)
    yield pool
    await pool.close()


@pytest.fixture
async def patient() -> AsyncIterator[CloudPool]:
    """A pool with a deadline that other projects' requests, which do not wait, end well before."""
    pool = pool_with(remote_cloud_timeout=5 * SECONDS)
    yield pool
    await pool.close()


async def still_waiting(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Check that the tasks still hold their slots and wait for them, then end them."""
    assert not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def credential(remote: Remote, auth_type: str = "v3password", **changes: str) -> PluginCredential:
    return PluginCredential.of(auth_type, {**LOGIN, "auth_url": f"{remote.url}/v3", **changes})


def of_project(project_id: str, known: PluginCredential) -> PluginCredential:
    return replace(known, project_id=project_id)


async def ends(call: Awaitable[Any]) -> CloudError:
    """The error of a call, which must end by its deadline."""
    start = time.monotonic()
    with pytest.raises(CloudError) as failed:
        await asyncio.wait_for(call, 30)
    assert time.monotonic() - start < SECONDS + SLACK
    return failed.value


@pytest.mark.parametrize("auth_type", ["v3password", "password"])
@pytest.mark.parametrize("answer", SLOW)
async def test_a_slow_login(pool: CloudPool, remote: Remote, auth_type: str, answer: Answer) -> None:
    """A cloud that a credential names answers the login a byte at a time, or not at all."""
    remote.login = answer
    error = await ends(pool.cloud(credential(remote, auth_type)))
    assert "remote_cloud_timeout" in str(error)


async def test_a_login_that_is_redirected_slowly(pool: CloudPool, remote: Remote) -> None:
    """A cloud that a credential names redirects the login to itself again and again, each time just in time."""
    remote.login = remote.redirect
    await ends(pool.cloud(credential(remote)))


@pytest.mark.parametrize("answer", HUGE)
async def test_a_login_with_an_endless_answer(pool: CloudPool, remote: Remote, answer: Answer) -> None:
    """A cloud that a credential names answers the login without an end."""
    remote.login = answer
    await ends(pool.cloud(credential(remote)))


async def test_many_slow_logins(pool: CloudPool, remote: Remote) -> None:
    """A hundred credentials name a cloud that does not answer; worker threads are free, and all are in the end."""
    remote.login = silence
    logins = [asyncio.create_task(pool.cloud(credential(remote, username=str(number)))) for number in range(100)]
    await asyncio.sleep(0.2)
    start = time.monotonic()
    await asyncio.to_thread(time.monotonic)
    assert time.monotonic() - start < 0.5, "threads of the engine are held"
    done = await asyncio.wait_for(asyncio.gather(*logins, return_exceptions=True), SECONDS + 2 * SLACK)
    assert all(isinstance(error, CloudError) for error in done)
    remote.login = remote._token
    await asyncio.wait_for(pool.cloud(credential(remote)), SLACK)


async def test_slow_logins_of_another_project(patient: CloudPool, remote: Remote) -> None:
    """A hundred credentials of one project name a cloud that does not answer; another project logs in at once."""
    remote.login = silence
    names = [of_project("slow", credential(remote, username=str(number))) for number in range(100)]
    logins = [asyncio.create_task(patient.cloud(name)) for name in names]
    await asyncio.sleep(0.2)
    remote.login = remote._token
    await patient.cloud(of_project("other", credential(remote)))
    # Logins that arrive only now are answered; those that arrived before still wait.
    waiting = [login for login in logins if not login.done()]
    assert waiting
    await still_waiting(waiting)


async def test_slow_calls_of_another_project(patient: CloudPool, remote: Remote) -> None:
    """A project makes hundreds of calls to a cloud that does not answer; another project's call is made at once."""
    slow, other = [await patient.cloud(of_project(name, credential(remote))) for name in ("slow", "other")]
    calls = [asyncio.create_task(slow.request("GET", "heat", "/stacks")) for _ in range(300)]
    await asyncio.sleep(0.2)
    remote.stacks = remote.no_stacks
    await other.request("GET", "heat", "/stacks")
    # Calls that arrive only now are answered; those that arrived before still wait.
    assert not all(call.done() for call in calls)
    await still_waiting([call for call in calls if not call.done()])


@pytest.mark.parametrize("answer", SLOW)
async def test_a_slow_call(pool: CloudPool, remote: Remote, answer: Answer) -> None:
    """A cloud that a credential names lets its user log in, and answers calls a byte at a time, or not at all."""
    remote.stacks = answer
    cloud = await pool.cloud(credential(remote))
    await ends(cloud.request("GET", "heat", "/stacks"))


@pytest.mark.parametrize("answer", HUGE)
async def test_a_call_with_an_endless_answer(pool: CloudPool, remote: Remote, answer: Answer) -> None:
    """A cloud that a credential names lets its user log in, and answers calls without an end."""
    remote.stacks = answer
    cloud = await pool.cloud(credential(remote))
    await ends(cloud.request("GET", "heat", "/stacks"))


@pytest.mark.parametrize("answer", [endless_body, endless_chunks])
async def test_oversized_answer_is_not_requested_again(pool: CloudPool, remote: Remote, answer: Answer) -> None:
    """A cloud that a credential names makes the engine read too large an answer again and again."""
    remote.stacks = answer
    cloud = await pool.cloud(credential(remote))
    call = await ends(cloud.request("GET", "heat", "/stacks"))
    remote.login = answer
    login = await ends(pool.cloud(credential(remote, username="another")))
    assert not call.transient and not login.transient
    assert "remote_cloud_answer_size" in str(call) and "remote_cloud_answer_size" in str(login)


async def test_an_answer_that_is_larger_when_unpacked(pool: CloudPool, remote: Remote) -> None:
    """A cloud that a credential names answers a call with a compressed body that is far larger than it looks."""
    remote.stacks = compressed
    cloud = await pool.cloud(credential(remote))
    answer = await cloud.request("GET", "heat", "/stacks")
    assert answer.content == BOMB, "it is not unpacked"
