"""`stoker test`: its output, its reports and its exit status."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from stoker.cli.main import cli
from tests.sandbox.templates import DISK

TESTS = """\
template: disk.yaml
tests:
  one: {deploy: false}
  two: {deploy: false, plan: {counts: {create: 2}}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "disk.yaml").write_text(DISK)
    (tmp_path / "disk.test.yaml").write_text(TESTS)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["test", *arguments])


def test_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    done = run()
    assert done.exit_code == 1
    lines = done.output.splitlines()
    assert lines[0] == "disk.test.yaml"
    assert lines[1].startswith("  ✓ one  (")
    assert "error[expectation]: 2 expected, 1 found: disk" in lines
    assert "4 |   two: {deploy: false, plan: {counts: {create: 2}}}" in lines
    assert lines[-1] == "1 passed, 1 failed"
    passed = run("-k", "one")
    assert (passed.exit_code, passed.output.splitlines()[-1]) == (0, "1 passed")
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;32m✓" in run("-k", "one").output


def test_reports_for_programs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("-f", "json", "--junit", "report.xml")
    assert done.exit_code == 1
    data = json.loads(done.stdout)
    assert (data["passed"], data["failed"]) == (1, 1)
    assert [(each["name"], each["passed"]) for each in data["tests"]] == [("one", True), ("two", False)]
    assert data["tests"][1]["failures"][0]["position"] == {"line": 4, "column": 48}
    root = ElementTree.parse(folder / "report.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    failures = [case.find("failure") for case in root.iter("testcase")]
    assert failures[0] is None and failures[1] is not None
    assert str(failures[1].get("message")).startswith("disk.test.yaml:4:48: tests.two.plan.counts.create: 2 expected")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    shown = run().output.splitlines()
    assert shown[-1] == "::error file=disk.test.yaml,line=4,col=48,title=two::2 expected, 1 found: disk"
    (folder / "disk.test.yaml").write_text(TESTS.replace("two", "'a,b: 100%'"))
    assert "title=a%2Cb%3A 100%25::" in run("-f", "github").output
    assert "::error" not in run("-f", "text").output


def test_invalid_test_file_fails_and_others_run(folder: Path) -> None:
    (folder / "a.test.yaml").write_text("tests: {t: {paln: {}}}\n")
    done = run("-k", "one")
    assert done.exit_code == 1
    assert "error[test-file]: unknown key 'paln'" in done.output
    assert "  ✓ one  (" in done.output


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("none.test.yaml",), 1, "Path 'none.test.yaml' does not exist."),
        (("-k", "three"), 1, "No test has a name that contains 'three'."),
        (("empty",), 1, "There are no tests (*.test.yaml or *.test.yml) in or below empty."),
        (("--jobs", "0"), 2, "0 is not in the range"),
        (("-k", "one", "--junit", "none/x.xml"), 1, "none/x.xml cannot be written"),
    ],
)
def test_refusals(folder: Path, arguments: tuple[str, ...], status: int, message: str) -> None:
    (folder / "empty").mkdir()
    done = run(*arguments)
    assert (done.exit_code, message in done.output.replace("\n", " ")) == (status, True), done.output


def test_update_writes_golden_plans(folder: Path) -> None:
    (folder / "disk.test.yaml").write_text("template: disk.yaml\ntests: {t: {deploy: false, plan: {golden: t.txt}}}\n")
    assert run().exit_code == 1
    updated = run("--update")
    assert (updated.exit_code, "the golden plan was written" in updated.output) == (0, True)
    assert run().exit_code == 0


@pytest.mark.slow
def test_parallel_runs_give_the_same_results(folder: Path) -> None:
    program = "from stoker.cli.main import main; main()"
    command = [sys.executable, "-c", program, "test", "--jobs", "2", "-f", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert [(each["name"], each["passed"]) for each in json.loads(done.stdout)["tests"]] == [
        ("one", True),
        ("two", False),
    ]


def round_of(watched: subprocess.Popen[str]) -> list[str]:
    """What `stoker test --watch` prints until it waits for changes, without durations and empty lines."""
    assert watched.stdout is not None
    lines = list[str]()
    while not lines or "waiting for changes" not in lines[-1]:
        line = watched.stdout.readline()
        assert line, lines
        lines.append(re.sub(r" +\(\d+\.\d s\)", "", line.strip()))
    return [line for line in lines if line]


@pytest.mark.slow
def test_tests_run_again_when_their_files_change(folder: Path) -> None:
    Path("disk.test.yaml").write_text(TESTS.replace("create: 2", "create: 1") + "  other: {template: other.yaml}\n")
    Path("other.yaml").write_text(DISK)
    command = [sys.executable, "-c", "from stoker.cli.main import main; main()", "test", "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as watched:
        assert round_of(watched) == [
            *("disk.test.yaml", "✓ one", "✓ two", "✓ other"),
            "3 passed; waiting for changes, until Ctrl-C",
        ]
        Path("other.yaml").write_text(DISK.replace("OS::Cinder::Volume", "OS::Cinder::Volumes", 1))
        assert round_of(watched)[:3] == [
            *("disk.test.yaml", "✗ other"),
            "error[unknown-type]: there is no resource type 'OS::Cinder::Volumes'",
        ]
        Path("new").mkdir()
        Path("new/disk.test.yaml").write_text("template: ../disk.yaml\ntests: {new: {deploy: false}}\n")
        assert round_of(watched) == [
            *("new/disk.test.yaml", "✓ new"),
            "3 passed, 1 failed (1 run); waiting for changes, until Ctrl-C",
        ]
        Path("disk.test.yaml").write_text("tests: 5\n")
        assert round_of(watched)[-1] == "1 passed, 1 failed (0 run); waiting for changes, until Ctrl-C"
        watched.send_signal(signal.SIGINT)
        assert watched.wait(timeout=60) == 1


@pytest.mark.parametrize("option", ["--update", "--junit=x.xml", "--format=json"])
def test_varying_results_are_only_in_text_reports(option: str) -> None:
    refused = run("--watch", option)
    assert (refused.exit_code, "--watch prints results for people" in refused.output.replace("\n", " ")) == (2, True)


@pytest.mark.slow
def test_worker_of_a_killed_command_ends_quietly(folder: Path) -> None:
    request = {"file": str(folder / "disk.test.yaml"), "cloud": None, "number": 0, "update": False}
    worker = subprocess.Popen(
        [sys.executable, "-m", "stoker.testing.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert worker.stdin is not None and worker.stdout is not None and worker.stderr is not None
    worker.stdout.close()  # as nobody reads it any more
    worker.stdin.write(json.dumps(request).encode() + b"\n")
    worker.stdin.close()
    assert worker.stderr.read() == b""
    worker.stderr.close()
    assert worker.wait() == 0
