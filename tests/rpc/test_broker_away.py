"""A broker that is away, or that says nothing: calls end with EngineUnavailable in bounded time."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stoker.base.context import RequestContext
from stoker.contract.resources import SignalResource
from stoker.engine.ownership.peers import PeerUnavailable
from stoker.processes.lifetime import cluster_config
from stoker.rpc import calling
from stoker.rpc.calling import BoundedCalls, BrokerUnavailable
from stoker.rpc.contract import EngineUnavailable
from stoker.rpc.messaging import MessagingClient, MessagingPeers, open_transport
from testing.servers import free_port

CONTEXT = RequestContext("req-1", "u", "alice", "p")
REQUEST = SignalResource(ref={"name": "web", "id": None}, name="ready")


@pytest.fixture
def silent_broker() -> Iterator[int]:
    """The port of a broker that accepts connections and never sends anything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def transport_to(port: int, directory: Path) -> Any:
    settings = directory / "heat.conf"
    settings.write_text(f"[DEFAULT]\ntransport_url = rabbit://u:p@127.0.0.1:{port}/\nrpc_response_timeout = 1\n")
    return open_transport(cluster_config([str(settings)]))


def test_a_broker_that_refuses_connections(tmp_path: Path) -> None:
    client = MessagingClient(transport_to(free_port(), tmp_path))
    began = time.monotonic()
    for _ in range(3):
        with pytest.raises(EngineUnavailable, match="cannot be reached"):
            client.call(CONTEXT, REQUEST)
    assert time.monotonic() - began < 3


def test_a_broker_that_does_not_respond(tmp_path: Path, silent_broker: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "_SENDING_SECONDS", 0.2)
    client = MessagingClient(transport_to(silent_broker, tmp_path))
    began = time.monotonic()
    with pytest.raises(EngineUnavailable):
        client.call(CONTEXT, REQUEST, timeout=0.2)
    assert time.monotonic() - began < 5


async def test_another_engine_that_cannot_be_reached(tmp_path: Path) -> None:
    peers = MessagingPeers(transport_to(free_port(), tmp_path))
    async with asyncio.timeout(5):
        with pytest.raises(PeerUnavailable):
            await peers.forward("engine-2", CONTEXT, REQUEST, 1.0)
        await peers.close()


def test_abandoned_calls_are_limited(tmp_path: Path, silent_broker: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "_MOST_CALLS", 2)
    monkeypatch.setattr(calling, "_SENDING_SECONDS", 0.1)
    calls = BoundedCalls(transport_to(silent_broker, tmp_path).conf)
    held = threading.Event()
    for _ in range(2):
        with pytest.raises(TimeoutError):
            calls.run(held.wait, 0.01)
    with pytest.raises(BrokerUnavailable, match="2 calls wait"):
        calls.run(held.wait, 0.01)
    held.set()
