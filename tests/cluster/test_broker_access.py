"""A broker that does not know the engine's user yet: the operator is notified, and no restart is needed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stoker.base.context import RequestContext
from stoker.contract.request import Request
from stoker.processes.lifetime import cluster_config
from stoker.rpc.contract import EngineUnavailable
from stoker.rpc.dispatch import Dispatcher
from stoker.rpc.messaging import MessagingClient, MessagingServer, open_transport
from testing.servers import RabbitMQ, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

EXECUTOR = "ignore:Using the 'executor' argument:DeprecationWarning"
"""Older releases of the library require the argument."""

CONTEXT = RequestContext("req-1", "u", "alice", "p")


class Listener:
    """An engine that ignores its peers' messages."""

    async def offered(self, operation_id: str) -> None: ...

    async def alerted(self) -> None: ...

    async def ended(self, operation_id: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Echo(Request[str]):
    method = "echo"
    value: str


async def echo(engine: Any, context: RequestContext, request: Echo) -> str:
    return request.value


@pytest.mark.filterwarnings(EXECUTOR)
async def test_an_engine_waits_for_the_broker_to_know_its_user(
    tmp_path: Path, rabbitmq: RabbitMQ, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "heat.conf"
    url = rabbitmq.url.replace("guest:guest", "late:s3cret")
    path.write_text(f"[DEFAULT]\ntransport_url = {url}\ncontrol_exchange = late\n")
    transport = open_transport(cluster_config([str(path)]))
    service = Dispatcher(None, {"echo": Echo.served_by(echo)})
    server = MessagingServer(transport, "engine-1", asyncio.get_running_loop(), service, Listener())
    server.start()
    client = MessagingClient(transport)

    def refused() -> bool:
        message = f"broker at 127.0.0.1:{rabbitmq.port} refuses the connection ([DEFAULT] transport_url)"
        return message in caplog.text

    def retried() -> bool:
        return "retrying in 2 seconds" in caplog.text

    await asyncio.to_thread(wait_until, refused, "the refusal is logged")
    await asyncio.to_thread(wait_until, retried, "it has tried again, and waits longer now")
    with pytest.raises(EngineUnavailable, match="cannot be reached"):
        await asyncio.to_thread(client.call, CONTEXT, Echo(value="early"))
    rabbitmq.run(*rabbitmq.control(["add_user", "late", "s3cret"]))
    rabbitmq.run(*rabbitmq.control(["set_permissions", "late", ".*", ".*", ".*"]))
    await asyncio.to_thread(wait_until, lambda: server.serving, "the server is serving")
    assert await asyncio.to_thread(client.call, CONTEXT, Echo(value="late")) == "late"
    await server.stop()
    await asyncio.to_thread(transport.cleanup)
    assert "s3cret" not in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.filterwarnings(EXECUTOR)
async def test_a_call_before_the_first_engine_of_a_new_cluster_is_refused_at_once(
    tmp_path: Path, rabbitmq: RabbitMQ
) -> None:
    path = tmp_path / "heat.conf"
    path.write_text(f"[DEFAULT]\ntransport_url = {rabbitmq.url}\ncontrol_exchange = new\n")
    transport = open_transport(cluster_config([str(path)]))
    client = MessagingClient(transport)
    for _ in range(2):
        with pytest.raises(EngineUnavailable, match="No engine receives calls yet"):
            await asyncio.to_thread(client.call, CONTEXT, Echo(value="early"), 50.0)
    service = Dispatcher(None, {"echo": Echo.served_by(echo)})
    server = MessagingServer(transport, "engine-1", asyncio.get_running_loop(), service, Listener())
    server.start()
    await asyncio.to_thread(wait_until, lambda: server.serving, "the server is serving")
    assert await asyncio.to_thread(client.call, CONTEXT, Echo(value="served")) == "served"
    await server.stop()
    await asyncio.to_thread(transport.cleanup)
