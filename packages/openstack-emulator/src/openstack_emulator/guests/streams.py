"""Passing on of TCP connections."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_CHUNK = 65536


async def join(one: Connection, other: Connection) -> None:
    """Pass on what each of two connections sends to the other, until both have ended or one is broken; close both.

    The end of what one side sends is passed on alone, as many clients end their request and then read the answer.
    """
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_copy(one[0], other[1]))
            group.create_task(_copy(other[0], one[1]))
    except* OSError:
        pass
    finally:
        one[1].close()
        other[1].close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if not writer.is_closing():
        writer.write_eof()


async def ended(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel tasks, and wait until they have ended and their sockets are closed."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0)  # transports close their sockets in the next turn of the event loop
