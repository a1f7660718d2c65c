"""Files that an earlier release left in a data directory are read, upgraded, or refused with a clear message."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import orjson
import pytest

from openstack_emulator.core.store import Store
from openstack_emulator.core.typed import to_bytes
from openstack_emulator.core.upgrades import STEPS, StateUnusable, filled, upgrade
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.main import main as emulator
from openstack_emulator.services import new_cloud
from openstack_emulator.volume.rules.composition import BlockStorage
from stoker.base.errors import Invalid
from stoker.cli.client.saved_plans import SavedPlan
from stoker.cli.terminal.errors import CommandFailed
from stoker.processes.directory import DataDirectory
from stoker_foundation.clock import ManualClock
from tests.upgrades import releases

ENDPOINTS: dict[str, Any] = {
    "rest": "http://127.0.0.1:8004/v1",
    "cfn": "http://127.0.0.1:8000/v1",
    "identity": "http://127.0.0.1:5000/identity/v3",
    "cloud": None,
    "config_files": [],
    "pids": {"cloud": 11, "engine": 12},
}
"""As release 0.1.0 writes it."""
UNTYPED = Path(__file__).parent / "untyped_records"
"""Records as services wrote them while these were JSON objects in the source, too, with the form of the state file."""


def test_the_files_of_the_first_release_are_read(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    (tmp_path / "endpoints.json").write_text(json.dumps(ENDPOINTS))
    (tmp_path / "secrets.json").write_text('{"auth_encryption_key": "an old key"}\n')
    set_up = directory.set_up()
    assert set_up is not None and set_up.to_data().items() >= ENDPOINTS.items()
    assert directory.encryption_key() == "an old key"


def test_fields_of_later_release_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "endpoints.json").write_text(json.dumps({**ENDPOINTS, "something": "new"}))
    set_up = DataDirectory(tmp_path).set_up()
    assert set_up is not None and set_up.rest == ENDPOINTS["rest"]


@pytest.mark.parametrize("text", ["{}", "[]", "not json", '{"auth_encryption_kex": 1}'])
def test_a_lost_key_is_reported_and_not_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / "secrets.json").write_text(text)
    with pytest.raises(Invalid, match=r"secrets\.json"):
        DataDirectory(tmp_path).encryption_key()
    assert (tmp_path / "secrets.json").read_text() == text


def test_a_saved_plan_of_another_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.plan"
    path.write_text(json.dumps({"kind": "stoker-plan", "version": 0}))
    with pytest.raises(CommandFailed, match=r"has the format 0.*Make a new plan"):
        SavedPlan.read(path)


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    """The emulated cloud as release 0.1.0 left it."""
    path = tmp_path / "cloud.db"
    with sqlite3.connect(path) as connection:
        connection.executescript((releases.STATES / "0.1.0" / "cloud.sql").read_text())
    connection.close()
    return path


def form(path: Path) -> int:
    connection = sqlite3.connect(path)
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return found


def test_a_state_file_of_the_first_release_is_brought_up_to_date(state_file: Path) -> None:
    assert form(state_file) == 0
    Store(state_file).close()
    assert form(state_file) == len(STEPS)


def test_a_new_state_file_has_the_newest_form(tmp_path: Path) -> None:
    Store(tmp_path / "new.db").close()
    assert form(tmp_path / "new.db") == len(STEPS)


def test_steps_give_records_the_fields_that_they_lack(state_file: Path) -> None:
    connection = sqlite3.connect(state_file)
    steps = [*STEPS, filled("nova", "flavors", {"ram": -1, "brand_new": "x"})]
    for _ in range(2):
        upgrade(connection, state_file, steps)
    rows = connection.execute("SELECT data FROM record WHERE service = 'nova' AND collection = 'flavors'").fetchall()
    records = [orjson.loads(row[0]) for row in rows]
    assert records and all(record["brand_new"] == "x" and record["ram"] > 0 for record in records)
    assert form(state_file) == len(steps)
    connection.close()


def test_the_volumes_of_the_first_release_are_typed_records(state_file: Path) -> None:
    def rows(database: sqlite3.Connection, name: str) -> list[dict[str, Any]]:
        found = database.execute("SELECT data FROM record WHERE service = 'cinder' AND collection = ?", (name,))
        return [orjson.loads(data) for (data,) in found]

    with sqlite3.connect(state_file) as connection:
        backup = rows(connection, "backups")[0]
        imported = {**backup, "id": "imported", "volume_properties": {}}
        connection.execute(
            "INSERT INTO record (service, collection, id, data) VALUES ('cinder', 'backups', 'imported', ?)",
            (orjson.dumps(imported),),
        )
        before = rows(connection, "volumes")
    connection.close()

    cloud = new_cloud(clock=ManualClock(), state_path=state_file)
    storage = cloud.of(BlockStorage)
    volumes = {volume.id: volume for volume in storage.volumes.rows}
    whole, without = storage.backups.rows.require(backup["id"]), storage.backups.rows.require("imported")
    for volume in volumes.values():
        storage.volumes.rows.save(volume)
    cloud.close()

    assert before and volumes.keys() == {row["id"] for row in before}
    assert whole.volume_properties is not None and whole.volume_properties.metadata == {}
    assert without.volume_properties is None
    with sqlite3.connect(state_file) as connection:
        assert rows(connection, "volumes") == [{**row, "_content": None} for row in before]
    connection.close()


@pytest.mark.parametrize("place", sorted(UNTYPED.glob("*.json")), ids=lambda place: place.stem)
def test_records_from_before_a_service_had_classes_for_them_are_read(tmp_path: Path, place: Path) -> None:
    """The records are those of the state file of a cloud to which random requests were sent; `upgraded` has those whose
    form a step changes."""
    service, kept = place.stem, orjson.loads(place.read_bytes())
    path = tmp_path / "cloud.db"
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {kept['form']}")
        stored = [("core", "seeded", service, orjson.dumps({"id": service}))]
        for collection, rows in kept["records"].items():
            stored += [(service, collection, row["id"], orjson.dumps(row)) for row in rows]
        connection.executemany("INSERT INTO record (service, collection, id, data) VALUES (?, ?, ?, ?)", stored)
    connection.close()

    cloud = new_cloud(clock=ManualClock(), state_path=path)
    cloud.service_named(service)
    for collection, rows in kept["records"].items():
        table = cloud.store.tables[service, collection]
        for row in kept.get("upgraded", {}).get(collection, rows):
            now = orjson.loads(to_bytes(table.to_json(table.require(row["id"]))))
            assert now.items() >= row.items()
            assert all(now[name] in (None, False, "", [], {}) for name in now.keys() - row.keys())
    cloud.close()


def test_a_pending_change_of_an_instance_sets_its_memory(tmp_path: Path) -> None:
    kept = orjson.loads((UNTYPED / "trove.json").read_bytes())
    path, instance = tmp_path / "cloud.db", {**kept["records"]["instances"][0], "status": "RESIZE"}
    pending = {"id": "change", "due": 0.0, "service": "trove", "method": "finish_instance"}
    arguments = [instance["id"], "RESIZE", {"flavor_id": "5", "_ram": 16384}]
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {kept['form']}")
        stored = [
            ("core", "seeded", "trove", {"id": "trove"}),
            ("core", "transitions", "change", {**pending, "arguments": arguments}),
            ("trove", "instances", instance["id"], instance),
        ]
        connection.executemany(
            "INSERT INTO record (service, collection, id, data) VALUES (?, ?, ?, ?)",
            [(*place, orjson.dumps(data)) for *place, data in stored],
        )
    connection.close()

    clock = ManualClock()
    cloud = new_cloud(clock=clock, state_path=path)
    cloud.start()
    clock.advance(1)
    changed = cloud.of(DatabaseService).instances.rows.require(instance["id"])
    cloud.close()
    assert (changed.status, changed.flavor_id, changed.ram) == ("ACTIVE", "5", 16384)


def test_a_record_without_a_field_of_its_class_is_refused(state_file: Path) -> None:
    with sqlite3.connect(state_file) as connection:
        connection.execute("UPDATE record SET data = json_remove(data, '$.size') WHERE collection = 'volumes'")
    connection.close()
    cloud = new_cloud(clock=ManualClock(), state_path=state_file)
    with pytest.raises(StateUnusable, match="of cinder/volumes without the field 'size'"):
        cloud.of(BlockStorage)
    cloud.close()


def test_a_step_that_fails_leaves_the_file_as_it_was(state_file: Path) -> None:
    def broken(database: sqlite3.Connection) -> None:
        database.execute("DELETE FROM record")
        raise RuntimeError("halfway")

    connection = sqlite3.connect(state_file)
    with pytest.raises(RuntimeError):
        upgrade(connection, state_file, [*STEPS, broken])
    assert form(state_file) == 0
    assert connection.execute("SELECT count(*) FROM record").fetchone()[0] > 0
    connection.close()


def test_a_state_file_of_a_later_release_is_refused(state_file: Path) -> None:
    with sqlite3.connect(state_file) as connection:
        connection.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    connection.close()
    with pytest.raises(StateUnusable, match="this release knows forms up to"):
        Store(state_file)
    with pytest.raises(SystemExit, match=r"openstack-emulator: The state file .* has form"):
        emulator(["up", "--port", "0", "--state", str(state_file)])


def test_a_file_that_is_not_a_state_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cloud.db"
    path.write_text("no database at all, but long enough to be looked at as one" * 50)
    with pytest.raises(StateUnusable, match="cannot be opened"):
        Store(path)
