"""What is published: the source distribution and the wheel, and that the installed wheel works without the sources."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        command, cwd=cwd, env={**kept, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a source distribution of the committed and changed files, and a wheel made from it."""
    checkout, built = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("dist")
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    present = "\n".join(name for name in listed if name and (ROOT / name).exists())
    (checkout / "files").write_text(present)
    archive = checkout / "all.tar"
    run("tar", "-cf", archive, "-C", ROOT, "-T", checkout / "files", cwd=ROOT)
    run("tar", "-xf", archive, "-C", checkout, cwd=checkout)
    run(sys.executable, "-m", "build", "--outdir", built, checkout, cwd=checkout)
    return built


@pytest.fixture(scope="module")
def installed(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds what the wheel installs, and nothing else."""
    target = tmp_path_factory.mktemp("installed")
    (wheel,) = distributions.glob("*.whl")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", target, wheel, cwd=target)
    return target


def test_the_wheel_has_the_data_files_of_the_package_and_no_tests(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    packaged = set(zipfile.ZipFile(wheel).namelist())
    kept = {".py", ".yaml", ".json", ".sh", ".mako", ".typed"}
    wanted = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "stoker").rglob("*")
        if path.is_file() and (path.suffix in kept or path.name == "py.typed")
    }

    assert wanted <= packaged
    assert not [name for name in packaged if name.startswith("tests/")]
    pages = {path.name for path in (ROOT / "docs" / "man").glob("*.1")}
    assert pages and pages == {Path(name).name for name in packaged if "/share/man/man1/" in name}


def test_the_source_distribution_builds_the_same_wheel(distributions: Path) -> None:
    (source,) = distributions.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"pyproject.toml", "README.md", "LICENSE", "src/stoker/cli/main.py"} <= names


def test_the_installed_wheel_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    where = "import stoker; print(stoker.__file__)"
    assert run(sys.executable, "-c", where, cwd=tmp_path, PYTHONPATH=str(installed)).startswith(str(installed))

    out = run(
        installed / "bin" / "stoker", "demo", cwd=tmp_path,
        PYTHONPATH=str(installed), HOME=str(tmp_path), NO_COLOR="1",
    )  # fmt: skip

    assert "web: CREATE_COMPLETE" in out
    assert "web: DELETE_COMPLETE" in out
