"""Files for continuous integration: hooks for pre-commit, the action for GitHub, and the template for GitLab."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from stoker.cli.main import cli
from tests.cli.cli_shell import install_commands

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "packages/stoker/src/stoker/examples"
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
            *step.get("env", {}), "RUNNER_TEMP", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_ACTION_PATH", "MARK",
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


def value(expression: str, values: Mapping[str, str]) -> str:
    """Return the value of an expression of GitHub's that names an input or a part of the event."""
    found = re.fullmatch(r"\$\{\{ (?:inputs\.|github\.event\.)?([\w.-]+) \}\}", expression)
    assert found is not None, expression
    return str(values[found[1]])


def run_step(
    name: str, given: Mapping[str, str], folder: Path, more: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a step of the action with these inputs, as GitHub's runner does."""
    (step,) = [step for step in steps() if step["name"] == name]
    values = {key: given.get(key, declared["default"]) for key, declared in ACTION["inputs"].items()}
    values |= {"pull_request.number": "7", "github.token": "t", "github.repository": "o/r"}
    variables = {key: value(text, values) for key, text in step.get("env", {}).items()}
    environment = {**os.environ, **more, **variables}
    return subprocess.run(
        [*GITHUB_BASH, "-c", step["run"]], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("paths", ["a.yaml\nb.yaml\n", "\n  a.yaml\r\n\n b.yaml \n", "a.yaml\nb.yaml"])
def test_paths_are_a_block_of_lines(tmp_path: Path, paths: str) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "stoker"
    program.write_text(f'#!/bin/bash\nprintf "<%s>" "$@" >> {tmp_path}/calls\necho >> {tmp_path}/calls\n')
    program.chmod(0o755)
    path = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = run_step("Check", {"paths": paths}, tmp_path, path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls").read_text() == "<lint><a.yaml><b.yaml>\n<fmt><--check><--diff><a.yaml><b.yaml>\n"
    assert run_step("Check", {"paths": " \n"}, tmp_path, path).returncode == 2


GH = """#!/usr/bin/env python3
import json, os, sys
words, store = sys.argv[1:], os.environ["STORE"]
comments = json.load(open(store))
url = next(word for word in words if word.startswith("repos/"))
body = next((open(word[6:]).read() for word in words if word.startswith("body=@")), None)
if "PATCH" in words:
    next(each for each in comments if str(each["id"]) == url.rpartition("/")[2])["body"] = body
elif "POST" in words:
    comments.append({"id": len(comments) + 1, "body": body})
else:
    [print(each["id"]) for each in comments if each["body"].startswith(os.environ["MARK"])]
json.dump(comments, open(store, "w"))
"""
CURL = """#!/usr/bin/env python3
import json, os, sys
words, store = sys.argv[1:], os.environ["STORE"]
comments = json.load(open(store))
url = words[-1]
body = next((open(word[5:]).read() for word in words if word.startswith("body@")), None)
if "PUT" in words:
    next(each for each in comments if str(each["id"]) == url.rpartition("/")[2])["body"] = body
elif body is not None:
    comments.append({"id": len(comments) + 1, "body": body})
else:
    page = int(url.rpartition("=")[2])
    print(json.dumps(comments[page * 100 - 100 : page * 100]))
json.dump(comments, open(store, "w"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("system", ["github", "gitlab"])
def test_one_comment_is_updated_and_others_are_left_alone(tmp_path: Path, system: str) -> None:
    stubs, store = tmp_path / "bin", tmp_path / "comments.json"
    stubs.mkdir()
    for name, text in (("gh", GH), ("curl", CURL)):
        (stubs / name).write_text(text)
        (stubs / name).chmod(0o755)
    others = [{"id": number, "body": f"said by somebody: {number}"} for number in range(1, 131)]
    store.write_text(json.dumps(others))
    more = {"PATH": f"{stubs}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path), "STORE": str(store)}

    def comment(stack: str, plan: str) -> None:
        (tmp_path / "plan.txt").write_text(plan)
        if system == "github":
            done = run_step("Comment", {"stack": stack}, tmp_path, more)
        else:
            script = PIPELINE["stoker-plan"]["script"][-1]
            variables = {"STOKER_STACK": stack, "STOKER_COMMENT_TOKEN": "t", "CI_API_V4_URL": "https://gitlab.example"}
            variables |= {"CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "2"}
            done = subprocess.run(
                [*GITLAB_BASH, "-c", script], cwd=tmp_path, env={**os.environ, **more, **variables},
                capture_output=True, text=True,
            )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    for stack, plan in (("web", "one"), ("data", "two"), ("web", "three")):
        comment(stack, plan)
    found = json.loads(store.read_text())
    assert found[:130] == others and len(found) == 132
    assert "three" in found[130]["body"] and "one" not in found[130]["body"] and "two" in found[131]["body"]


@pytest.mark.slow
def test_the_steps_check_deploy_plan_and_comment(tmp_path: Path) -> None:
    stubs, temporary = tmp_path / "bin", tmp_path / "temporary"
    stubs.mkdir()
    temporary.mkdir()
    for name, answer in (("gh", ""), ("curl", "[]")):  # they would contact the servers
        (stubs / name).write_text(
            f"#!/bin/bash\necho '{answer}'\ncase \"$*\" in *body[=@]*)\n"
            f'  echo "{name} $*" >> {tmp_path}/calls; cat comment.md >> {tmp_path}/calls;;\nesac\n'
        )
        (stubs / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "STOKER_"))}
    environment = {
        **kept,
        "PATH": f"{stubs}:{install_commands(tmp_path / 'commands')}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path), "NO_COLOR": "1",
        "RUNNER_TEMP": str(temporary), "GITHUB_OUTPUT": str(tmp_path / "output"),
    }  # fmt: skip
    shutil.copy(EXAMPLES / "hello.yaml", tmp_path / "hello.yaml")
    given = {"paths": "hello.yaml", "template": "hello.yaml", "parameters": "length=5\n", "stack": "try"}
    values = {name: given.get(name, declared["default"]) for name, declared in ACTION["inputs"].items()}
    values |= {"pull_request.number": "7", "github.token": "t", "github.repository": "o/r"}

    def run(command: list[str], script: str, more: dict[str, str], folder: Path = tmp_path) -> str:
        done = subprocess.run(
            [*command, "-c", script], cwd=folder, env=environment | more, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    output = {}
    by_name = {step["name"]: step for step in steps()}
    try:
        for name in ("Check", "Test", "Plan", "Comment"):
            step = by_name[name]
            variables = {key: value(text, values) for key, text in step.get("env", {}).items()}
            folder = temporary if name == "Comment" else tmp_path
            output[name] = run(GITHUB_BASH, step["run"], variables, folder)
        variables = {name: str(text) for name, text in PIPELINE["variables"].items()}
        variables |= {
            "STOKER_TEMPLATE": "hello.yaml", "STOKER_PARAMETERS": "length=6", "STOKER_PATHS": "hello.yaml",
            "STOKER_DATA_DIR": f"{temporary}/stoker-data", "STOKER_COMMENT_TOKEN": "t",
            "CI_API_V4_URL": "https://gitlab.example/api/v4", "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "2",
        }  # fmt: skip
        run(GITLAB_BASH, job("stoker-check", skipped=3), variables)
        run(GITLAB_BASH, job("stoker-plan", skipped=3), variables)
    finally:
        run(GITHUB_BASH, by_name["Stop"]["run"], {})
    assert "try: CREATE_COMPLETE" in output["Test"] and "try: DELETE_COMPLETE" in output["Test"]
    assert (tmp_path / "output").read_text() == "changes=true\n"
    calls = (tmp_path / "calls").read_text()
    assert "repos/o/r/issues/7/comments" in calls and "merge_requests/2/notes" in calls
    assert calls.count("~~~~~~~~text") == 2 and calls.count("+ word  OS::Heat::RandomString") == 2
    assert "length = 5" in " ".join(calls.split()) and "length = 6" in " ".join(calls.split())
