"""A process that cannot use its port reports the port and the options that configure it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from oslo_config import cfg

from stoker.base.errors import Invalid
from stoker.processes import api_processes, engine
from stoker.processes.lifetime import cluster_config
from stoker.processes.listening import listening_at
from stoker_foundation.clock import ManualClock


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that is in use."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def configure(tmp_path: Path) -> Callable[[str], cfg.ConfigOpts]:
    def load(text: str) -> cfg.ConfigOpts:
        path = tmp_path / "heat.conf"
        path.write_text("[DEFAULT]\ntransport_url = fake://\n" + text)
        return cluster_config([str(path)])

    return load


@pytest.mark.parametrize("group", ["heat_api", "heat_api_cfn"])
async def test_an_api_reports_its_address_and_options(
    configure: Callable[[str], cfg.ConfigOpts], taken: int, group: str
) -> None:
    config = configure(f"[{group}]\nbind_host = 127.0.0.1\nbind_port = {taken}\n")
    with pytest.raises(Invalid) as caught:
        await api_processes._serve(config, "stoker api", lambda config, client: lambda environ, start: [], group)
    expected = f"[{group}] bind_host, bind_port: cannot listen on 127.0.0.1:{taken}: Address already in use."
    assert caught.value.message == expected


class NoRuns(dict[str, Any]):
    lease = SimpleNamespace(renewed_at=0.0)

    def all(self) -> list[Any]:
        """Nothing."""
        return []


def idle_engine() -> Any:
    """The parts of an engine that the metrics read."""
    return SimpleNamespace(
        services=SimpleNamespace(
            clock=ManualClock(),
            journal=SimpleNamespace(observe=None, waiting=0),
            credentials=SimpleNamespace(pool=SimpleNamespace(transport=SimpleNamespace(observe=None))),
        ),
        runs=NoRuns(),
    )


@pytest.mark.parametrize(
    ("host", "reason"), [("127.0.0.1", "Address already in use"), ("192.0.2.1", "Cannot assign requested address")]
)
async def test_an_engine_reports_the_address_and_options_of_its_health_check(
    configure: Callable[[str], cfg.ConfigOpts], taken: int, host: str, reason: str
) -> None:
    config = configure(f"[engine]\nstatus_host = {host}\nstatus_port = {taken}\n")
    expected = rf"\[engine\] status_host, status_port: cannot listen on {host}:{taken}: {reason}\."
    server: Any = SimpleNamespace(serving=False)
    async with AsyncExitStack() as opened:
        with pytest.raises(Invalid, match=expected):
            await engine._observe(config, idle_engine(), server, opened)


def test_a_name_without_an_address_is_reported() -> None:
    expected = "cannot listen on elsewhere:80: Name or service not known"
    with pytest.raises(Invalid, match=expected), listening_at("elsewhere", 80, "[engine] status_host"):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
