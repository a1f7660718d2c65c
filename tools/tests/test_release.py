"""Releases: the version in all places, the notes, the workflow, and the check of what was built."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from datetime import date
from pathlib import Path

import pytest
import yaml

from tools.checks import release
from tools.checks.source_tree import SourceTree

ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files with the version, and the changelog."""
    for name in (release.SOURCE, *release.COPIES, "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_version_is_the_same_in_all_places() -> None:
    assert release.report(SourceTree(ROOT)) == []


def test_a_version_that_differs_is_found(copy: Path) -> None:
    path = copy / "contrib/vscode/package.json"
    path.write_text(path.read_text().replace('"version": "', '"version": "9'))
    (problem,) = release.report(SourceTree(copy))
    assert problem.startswith("contrib/vscode/package.json: the version is 9")


def test_a_release_is_set_everywhere_and_has_notes(copy: Path) -> None:
    unreleased = release.notes(SourceTree(copy), "1.0.0.dev0")
    assert unreleased and any(
        "development version" in line for line in release.problems_of_tag(SourceTree(copy), "v9.8.7")
    )
    release.set_version(copy, "9.8.7", date(2027, 1, 2))
    tree = SourceTree(copy)
    assert release.version_of(tree) == "9.8.7" and release.report(tree) == []
    assert release.problems_of_tag(tree, "v9.8.7") == [] and release.notes(tree, "9.8.7") == unreleased
    assert release.problems_of_tag(tree, "v9.8.6") == ["the tag is v9.8.6, but the version is 9.8.7"]
    assert "## [Unreleased]\n\n## [9.8.7] - 2027-01-02\n" in (copy / "CHANGELOG.md").read_text()
    assert "github-action@v9.8.7" in (copy / "docs/how-to/ci.md").read_text()
    release.set_version(copy, "9.9.0.dev0", date(2027, 1, 3))
    assert release.report(SourceTree(copy)) == [] and "rev: main" in (copy / "docs/how-to/ci.md").read_text()
    with pytest.raises(ValueError, match="not a version"):
        release.set_version(copy, "v1", date(2027, 1, 2))


def test_built_files_are_compared_with_their_checksums_and_the_version(tmp_path: Path) -> None:
    for name in release.WHEELS:
        with zipfile.ZipFile(tmp_path / f"{name}-1.2.3-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}-1.2.3.dist-info/METADATA", f"Name: {name}\nVersion: 1.2.3\n\n")
    (tmp_path / "stoker-1.2.3.tar.gz").write_bytes(b"sources")
    release.write_sums(tmp_path)
    assert release.wrong_files(tmp_path, "1.2.3") == []
    done = subprocess.run(["sha256sum", "--check", "--strict", release.SUMS], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0
    (tmp_path / "stoker-1.2.3.tar.gz").write_bytes(b"others")
    (tmp_path / "more.whl").write_bytes(b"")
    (tmp_path / "stoker_heat_plugins-1.2.3-py3-none-any.whl").unlink()
    assert release.wrong_files(tmp_path, "1.2.3") == [
        "more.whl: it is not in SHA256SUMS",
        "stoker-1.2.3.tar.gz: its checksum differs",
        "stoker_heat_plugins-1.2.3-py3-none-any.whl: it is missing",
        "stoker_heat_plugins-1.2.3-py3-none-any.whl: it was not built",
    ]


def test_the_workflow_publishes_only_distributions_that_were_built_and_tested(tmp_path: Path) -> None:
    jobs = WORKFLOW["jobs"]
    assert jobs["try"]["needs"] == "build" and set(jobs["publish"]["needs"]) == {"try", "container"}
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'" and "publish" in jobs["verify"]["needs"]
    assert WORKFLOW["permissions"] == {"contents": "read"}
    for job in jobs.values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), "whoever names a tag could run commands"
            checked = subprocess.run(["bash", "-n"], input=step.get("run", ""), text=True, capture_output=True)
            assert checked.returncode == 0, checked.stderr
    scripts = " ".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    assert "make release" in scripts and "checks.release check" in scripts
    assert {"cosign sign ", "cosign sign-blob", "cosign verify-blob", "cosign verify "} <= {
        part for part in ("cosign sign ", "cosign sign-blob", "cosign verify-blob", "cosign verify ") if part in scripts
    }
    makefile = (ROOT / "Makefile").read_text()
    target = makefile.partition("\nrelease:")[2].partition("\n\n")[0]
    assert all(word in target for word in ("build --outdir dist", "release notes", "release sums", "release verify"))
