"""Other users of the machine and the files of an embedded Stoker; signals while it starts."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stoker.processes.control import running
from stoker.processes.directory import DataDirectory

STOKER = [sys.executable, "-c", "from stoker.cli.main import main; main()"]


def open_to_others(directory: Path) -> list[str]:
    """The files and directories below one that anybody but their owner may use."""
    return sorted(str(path) for path in directory.rglob("*") if stat.S_IMODE(path.stat().st_mode) & 0o077)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """A directory that exists, open to all, with files of an earlier Stoker."""
    path = tmp_path / "data"
    path.mkdir()
    path.chmod(0o755)
    yield path
    subprocess.run([*STOKER, "down", "--data-dir", str(path)], check=False, capture_output=True, timeout=120)


def up(directory: Path) -> list[str]:
    ports = [word for name in ("api", "cfn", "cloud") for word in (f"--{name}-port", "0")]
    return [*STOKER, "up", "--data-dir", str(directory), *ports]


@pytest.mark.slow
def test_files_of_a_directory_that_others_may_enter(directory: Path) -> None:
    """Another user of the machine reads secrets in the files of a data directory that was made with mode 0755."""
    former = directory / "cloud.log"
    former.write_text("of an earlier Stoker")
    former.chmod(0o644)
    foreign = directory / "notes.txt"
    foreign.write_text("not ours")
    foreign.chmod(0o644)
    started = subprocess.run(
        [*up(directory), "--detach"], capture_output=True, text=True, timeout=300, umask=0o000, check=False
    )
    assert started.returncode == 0, started.stderr
    names = {path.name for path in directory.iterdir()}
    assert {"cloud.db", "cloud.db-wal", "stoker.db", "engine.log", "engine.pid", "openrc", "secrets.json"} <= names
    assert open_to_others(directory) == [str(foreign)]
    assert stat.S_IMODE(directory.stat().st_mode) == 0o755


@pytest.mark.slow
def test_a_signal_while_everything_starts(directory: Path) -> None:
    """SIGTERM to a foreground `stoker up` that does not serve yet leaves its processes running."""
    process = subprocess.Popen(up(directory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while not (pid := running(DataDirectory(directory), "cloud")):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) != 0
    assert not Path(f"/proc/{pid}").exists()
    assert running(DataDirectory(directory), "cloud") is None
    assert running(DataDirectory(directory), "engine") is None


def test_making_the_directory_closes_what_was_open(tmp_path: Path) -> None:
    """Files that an earlier Stoker left open to others stay open after an upgrade."""
    path = tmp_path / "data"
    path.mkdir(mode=0o755)
    for name in ("cloud.db", "cloud.db-wal", "stoker.db", "engine.log", "openrc-admin", "clouds.yaml", "engine.lock"):
        (path / name).touch(0o644)
        (path / name).chmod(0o644)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch(0o644)
    (path / "cloud.log").symlink_to(elsewhere)
    mode = elsewhere.stat().st_mode
    DataDirectory(path).make()
    assert [name for name in open_to_others(path) if not name.endswith("cloud.log")] == []
    assert elsewhere.stat().st_mode == mode
