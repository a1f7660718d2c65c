"""An engine that is started while its database cannot store anything waits for it, as for one that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg
from sqlalchemy import create_engine, func, select

from stoker.base.errors import Invalid
from stoker.processes import engine as engine_process
from stoker.processes.lifetime import cluster_config
from stoker.processes.marks import MarkKeeper
from stoker.processes.opened_database import opened_database, stored_at_start
from stoker.store.database import Database
from stoker.store.tables import engines
from testing.backends import SERVERS
from testing.servers import wait_until
from testing.tables import with_tables
from testing.unwritable import let_store
from tests.limited_disk import LimitedDisk

pytestmark = pytest.mark.filterwarnings("ignore:Using the 'executor' argument:DeprecationWarning")  # oslo.messaging


def configured(directory: Path, url: str, retries: int = -1) -> cfg.ConfigOpts:
    path = directory / "heat.conf"
    path.write_text(
        f"[DEFAULT]\ntransport_url = fake://\nauth_encryption_key = {'k' * 32}\nenvironment_dir = {directory}\n"
        f"[database]\nconnection = {url}\nmax_retries = {retries}\nretry_interval = 0\n"
        f"[engine]\nstate_directory = {directory}\n"
    )
    return cluster_config([str(path)])


@asynccontextmanager
async def starting(config: cfg.ConfigOpts, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncio.Event]:
    """Start an engine of a cluster, and stop it at the end; the event tells that it runs."""
    runs, stop = asyncio.Event(), asyncio.Event()

    async def until_stopped(_name: str) -> None:
        runs.set()
        await stop.wait()

    monkeypatch.setattr(engine_process, "until_stopped", until_stopped)
    served = asyncio.ensure_future(engine_process.serve(config))
    try:
        yield runs
    finally:
        stop.set()
        await asyncio.wait_for(served, 60)


@pytest.mark.parametrize("full", ["from the beginning", "before it reports itself"])
@pytest.mark.parametrize("backend", SERVERS)
async def test_an_engine_waits_until_its_database_stores_something(
    backend: str,
    full: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    name = f"unwritable_{full.split()[0]}"
    url = with_tables(request.getfixturevalue(backend), name)
    database = Database(url)
    server = create_engine(database.url.set(database=None if backend == "mariadb" else "postgres"))
    server = server.execution_options(isolation_level="AUTOCOMMIT")
    compare_with_mark = MarkKeeper.compare_with_mark

    async def compare_until_full(keeper: MarkKeeper) -> None:
        await compare_with_mark(keeper)
        let_store(server, name, may=False)

    if full == "from the beginning":
        let_store(server, name, may=False)
    else:
        monkeypatch.setattr(MarkKeeper, "compare_with_mark", compare_until_full)
    async with AsyncExitStack() as opened:
        opened.callback(server.dispose)
        opened.callback(database.close)
        opened.callback(let_store, server, name, may=True)
        runs = await opened.enter_async_context(starting(configured(tmp_path, url), monkeypatch))
        await asyncio.to_thread(wait_until, lambda: "cannot be written, retrying in 0 s" in caplog.text, "it is logged")
        assert not runs.is_set()
        let_store(server, name, may=True)
        async with asyncio.timeout(60):
            await runs.wait()
        assert database.read_now(lambda connection: connection.scalar(select(func.count()).select_from(engines))) == 1


async def test_a_file_that_cannot_grow_is_reported_at_once(tmp_path: Path) -> None:
    config = configured(tmp_path, f"sqlite:///{tmp_path}/stoker.db")
    async with opened_database(config) as database:
        disk = LimitedDisk(database.engine)
        disk.full = True

        async def migrate() -> None:
            await asyncio.to_thread(database.migrate)

        with pytest.raises(Invalid, match=r"stoker\.db cannot be written .* database or disk is full"):
            await stored_at_start(config, database, migrate)
        disk.full = False
        await stored_at_start(config, database, migrate)


@pytest.mark.slow
@pytest.mark.xdist_group("postgresql")
async def test_a_database_that_stays_full_is_reported_after_the_configured_attempts(
    postgresql: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = configured(tmp_path, postgresql.new_database("stays_full"), retries=3)
    async with opened_database(config) as database:

        async def write() -> None:
            with database.writing() as connection:
                connection.exec_driver_sql("SET TRANSACTION READ ONLY")
                connection.exec_driver_sql("CREATE TABLE things (name text)")

        with pytest.raises(Invalid, match=r"cannot be written \(\[database\] connection\): cannot execute CREATE"):
            await stored_at_start(config, database, write)
    assert caplog.text.count("cannot be written, retrying") == 2
