"""Commands that look after a cluster's database, and into it, without any engine."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import insert, update

from stoker.cli.commands.database import database
from stoker.cli.commands.inside import operation, service
from stoker.store import key_proofs, tables
from stoker.store.database import Database
from stoker.store.sealing import Sealer

STACK: dict[str, Any] = {
    "id": "s", "name": "web", "live_name": "web", "project_id": "p", "root_id": "s", "action": "CREATE",
    "status": "IN_PROGRESS", "created_at": 1.0, "inputs": "i", "operation": "o",
}  # fmt: skip
OPERATION: dict[str, Any] = {
    "id": "o", "stack_id": "s", "action": "CREATE", "status": "RUNNING", "inputs": "i", "created_at": 1.0,
    "started_at": 2.0, "owner": "e", "epoch": 1,
}  # fmt: skip
RESOURCE: dict[str, Any] = {
    "uuid": "r", "stack_id": "s", "position": 0, "name": "net", "type": "OS::Neutron::Net", "action": "CREATE",
    "status": "IN_PROGRESS", "reason": "", "physical_id": "n-1", "fingerprint": "", "requires": "[]", "created_at": 2.0,
}  # fmt: skip
ENGINE: dict[str, Any] = {
    "id": "e", "host": "host1", "process": 1, "version": "1", "started_at": 0.0, "seen_at": 3.0, "lease": 15.0,
}  # fmt: skip


@pytest.fixture
def configuration(tmp_path: Path) -> str:
    path = tmp_path / "heat.conf"
    path.write_text(
        f"[DEFAULT]\nauth_encryption_key = {'k' * 32}\n[database]\nconnection = sqlite:///{tmp_path}/s.db\n"
    )
    return str(path)


def output_of(command: Any, *words: str, status: int = 0) -> str:
    done = CliRunner().invoke(command, words)
    assert done.exit_code == status, done.output
    return done.output


def test_the_revision_of_the_tables_is_reported_before_and_after_they_are_made(configuration: str) -> None:
    config = ("--config-file", configuration)
    assert output_of(database, "version", *config) == "none\n"
    output_of(database, "check", *config, status=1)
    made = output_of(database, "sync", *config).removeprefix("The tables have revision ").removesuffix(".\n")
    assert output_of(database, "version", *config) == f"{made}\n"
    assert f"database {made}, this release {made}" in output_of(database, "check", *config)


def test_an_operation_is_watched_until_it_has_ended(
    configuration: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = ("--config-file", configuration)
    output_of(database, "sync", *config)
    store = Database(f"sqlite:///{tmp_path}/s.db")
    with store.writing() as connection:
        for table, row in (("stacks", STACK), ("operations", OPERATION), ("resources", RESOURCE), ("engines", ENGINE)):
            connection.execute(insert(tables.metadata.tables[table]), row)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        with store.writing() as connection:
            connection.execute(update(tables.operations).values(status="COMPLETE", finished_at=4.0))

    monkeypatch.setattr(time, "sleep", pause)
    lines = output_of(operation, "watch", "o", "--interval", "7", *config).splitlines()
    store.close()
    assert pauses == [7.0]
    assert lines[0] == "CREATE RUNNING on host1"
    assert any("net" in line and "object n-1" in line for line in lines)
    assert lines[-1] == "CREATE COMPLETE on host1"


def test_resealing_requires_the_current_keys(configuration: str, tmp_path: Path) -> None:
    output_of(database, "sync", "--config-file", configuration)
    store = Database(f"sqlite:///{tmp_path}/s.db")
    with store.writing() as connection:
        key_proofs.record_proof(connection, Sealer(["another key of an engine"]))
    store.close()
    output = output_of(database, "reseal", "--config-file", configuration, status=1)
    assert "Configure the same keys for all engines" in output


COMMANDS = [
    (database, "reseal"), (database, "purge"), (service, "list"), (operation, "list"), (operation, "show", "o"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "words"), [(command, words) for command, *words in COMMANDS])
def test_a_database_without_tables_is_reported_with_what_to_do(
    configuration: str, command: Any, words: list[str]
) -> None:
    assert "run `stoker db sync`" in output_of(command, *words, "--config-file", configuration, status=1)


@pytest.mark.parametrize(("command", "words"), [(command, words) for command, *words in COMMANDS])
def test_only_without_a_database_the_commands_ask_for_the_configuration(
    tmp_path: Path, command: Any, words: list[str]
) -> None:
    path = tmp_path / "heat.conf"
    path.write_text(f"[DEFAULT]\nauth_encryption_key = {'k' * 32}\n")
    assert "Name the cluster's configuration" in output_of(command, *words, "--config-file", str(path), status=1)
    path.write_text("[database]\nmax_retries = many\n")
    output = output_of(command, *words, "--config-file", str(path), status=1)
    assert "[database] max_retries" in output
    assert "Name the cluster's" not in output


def test_a_database_in_memory_is_not_synchronised(tmp_path: Path) -> None:
    path = tmp_path / "heat.conf"
    path.write_text("[database]\nconnection = sqlite://\n")
    assert "in-memory databases are not supported" in output_of(database, "sync", "--config-file", str(path), status=1)


def test_stopped_engines_are_distinguished_from_lost_ones(configuration: str, tmp_path: Path) -> None:
    config = ("--config-file", configuration)
    output_of(database, "sync", *config)
    store = Database(f"sqlite:///{tmp_path}/s.db")
    rows = [
        {**ENGINE, "id": "1", "host": "lives", "seen_at": time.time(), "lease": 600.0},
        {**ENGINE, "id": "2", "host": "ended", "seen_at": time.time(), "stopped_at": time.time(), "lease": 600.0},
        {**ENGINE, "id": "3", "host": "killed"},
    ]
    with store.writing() as connection:
        for row in rows:
            connection.execute(insert(tables.engines), row)
    store.close()
    listed = json.loads(output_of(service, "list", "-f", "json", *config))
    assert {row["host"]: row["status"] for row in listed} == {"lives": "up", "ended": "stopped", "killed": "down"}
