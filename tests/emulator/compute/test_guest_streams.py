"""Connections that are passed on to and from guests."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter

from openstack_emulator.guests.streams import join


async def counting(reader: StreamReader, writer: StreamWriter) -> None:
    """Answer the number of bytes that the client has sent when it has ended."""
    writer.write(str(len(await reader.read())).encode())
    writer.close()


async def silent(reader: StreamReader, writer: StreamWriter) -> None:
    await reader.read(1)
    writer.transport.abort()


async def forwarding(service: asyncio.Server) -> asyncio.Server:
    async def forward(reader: StreamReader, writer: StreamWriter) -> None:
        await join((reader, writer), await asyncio.open_connection(*service.sockets[0].getsockname()))

    return await asyncio.start_server(forward, "127.0.0.1", 0)


async def asked(address: tuple[str, int], request: bytes, *, end: bool) -> bytes:
    reader, writer = await asyncio.open_connection(*address)
    writer.write(request)
    if end:
        writer.write_eof()
    try:
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()


async def test_response_arrives_after_request_stream_has_ended() -> None:
    async with await asyncio.start_server(counting, "127.0.0.1", 0) as service, await forwarding(service) as door:
        assert await asked(door.sockets[0].getsockname(), b"x" * 300_000, end=True) == b"300000"


async def test_a_broken_connection_ends_the_other_one() -> None:
    async with await asyncio.start_server(silent, "127.0.0.1", 0) as service, await forwarding(service) as door:
        assert await asked(door.sockets[0].getsockname(), b"x", end=False) == b""
