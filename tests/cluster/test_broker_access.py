"""A broker that does not know the engine's user yet: the operator is told, and nothing has to be restarted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from servers import RabbitMQ, wait_until
from stoker.base.context import RequestContext
from stoker.processes.lifetime import cluster_config
from stoker.rpc.contract import EngineUnavailable
from stoker.rpc.dispatch import Dispatcher
from stoker.rpc.messaging import MessagingClient, MessagingServer, open_transport

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("servers")]

EXECUTOR = "ignore:Using the 'executor' argument:DeprecationWarning"
"""Older releases of the library need to be told."""

CONTEXT = RequestContext("req-1", "u", "alice", "p")


class Told:
    """An engine that nobody tells anything of weight."""

    async def offered(self, operation_id: str) -> None: ...

    async def alerted(self) -> None: ...

    async def ended(self, operation_id: str) -> None: ...


async def echo(engine: Any, context: RequestContext, value: str) -> str:
    return value


@pytest.mark.filterwarnings(EXECUTOR)
async def test_an_engine_waits_for_the_broker_to_know_its_user(
    tmp_path: Path, rabbitmq: RabbitMQ, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "heat.conf"
    url = rabbitmq.url.replace("guest:guest", "late:s3cret")
    path.write_text(f"[DEFAULT]\ntransport_url = {url}\ncontrol_exchange = late\n")
    transport = open_transport(cluster_config([str(path)]))
    service = Dispatcher(None, {"echo": echo})
    server = MessagingServer(transport, "engine-1", asyncio.get_running_loop(), service, Told())
    server.start()
    client = MessagingClient(transport)

    def told() -> bool:
        return f"broker at 127.0.0.1:{rabbitmq.port} refuses [DEFAULT] transport_url" in caplog.text

    await asyncio.to_thread(wait_until, told, "the operator is told")
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        await asyncio.to_thread(client.call, CONTEXT, "echo", {"value": "early"})
    rabbitmq.run(*rabbitmq.control(["add_user", "late", "s3cret"]))
    rabbitmq.run(*rabbitmq.control(["set_permissions", "late", ".*", ".*", ".*"]))
    await asyncio.to_thread(wait_until, lambda: server.serving, "calls are taken")
    assert await asyncio.to_thread(client.call, CONTEXT, "echo", {"value": "late"}) == "late"
    await server.stop()
    await asyncio.to_thread(transport.cleanup)
    assert "s3cret" not in caplog.text
    assert "Traceback" not in caplog.text
