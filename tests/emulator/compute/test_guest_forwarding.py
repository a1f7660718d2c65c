"""The ports of this machine at which floating IPs are reached."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

import pytest

from openstack_emulator.core.guests.topology import ForwardedAddress
from openstack_emulator.guests.forwarding import Forwarders
from openstack_emulator.guests.namespace_process import NamespaceProcess

PLACE = ("127.77.4.9", 18080)
SILENT = ("127.77.4.9", 18081)
FORWARDED = ForwardedAddress("network", "172.77.4.9", (18080,))
NO_PROCESS = cast(NamespaceProcess, None)
"""Nothing is connected with guests."""


async def other_cloud(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"other")
    writer.close()


async def response() -> bytes | None:
    """What answers at the place; None if nothing listens there."""
    try:
        reader, writer = await asyncio.open_connection(*PLACE)
    except OSError:
        return None
    try:
        return await reader.read(5)
    except OSError:
        return b""
    finally:
        writer.close()


async def test_a_port_that_another_cloud_uses_is_named_once_and_taken_when_it_is_free(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING)
    asked: list[Any] = []

    async def connection(self: Forwarders, *place: Any) -> Any:
        asked.append(place)
        raise OSError

    monkeypatch.setattr(Forwarders, "_connection", connection)
    other = await asyncio.start_server(other_cloud, *PLACE)
    forwarders = Forwarders(NO_PROCESS, retry_seconds=0.02)
    forwarders.change([FORWARDED])
    await asyncio.sleep(0.15)
    assert await response() == b"other"
    [record] = caplog.records
    assert "Port 18080 of the floating IP 172.77.4.9 is not reached at 127.77.4.9:18080" in record.message

    other.close()
    async with asyncio.timeout(10):
        while not asked:
            await response()
            await asyncio.sleep(0.02)
    assert asked[0] == ("network", "172.77.4.9", 18080)
    assert "is now reached at 127.77.4.9:18080" in caplog.records[-1].message
    assert len(caplog.records) == 2
    await forwarders.close()
    assert await response() is None


async def test_connections_end_with_the_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def connection(self: Forwarders, *place: Any) -> Any:
        begun.set()
        return await asyncio.open_connection(*SILENT)

    async def answer_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        ended.set()

    silent = await asyncio.start_server(answer_nothing, *SILENT)
    monkeypatch.setattr(Forwarders, "_connection", connection)
    forwarders = Forwarders(NO_PROCESS)
    forwarders.change([FORWARDED])
    answer = asyncio.create_task(response())
    async with asyncio.timeout(10):
        while not begun.is_set():
            if answer.done():  # it was not listening yet
                answer = asyncio.create_task(response())
            await asyncio.sleep(0.02)
        await forwarders.close()
        assert await answer == b""
        await ended.wait()
    silent.close()
