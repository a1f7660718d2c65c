"""The history of the tables is append-only, and a program of the release before works with the tables of this one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import event, text
from sqlalchemy.engine import Engine

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import Invalid
from stoker.store import schema
from stoker.store.database import Database
from stoker.store.tables import metadata
from testing import forked_program
from tests.upgrades import releases

VERSIONS = Path(schema.__file__).parent / "migrations" / "versions"
RELEASED = {
    "0001_initial.py": "df916ddc024ea67cc705c4fe0c7d86a6c70d2c677229684af17cc807fb18ec92",
}
"""The SHA-256 of each revision file that was released. A line is added with each release, and none ever changes."""

ENGINE_OF_0_1 = """
import asyncio, json, sys
from tests.engine.world import World
from tests.engine import world as worlds
from stoker_foundation.clock import SystemClock
from tests.engine.crashing import Emulated
from stoker.store.database import Database
import stoker

HEAD = "heat_template_version: 2021-04-16\\nresources:\\n"
TEMPLATE = HEAD + "  net: {type: 'OS::Neutron::Net'}\\n  inner: {type: c.yaml}\\n"
FILES = {"c.yaml": HEAD + "  word: {type: 'OS::Heat::RandomString'}\\n"}

async def main(url, cloud, token):
    worlds.Database = lambda _: Database(url)
    world = await World("unused", Emulated(cloud, token), SystemClock()).start()
    said = {"version": stoker.__version__, "before": [s["name"] for s in (await world.call("stack_list"))["stacks"]]}
    for name in ("kept", "gone"):
        stack = await world.create(name, TEMPLATE, files=FILES)
        said[name] = stack["action"] + "_" + stack["status"]
    stack = await world.update("kept", TEMPLATE + "  more: {type: 'OS::Neutron::Net'}\\n", files=FILES)
    said["kept"] = stack["action"] + "_" + stack["status"]
    await world.delete("gone")
    said["after"] = [s["name"] for s in (await world.call("stack_list"))["stacks"]]
    await world.stop()
    print(json.dumps(said))

asyncio.run(main(*sys.argv[1:]))
"""
PROGRAMS = {"0.1.0": ENGINE_OF_0_1}
"""For each release, a program for its own engine and tests, with the database, the cloud and a token as arguments."""


def test_no_released_revision_has_changed() -> None:
    found = {name: hashlib.sha256((VERSIONS / name).read_bytes()).hexdigest() for name in RELEASED}
    assert found == RELEASED, "a released revision file was changed: add a new revision instead"


def test_releases_whose_states_are_kept_have_their_revisions_released() -> None:
    assert {path.name for path in releases.STATES.iterdir()} == {*PROGRAMS}
    assert set(RELEASED) <= {path.name for path in VERSIONS.glob("[0-9]*.py")}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'stoker.db'}")
    yield database
    database.close()


@pytest.mark.slow
@pytest.mark.xdist_group("releases")
@pytest.mark.parametrize("release", PROGRAMS)
def test_an_engine_of_each_release_works_with_the_tables_of_this_one(
    release: str, database: Database, extracted: Callable[[str], Path]
) -> None:
    sources = extracted(release)
    database.migrate()
    with ServedCloud(new_cloud(pace=0.01)) as served:
        arguments = (str(database.url), served.url, served.token("demo", "demo"))
        done = releases.run(sources, "-c", PROGRAMS[release], *arguments)
    assert done.returncode == 0, done.stderr
    message = json.loads(done.stdout)
    assert message == {
        "version": release,
        "before": [],
        "kept": "UPDATE_COMPLETE",
        "gone": "CREATE_COMPLETE",
        "after": ["kept"],
    }
    database.read_now(schema.require_fit)


def unreleased(database: Database, *statements: str) -> None:
    """What a build before 0.1.0 left: tables under the number of the first revision, with something missing."""
    with database.writing() as connection:
        command.upgrade(schema.migrations(connection), "0001")
        connection.execute(text(f"DROP TABLE {schema.VERSION_TABLE}"))
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('0001')"))
        for statement in statements:
            connection.execute(text(statement))


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("DROP TABLE sealing_keys", "sealing_keys"),
        ("ALTER TABLE stacks DROP COLUMN strayed", "stacks.strayed"),
    ],
)
def test_tables_of_a_build_before_the_first_release_are_refused_with_what_to_do(
    database: Database, statement: str, missing: str
) -> None:
    unreleased(database, statement)
    for attempt in (database.migrate, lambda: database.read_now(schema.require_fit)):
        with pytest.raises(Invalid, match=f"without {missing}; this program: .*before release 0.1.0.*empty database"):
            attempt()


@pytest.mark.slow
def test_commands_refuse_older_tables_without_traceback(database: Database, tmp_path: Path) -> None:
    unreleased(database, "DROP TABLE sealing_keys")
    config = tmp_path / "heat.conf"
    config.write_text(f"[database]\nconnection = {database.url}\n[DEFAULT]\nauth_encryption_key = {'k' * 32}\n")
    for words in (["db", "sync"], ["operation", "list"], ["db", "reseal"]):
        command_line = ["stoker", *words, "--config-file", str(config)]
        done = forked_program.run("stoker.cli.main:main", command_line, imports=["stoker.cli.main"], timeout=120)
        assert done.returncode == 1 and "before release 0.1.0" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("revision", "oldest", "compatibility"),
    [
        ("{program}", "0001", schema.Compatibility.EXACT),
        ("{later}", "0001", schema.Compatibility.NEWER),
        ("{later}", "{program}", schema.Compatibility.NEWER),
        ("{later}", "{later}", schema.Compatibility.TOO_NEW),
        ("0000", "0001", schema.Compatibility.OLDER),
    ],
)
def test_the_database_says_which_programs_work_with_it(
    database: Database, revision: str, oldest: str, compatibility: schema.Compatibility
) -> None:
    database.migrate()
    words = {"program": schema.head(), "later": f"{int(schema.head()) + 3:04}"}
    with database.writing() as connection:
        connection.execute(text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '{revision.format(**words)}'"))
        connection.execute(text(f"UPDATE schema_compatibility SET oldest_program = '{oldest.format(**words)}'"))
    assert database.read_now(schema.versions).compatibility is compatibility
    if not compatibility.usable:
        with pytest.raises(
            Invalid, match="db sync" if compatibility is schema.Compatibility.OLDER else "upgrade this program"
        ):
            database.read_now(schema.require_fit)


def test_only_one_of_the_two_checks_at_a_start_compares_columns(database: Database) -> None:
    """The comparison takes ten times as long as looking the revisions up."""
    database.migrate()
    statements: list[str] = []

    def note(_: object, cursor: object, statement: str, *rest: object) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        database.read_now(schema.require_not_later)
        looks = len(statements)
        database.migrate()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert looks < 8
    assert len(statements) > looks + len(metadata.tables)


def test_an_embedded_stoker_refuses_the_tables_of_a_later_release(database: Database) -> None:
    database.migrate()
    database.read_now(schema.require_not_later)
    with database.writing() as connection:
        connection.execute(text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(Invalid, match=r"no way back to an earlier one.* Nothing was changed"):
        database.read_now(schema.require_not_later)
