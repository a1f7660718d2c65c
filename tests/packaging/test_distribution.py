"""What is published: the source distribution and the wheel, and that the installed wheel works without the sources,
and without what only tests require."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.environment import build, make

ROOT = Path(__file__).parents[2]

DISTRIBUTIONS = ("stoker-foundation", "openstack-emulator", "stoker")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("distributions")]


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
    # What builds need in an environment of their own has been tried when this one was made.
    for name in DISTRIBUTIONS:
        build(checkout / "packages" / name, built, checkout)
    return built


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_has_the_data_files_of_the_package_and_no_tests(distributions: Path, name: str) -> None:
    (wheel,) = distributions.glob(f"{name.replace('-', '_')}-*.whl")
    packaged = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "packages" / name / "src"
    body = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and not {"__pycache__", *source.glob("*.egg-info")} & {*path.parts, *path.parents}
    }

    assert body and body <= packaged
    assert not [name for name in packaged if name.startswith("tests/")]
    assert any(path.endswith(".dist-info/licenses/LICENSE") for path in packaged)
    pages = {path.name for path in (ROOT / "packages" / name / "man").glob("*.1")}
    assert pages == {Path(name).name for name in packaged if "/share/man/man1/" in name}
    assert bool(pages) == (name == "stoker")


def test_the_source_distribution_builds_the_same_wheel(distributions: Path) -> None:
    (source,) = distributions.glob("stoker-[0-9]*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"pyproject.toml", "README.md", "LICENSE", "src/stoker/cli/main.py"} <= names


def test_the_wheel_with_all_parts_runs_the_demo(distributions: Path, tmp_path: Path) -> None:
    programs = make(tmp_path / "environment", distributions, "stoker", "engine", "emulator")
    where = run(programs / "python", "-c", "import stoker; print(stoker.__file__)", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(tmp_path / "environment")

    out = run(programs / "stoker", "demo", cwd=tmp_path, HOME=str(tmp_path), NO_COLOR="1")

    assert "web: CREATE_COMPLETE" in out
    assert "web: DELETE_COMPLETE" in out


def test_the_emulator_needs_no_stoker(distributions: Path, tmp_path: Path) -> None:
    programs = make(tmp_path / "environment", distributions, "openstack-emulator")
    absent = "import importlib.util; print(importlib.util.find_spec('stoker'))"
    assert run(programs / "python", "-c", absent, cwd=tmp_path).strip() == "None"
    assert "network" in run(programs / "openstack-emulator", "services", cwd=tmp_path).split()
    opened = "from openstack_emulator.services import new_cloud as new; cloud = new(); cloud.open_all(); cloud.close()"
    run(programs / "python", "-c", opened, cwd=tmp_path)


def test_the_wheel_alone_is_a_client_that_names_missing_parts(distributions: Path, tmp_path: Path) -> None:
    stoker = make(tmp_path / "environment", distributions, "stoker") / "stoker"

    def failing(*words: str) -> str:
        done = subprocess.run(
            [stoker, *words], cwd=tmp_path, env={"HOME": str(tmp_path)}, capture_output=True, text=True
        )
        assert done.returncode == 1
        return done.stderr

    examples = ROOT / "packages/stoker/src/stoker/examples"
    assert "no problems" in run(stoker, "lint", examples, cwd=tmp_path)
    run(stoker, "fmt", "--check", examples, cwd=tmp_path)
    assert "router" in run(stoker, "convert", "--to", "cfn", examples / "network.yaml", cwd=tmp_path)
    assert "net" in run(stoker, "graph", examples / "network.yaml", cwd=tmp_path)
    everything = "from stoker.plugins.registry import Registry; print(len(Registry.from_entry_points().types))"
    assert int(run(stoker.parent / "python", "-c", everything, cwd=tmp_path)) > 200
    assert "Start one with `stoker up`" in failing("stack", "list")
    cloud = {"auth": {"auth_url": "http://127.0.0.1:1", "username": "demo"}}
    (tmp_path / "clouds.yaml").write_text(json.dumps({"clouds": {"there": cloud}}))
    assert "cannot be reached" in failing("stack", "list", "--os-cloud", "there")
    assert failing("up").endswith(
        "`stoker up` needs the engine and the emulator: pip install 'stoker[engine,emulator]'\n"
    )
    assert failing("lsp").endswith("`stoker lsp` needs the language server: pip install 'stoker[lsp]'\n")
    assert failing("mcp").endswith(
        "`stoker mcp` needs the server of the Model Context Protocol: pip install 'stoker[mcp]'\n"
    )
    assert failing("demo").endswith("pip install 'stoker[engine,emulator]'\n")
    assert failing("up", "--cloud", "there").endswith("`stoker up` needs the engine: pip install 'stoker[engine]'\n")
    for words in (["engine"], ["api"], ["db", "sync"], ["service", "list"], ["takeover", "--from", "sqlite:///x"]):
        name = "takeover" if words[0] == "takeover" else " ".join(words)
        assert f"`stoker {name}` needs the engine: pip install 'stoker[engine]'" in failing(*words)
