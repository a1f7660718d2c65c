"""A database that is full, damaged or read-only, as its driver reports it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg
from sqlalchemy import create_engine, text
from sqlalchemy.exc import ProgrammingError

from stoker.api.faults import fault_body, status_of
from stoker.base.config import load_config
from stoker.base.context import RequestContext
from stoker.base.errors import Bug, DatabaseUnavailable, Invalid
from stoker.contract.request import Request
from stoker.processes.assembly import require_schema
from stoker.processes.opened_database import opened_database
from stoker.rpc.dispatch import Dispatcher
from stoker.store.database import Database

CALLER = RequestContext("req-1", user_id="u", user_name="u", project_id="p")


@dataclass(frozen=True, kw_only=True)
class Work(Request[None]):
    method = "work"


def full(path: Path) -> None:
    with create_engine(f"sqlite:///{path}").connect() as connection:
        connection.execute(text("CREATE TABLE things (name TEXT)"))
        connection.execute(text("PRAGMA max_page_count = 3"))
        connection.execute(text("INSERT INTO things VALUES (randomblob(100000))"))


def read_only(path: Path) -> None:
    with create_engine(f"sqlite:///{path}").connect() as connection:
        connection.execute(text("PRAGMA query_only = ON"))
        connection.execute(text("CREATE TABLE things (name TEXT)"))


def damaged(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)
    with create_engine(f"sqlite:///{path}").connect() as connection:
        connection.execute(text("SELECT * FROM sqlite_master"))


@pytest.mark.parametrize("work", [full, read_only, damaged])
async def test_a_request_is_answered_with_503(tmp_path: Path, work: Callable[[Path], None]) -> None:
    async def operation(engine: Any, context: RequestContext, request: Work) -> None:
        work(tmp_path / "stoker.db")

    with pytest.raises(DatabaseUnavailable, match="database cannot be used, and nothing was changed") as caught:
        await Dispatcher(None, {"work": Work.served_by(operation)}).dispatch(CALLER, "work", {})
    assert status_of(caught.value) == 503
    assert fault_body(caught.value)["title"] == "Service Unavailable"


async def test_an_invalid_statement_is_a_bug(tmp_path: Path) -> None:
    async def operation(engine: Any, context: RequestContext, request: Work) -> None:
        raise ProgrammingError("SELECT", {}, Exception("wrong"))

    with pytest.raises(Bug):
        await Dispatcher(None, {"work": Work.served_by(operation)}).dispatch(CALLER, "work", {})


def configured(path: Path, directory: Path) -> cfg.ConfigOpts:
    settings = directory / "heat.conf"
    settings.write_text(f"[database]\nconnection = sqlite:///{path}\nmax_retries = 1\n")
    return load_config([], [str(settings)])


async def test_a_file_that_is_not_a_database_is_reported_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "stoker.db"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(Invalid, match="file is not a database"):
        async with opened_database(configured(path, tmp_path)):
            pass


async def test_a_damaged_database_is_reported_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "stoker.db"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    database.close()
    content = bytearray(path.read_bytes())
    content[200:-200] = b"\xff" * (len(content) - 400)
    path.write_bytes(content)
    with pytest.raises(Invalid, match=r"cannot be (used|reached)"):
        async with opened_database(configured(path, tmp_path)) as opened:
            await require_schema(opened)
