"""TLS to a database server whose certificate is signed by a private authority: required, and verified."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError

from stoker.base.errors import Invalid
from stoker.store import schema
from stoker.store.database import Database
from stoker_foundation.clock import SystemClock
from testing.backends import SERVERS
from testing.servers import DatabaseServer, make_certificate

_numbers = itertools.count()
CIPHER = {
    "postgresql": "SELECT cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
    "mariadb": "SELECT variable_value FROM information_schema.session_status WHERE variable_name = 'Ssl_cipher'",
}


@pytest.fixture(params=SERVERS)
def name(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture
def server(request: pytest.FixtureRequest, name: str) -> DatabaseServer:
    found: DatabaseServer = request.getfixturevalue(name)
    return found


@pytest.fixture
def url(server: DatabaseServer) -> str:
    return server.new_database(f"tls{next(_numbers)}") + server.tls_options


def test_the_connection_is_encrypted(url: str, name: str) -> None:
    database = Database(url)
    database.migrate()
    assert database.read_now(schema.versions).compatibility.usable
    assert database.read_now(lambda connection: connection.execute(text(CIPHER[name])).scalar())
    database.close()


async def test_a_certificate_of_another_authority_is_refused(url: str, server: DatabaseServer, tmp_path: Path) -> None:
    other = Database(url.replace(str(server.tls.authority), str(make_certificate(tmp_path).authority)))
    with pytest.raises(Invalid, match=r"cannot be reached.*certificate verify failed"):
        await other.wait_until_reachable(1, 0.0, SystemClock())
    other.close()


def test_a_certificate_for_another_host_is_refused(url: str) -> None:
    database = Database(make_url(url).set(host="localhost").render_as_string(hide_password=False))
    with pytest.raises(OperationalError, match="localhost"):
        database.read_now(schema.versions)
    database.close()
