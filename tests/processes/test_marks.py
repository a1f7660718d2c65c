"""The mark beside the cloud: written, compared with at each start, and kept until it is accepted."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import stat
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import make_url

from stoker.base.errors import Invalid
from stoker.base.ids import new_id, short_id
from stoker.processes.assembly import loaded_plugins
from stoker.processes.directory import DataDirectory
from stoker.processes.mark_files import Gap, MarkFiles, data_dir_option, state_directory
from stoker.processes.marked_ids import MarkedIds
from stoker.processes.marks import MarkKeeper, compare_with_mark
from stoker.store import claims
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.mark_records import Finding
from stoker.store.records import Record
from stoker.store.sealing import Sealer
from stoker_foundation.clock import SystemClock
from tests.store import rows
from tests.store.test_marks import plain

NOW = 1_000_000.0


class Installation:
    """A data directory whose engine runs now and then, and whose database is copied and restored while it does not."""

    def __init__(self, path: Path) -> None:
        self.directory = DataDirectory(path)
        self.directory.make()
        self.files = MarkFiles.of(self.directory, None)
        self.file = path / "stoker.db"

    async def run(self, engine: str, seen_at: float, *added: Record) -> list[tuple[str, Finding]]:
        """Start an engine, record something, and stop it; what the database lacked at the start."""
        database = Database(self.directory.database_url)
        database.migrate()
        gap = await database.read(compare_with_mark, self.files, plain)
        keeper, journal = MarkKeeper(database, self.files, SystemClock(), plain, ""), Journal(database)
        await journal.commit(Batch().then(partial(claims.report, engine=rows.engine(engine, seen_at))))
        await keeper.renew()
        await journal.commit(Batch().add(*added))
        await keeper.renew()
        journal.close()
        database.close()
        return [(each.name, each.finding) for each in gap.differences] if gap else []

    async def renewed_over(self, backup: Path, engine: str, seen_at: float) -> None:
        """Renew the mark, then replace the file under the running engine, which reports itself, and renew it again."""
        database = Database(self.directory.database_url)
        keeper, journal = (
            MarkKeeper(database, self.files, SystemClock(), plain, "--config-file heat.conf"),
            Journal(database),
        )
        await keeper.renew()
        with closing(sqlite3.connect(backup)) as source, closing(sqlite3.connect(self.file)) as target:
            source.backup(target)
        await journal.commit(Batch().then(partial(claims.report, engine=rows.engine(engine, seen_at))))
        await keeper.renew()
        journal.close()
        database.close()

    def copy(self) -> Path:
        return Path(shutil.copy(self.file, self.file.with_name(f"copy-{len(list(self.directory.path.iterdir()))}.db")))

    def restore(self, copy: Path) -> None:
        for leftover in self.directory.path.glob("stoker.db-*"):
            leftover.unlink()
        shutil.copy(copy, self.file)


def recorded(name: str) -> list[Record]:
    stack = rows.stack(name)
    return [stack, rows.event(stack.id, "")]


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "data")


async def test_normal_restart_reports_nothing(installation: Installation) -> None:
    assert await installation.run("a", NOW, *recorded("one")) == []
    assert await installation.run("b", NOW + 10, *recorded("two")) == []
    mark = installation.files.mark()
    assert mark is not None and mark.engine == "b"
    assert sorted(stack.name for stack in mark.stacks.values()) == ["one", "two"]
    assert stat.S_IMODE((installation.directory.path / "mark.json").stat().st_mode) == 0o600
    assert await installation.run("c", NOW - 4000) == []  # the clock was set back
    assert await installation.run("d", NOW - 3000) == []


async def test_a_restored_database_is_reported_until_it_is_accepted(installation: Installation) -> None:
    await installation.run("a", NOW, *recorded("one"))
    backup = installation.copy()
    await installation.run("b", NOW + 10, *recorded("two"))
    installation.restore(backup)

    lost = [("two", Finding.MISSING)]
    assert await installation.run("c", NOW + 20) == lost
    assert await installation.run("d", NOW + 30, *recorded("three")) == lost
    gap = installation.files.gap()
    assert gap is not None and (gap.engine, gap.marked_at, gap.recorded_at) == ("b", NOW + 10, NOW)
    assert "Stacks since then: 1 missing." in gap.sentence(data_dir_option(installation.directory))

    installation.restore(backup)  # again: what was found the first time is not forgotten
    assert sorted(await installation.run("e", NOW + 40)) == [("three", Finding.MISSING), ("two", Finding.MISSING)]
    installation.files.forget_gap()
    assert await installation.run("f", NOW + 50) == []


async def test_unchanged_copy_is_not_reported(installation: Installation) -> None:
    await installation.run("a", NOW, *recorded("one"))
    backup = installation.copy()
    await installation.run("b", NOW + 10)
    installation.restore(backup)
    assert await installation.run("c", NOW + 20) == []


async def test_correct_database_ends_the_warning(installation: Installation) -> None:
    await installation.run("a", NOW, *recorded("one"))
    backup = installation.copy()
    await installation.run("b", NOW + 10, *recorded("two"))
    latest = installation.copy()
    installation.restore(backup)
    assert await installation.run("c", NOW + 20, *recorded("three")) == [("two", Finding.MISSING)]
    installation.restore(latest)
    assert await installation.run("d", NOW + 30) == [("three", Finding.MISSING)]  # made with the backup
    installation.files.forget_gap()
    assert await installation.run("e", NOW + 40) == []


async def test_an_empty_database_in_place_of_one_with_stacks(installation: Installation) -> None:
    await installation.run("a", NOW, *recorded("one"))
    installation.file.unlink()
    assert await installation.run("b", NOW + 10) == [("one", Finding.MISSING)]
    gap = installation.files.gap()
    assert gap is not None and gap.recorded_at is None
    assert "has no record of any engine" in gap.sentence(data_dir_option(installation.directory))


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"engine": "a", "seen_at": "x", "event": 0, "stacks": {}}'])
async def test_a_damaged_mark_is_reported(installation: Installation, text: str) -> None:
    await installation.run("a", NOW)
    (installation.directory.path / "mark.json").write_text(text)
    with pytest.raises(Invalid, match=r"mark\.json cannot be read .* it is unknown whether"):
        await installation.run("b", NOW + 10)


async def test_unwritable_mark_is_ignored(installation: Installation, caplog: pytest.LogCaptureFixture) -> None:
    blocked = installation.directory.path / "file"
    blocked.write_text("")
    installation.files = MarkFiles(blocked / "below")
    with pytest.raises(Invalid):  # not a directory: neither is it known whether there is a mark
        await installation.run("a", NOW)
    installation.files = MarkFiles(installation.directory.path / "marks")
    (installation.directory.path / "marks").symlink_to("/proc/nowhere")
    assert await installation.run("a", NOW) == []
    assert "cannot be written" in caplog.text


def test_the_mark_of_a_real_cloud_is_outside_of_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    one, other = DataDirectory(tmp_path / "one"), DataDirectory(tmp_path / "other")
    assert MarkFiles.of(one, None).path == one.path
    assert MarkFiles.of(one, "mine").path.parent == tmp_path / "state" / "stoker"
    assert MarkFiles.of(one, "mine") != MarkFiles.of(other, "mine")


async def test_a_database_that_is_replaced_under_a_running_engine_is_reported(
    installation: Installation, caplog: pytest.LogCaptureFixture
) -> None:
    await installation.run("a", NOW, *recorded("one"))
    backup = installation.copy()
    await installation.run("b", NOW + 10, *recorded("two"))
    await installation.renewed_over(backup, "b", NOW + 20)
    gap = installation.files.gap()
    assert gap is not None and [(each.name, each.finding) for each in gap.differences] == [("two", Finding.MISSING)]
    assert "`stoker db compare --config-file heat.conf` lists them" in caplog.text
    mark = installation.files.mark()
    assert mark is not None and [stack.name for stack in mark.stacks.values()] == ["one"]


async def test_missing_data_is_reported_for_read_only_database(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_space(_files: MarkFiles, _gap: Gap) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    await installation.run("a", NOW, *recorded("one"))
    installation.file.unlink()
    monkeypatch.setattr(MarkFiles, "write_gap", no_space)
    assert await installation.run("b", NOW + 10) == [("one", Finding.MISSING)]
    assert f"{installation.directory.path} cannot be written" in caplog.text


def test_a_user_without_a_home_has_the_directory_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)

    def unknown(_uid: int) -> None:
        raise KeyError("no such user")

    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert state_directory() == Path("/var/lib/stoker")


def test_each_cluster_has_a_mark_on_each_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = make_url("postgresql+psycopg://me:secret@db/one"), make_url("postgresql+psycopg://me:secret@db/other")
    same = make_url("postgresql+psycopg://you:changed@db/one")
    monkeypatch.setenv("STATE_DIRECTORY", f"{tmp_path / 'service'}:{tmp_path / 'more'}")
    assert MarkFiles.of_cluster(one, None).path.parent == tmp_path / "service"
    assert MarkFiles.of_cluster(one, str(tmp_path)).path.parent == tmp_path
    assert MarkFiles.of_cluster(one, None) == MarkFiles.of_cluster(same, None) != MarkFiles.of_cluster(other, None)


def test_the_ids_that_users_choose_are_not_in_a_mark() -> None:
    shown = MarkedIds(loaded_plugins({}), Sealer(["k" * 32]))
    uuid = new_id()
    for kind in ("OS::Zaqar::Queue", "OS::Swift::Container", "OS::Nova::KeyPair", "Vendor::Removed::Type"):
        hidden = shown(kind, uuid, "my-secret-name")
        assert "secret-name" not in hidden
        assert hidden == shown(kind, new_id(), "my-secret-name") != shown(kind, uuid, "another-name")
        assert shown(kind, uuid, f"stack-queue-{short_id(uuid)}") == f"stack-queue-{short_id(uuid)}"
    assert shown("OS::Neutron::Net", uuid, "4711") == "4711"
    assert shown("OS::Heat::RandomString", uuid, "some-name") == "some-name"
