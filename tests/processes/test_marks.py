"""The mark beside the cloud: written, compared with at each start, and kept until it is accepted."""

from __future__ import annotations

import shutil
import stat
from functools import partial
from pathlib import Path

import pytest

from stoker.base.clock import SystemClock
from stoker.base.errors import Invalid
from stoker.processes.directory import DataDirectory
from stoker.processes.mark_files import MarkFiles
from stoker.processes.marks import MarkKeeper, look
from stoker.store import claims
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.mark_records import Finding
from stoker.store.records import Record
from tests.store import rows

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
        gap = look(database, self.files)
        keeper, journal = MarkKeeper(database, self.files, SystemClock()), Journal(database)
        await journal.commit(Batch().then(partial(claims.report, engine=rows.engine(engine, seen_at))))
        await keeper.renew()
        await journal.commit(Batch().add(*added))
        await keeper.renew()
        journal.close()
        database.close()
        return [(each.name, each.finding) for each in gap.differences] if gap else []

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


async def test_ordinary_restarts_are_silent(installation: Installation) -> None:
    assert await installation.run("a", NOW, *recorded("one")) == []
    assert await installation.run("b", NOW + 10, *recorded("two")) == []
    mark = installation.files.mark()
    assert mark is not None and mark.engine == "b"
    assert sorted(stack.name for stack in mark.stacks.values()) == ["one", "two"]
    assert stat.S_IMODE((installation.directory.path / "mark.json").stat().st_mode) == 0o600
    assert await installation.run("c", NOW - 4000) == []  # the clock was set back
    assert await installation.run("d", NOW - 3000) == []


async def test_a_restored_database_is_told_until_it_is_accepted(installation: Installation) -> None:
    await installation.run("a", NOW, *recorded("one"))
    backup = installation.copy()
    await installation.run("b", NOW + 10, *recorded("two"))
    installation.restore(backup)

    lost = [("two", Finding.MISSING)]
    assert await installation.run("c", NOW + 20) == lost
    assert await installation.run("d", NOW + 30, *recorded("three")) == lost
    gap = installation.files.gap()
    assert gap is not None and (gap.engine, gap.marked_at, gap.recorded_at) == ("b", NOW + 10, NOW)
    assert "Stacks since then: 1 missing." in gap.sentence(installation.directory)

    installation.restore(backup)  # again: what was found the first time is not forgotten
    assert sorted(await installation.run("e", NOW + 40)) == [("three", Finding.MISSING), ("two", Finding.MISSING)]
    installation.files.forget_gap()
    assert await installation.run("f", NOW + 50) == []


async def test_a_copy_from_which_nothing_has_changed_is_silent(installation: Installation) -> None:
    await installation.run("a", NOW, *recorded("one"))
    backup = installation.copy()
    await installation.run("b", NOW + 10)
    installation.restore(backup)
    assert await installation.run("c", NOW + 20) == []


async def test_the_right_database_ends_the_warning(installation: Installation) -> None:
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
    assert "has no record of any engine" in gap.sentence(installation.directory)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"engine": "a", "seen_at": "x", "event": 0, "stacks": {}}'])
async def test_a_damaged_mark_is_told(installation: Installation, text: str) -> None:
    await installation.run("a", NOW)
    (installation.directory.path / "mark.json").write_text(text)
    with pytest.raises(Invalid, match=r"mark\.json cannot be read .* it is unknown whether"):
        await installation.run("b", NOW + 10)


async def test_a_mark_that_cannot_be_written_stops_nothing(
    installation: Installation, caplog: pytest.LogCaptureFixture
) -> None:
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
