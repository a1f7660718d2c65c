"""Files for continuous integration: hooks for pre-commit, the action for GitHub, and the template for GitLab."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from stoker.cli.main import cli

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "src" / "stoker" / "examples"
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
ACTION = yaml.safe_load((ROOT / "contrib" / "github-action" / "action.yml").read_text())
PIPELINE = yaml.safe_load((ROOT / "contrib" / "gitlab-ci" / "stoker.gitlab-ci.yml").read_text())
JOBS = ("stoker-check", "stoker-test", "stoker-plan")
GITLAB_BASH, GITHUB_BASH = ["bash", "-eo", "pipefail"], ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
MISINDENTED = "heat_template_version: 2021-04-16\nresources:\n    word:\n        type: OS::Heat::RandomString\n"


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ACTION["runs"]["steps"]
    return found


def job(name: str, skipped: int = 0) -> str:
    """Return the commands of a job of GitLab, without the first ones, in the shell that runs them."""
    lines = [*PIPELINE[".stoker"]["before_script"][skipped:], *PIPELINE[name]["script"]]
    return "\n".join(lines)


def test_hooks_check_and_format_the_files_that_they_are_given(tmp_path: Path) -> None:
    entries = {hook["id"]: hook["entry"].split() for hook in HOOKS}
    assert all(hook["language"] == "python" and (hook.get("types") or hook["types_or"]) for hook in HOOKS)
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(MISINDENTED)
    bad.write_text(MISINDENTED.replace("RandomString", "RandomStrin"))

    def run(name: str, *files: Path) -> int:
        program, *words = entries[name]
        assert program == "stoker"
        return CliRunner().invoke(cli, [*words, *map(str, files)]).exit_code

    assert run("stoker-lint", good) == 0 and run("stoker-lint", good, bad) == 1
    assert run("stoker-fmt", good, bad) == 0
    assert good.read_text() != MISINDENTED and run("stoker-fmt", good) == 0
    assert "  word:\n    type: OS::Heat::RandomString\n" in good.read_text()


def test_scripts_are_bash_and_take_inputs_as_variables_only(tmp_path: Path) -> None:
    runs = {step["name"]: step["run"] for step in steps()}
    for name, script in runs.items():
        assert "${{" not in script, f"{name}: whoever chooses an input could run commands"
    for step in steps():
        assert step["shell"] == "bash"
        named = re.findall(r"inputs\.([\w-]+)", str(step.get("env", {})) + str(step.get("if", "")))
        assert set(named) <= ACTION["inputs"].keys()
        assert set(re.findall(r"\$\{?([A-Z_]+)", step["run"])) <= {
            *step.get("env", {}), "RUNNER_TEMP", "GITHUB_PATH", "GITHUB_OUTPUT",
        }  # fmt: skip
    scripts = [*runs.values(), *(job(name) for name in JOBS)]
    used = set(re.findall(r"\$\{?(STOKER_[A-Z_]+)", "".join(scripts[len(runs) :])))
    assert used <= {*PIPELINE["variables"], "STOKER_COMMENT_TOKEN"}
    for number, script in enumerate(scripts):
        (tmp_path / f"{number}.sh").write_text(f"#!/bin/bash\n{script}")
    for path in tmp_path.iterdir():
        done = subprocess.run(["bash", "-n", path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_manual_describes_the_inputs_and_variables() -> None:
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text()
    for name in ACTION["inputs"]:
        assert f"`{name}`" in page
    examples = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    hooks, workflow, pipeline = examples
    assert {hook["id"] for hook in hooks["repos"][0]["hooks"]} == {hook["id"] for hook in HOOKS}
    assert set(workflow["jobs"]["templates"]["steps"][1]["with"]) <= ACTION["inputs"].keys()
    assert set(pipeline["variables"]) <= PIPELINE["variables"].keys()
    assert (ROOT / pipeline["include"][0]["file"]).exists()


@pytest.mark.slow
def test_the_steps_check_deploy_plan_and_comment(tmp_path: Path) -> None:
    stubs, temporary = tmp_path / "bin", tmp_path / "temporary"
    stubs.mkdir()
    temporary.mkdir()
    for name, file in (("gh", "comment.md"), ("curl", "comment.md")):  # they would contact the servers
        (stubs / name).write_text(
            f'#!/bin/bash\necho "{name} $*" >> {tmp_path}/calls\ncat {file} >> {tmp_path}/calls\n'
        )
        (stubs / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "STOKER_"))}
    environment = {
        **kept,
        "PATH": f"{stubs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path), "NO_COLOR": "1",
        "RUNNER_TEMP": str(temporary), "GITHUB_OUTPUT": str(tmp_path / "output"),
    }  # fmt: skip
    shutil.copy(EXAMPLES / "hello.yaml", tmp_path / "hello.yaml")
    given = {"paths": "hello.yaml", "template": "hello.yaml", "parameters": "length=5\n", "stack": "try"}
    values = {name: given.get(name, declared["default"]) for name, declared in ACTION["inputs"].items()}
    values |= {"pull_request.number": "7", "github.token": "t", "github.repository": "o/r"}

    def value(expression: str) -> str:
        found = re.fullmatch(r"\$\{\{ (?:inputs\.|github\.event\.)?([\w.-]+) \}\}", expression)
        assert found is not None, expression
        return str(values[found[1]])

    def run(command: list[str], script: str, more: dict[str, str], folder: Path = tmp_path) -> str:
        done = subprocess.run(
            [*command, "-c", script], cwd=folder, env=environment | more, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = {}
    by_name = {step["name"]: step for step in steps()}
    try:
        for name in ("Check", "Test", "Plan", "Comment"):
            step = by_name[name]
            variables = {key: value(text) for key, text in step.get("env", {}).items()}
            folder = temporary if name == "Comment" else tmp_path
            said[name] = run(GITHUB_BASH, step["run"], variables, folder)
        variables = {name: str(text) for name, text in PIPELINE["variables"].items()}
        variables |= {
            "STOKER_TEMPLATE": "hello.yaml", "STOKER_PARAMETERS": "length=6", "STOKER_PATHS": "hello.yaml",
            "STOKER_DATA_DIR": f"{temporary}/stoker-data", "STOKER_COMMENT_TOKEN": "t",
            "CI_API_V4_URL": "https://gitlab.example/api/v4", "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "2",
        }  # fmt: skip
        run(GITLAB_BASH, job("stoker-check", skipped=2), variables)
        run(GITLAB_BASH, job("stoker-plan", skipped=2), variables)
    finally:
        run(GITHUB_BASH, by_name["Stop"]["run"], {})
    assert "try: CREATE_COMPLETE" in said["Test"] and "try: DELETE_COMPLETE" in said["Test"]
    assert (tmp_path / "output").read_text() == "changes=true\n"
    calls = (tmp_path / "calls").read_text()
    assert "gh pr comment 7 --body-file" in calls and "merge_requests/2/notes" in calls
    assert calls.count("~~~~text") == 2 and calls.count("+ word  OS::Heat::RandomString") == 2
    assert "length = 5" in " ".join(calls.split()) and "length = 6" in " ".join(calls.split())
