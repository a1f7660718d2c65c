"""Names that the shell completes, and the files that lead AWS's clients to a running Stoker."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from click.shell_completion import ShellComplete

from stoker.cli.main import COMMANDS, cli
from tests.cli.cli_shell import BIN, EXAMPLES, Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]


def completed(*words: str) -> list[str]:
    """Return what the shell offers for the last word."""
    complete = ShellComplete(cli, {}, "stoker", "_STOKER_COMPLETE")
    return [item.value for item in complete.get_completions(list(words[:-1]), words[-1])]


def test_names_of_stacks_and_resources_are_completed_and_aws_clients_find_them(
    embedded: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OS_CLOUD", "OS_AUTH_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STOKER_DATA_DIR", str(embedded.directory))
    embedded.ok("deploy", "greeting", "-t", str(EXAMPLES / "hello.yaml"), "--yes")
    try:
        for words in (["delete"], ["plan"], ["deploy"], ["stack", "show"], ["stack", "suspend"], ["stack", "history"]):
            assert "greeting" in completed(*words, "gre"), words
            assert completed(*words, "no-such") == []
        assert completed("stack", "resource", "greeting", "") == ["word"]
        assert completed("stack", "signal", "greeting", "w") == ["word"]
        assert completed("stack", "resource", "missing", "") == []
        monkeypatch.setenv("STOKER_DATA_DIR", "/nonexistent")
        assert completed("delete", "gre") == [], "there is no service"
        assert completed("delete", "--data-dir", str(embedded.directory), "gre") == ["greeting"]

        lines = (embedded.directory / "awsrc").read_text().splitlines()
        values = dict(line.removeprefix("export ").split("=", 1) for line in lines if line.startswith("export "))
        client = boto3.client(
            "cloudformation",
            region_name=values["AWS_REGION"],
            endpoint_url=values["AWS_ENDPOINT_URL_CLOUDFORMATION"],
            aws_access_key_id=values["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=values["AWS_SECRET_ACCESS_KEY"],
            config=Config(retries={"max_attempts": 0}),
        )
        assert "greeting" in {stack["StackName"] for stack in client.list_stacks()["StackSummaries"]}
        embedded.ok("up", "--detach")
        assert (embedded.directory / "awsrc").read_text().splitlines() == lines
        assert (embedded.directory / "awsrc").stat().st_mode & 0o777 == 0o600
    finally:
        embedded.ok("delete", "greeting", "--yes")


def test_files_are_completed_after_options_and_plans_as_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_DATA_DIR", "/nonexistent")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.plan").write_text("{}")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "own.plan").write_text("{}")
    complete = ShellComplete(cli, {}, "stoker", "_STOKER_COMPLETE")
    for words in (["deploy", "web", "-t"], ["plan", "web", "-e"], ["plan", "web", "--template"], ["deploy", "--plan"]):
        assert [item.type for item in complete.get_completions(words, "w")] == ["file"], words
    assert completed("deploy", "we") == ["web.plan"] and completed("deploy", "below/") == ["below/own.plan"]
    assert completed("plan", "we") == []
    assert "completion" in completed("comp") and completed("completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_valid_and_completes(shell: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    script = subprocess.run([BIN / "stoker", "completion", shell], capture_output=True, text=True, check=True).stdout
    assert f"_STOKER_COMPLETE={shell}_complete" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    checked = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, env=environment)
    assert checked.returncode == 0, checked.stderr
    if shell == "bash":
        words = 'COMP_WORDS=(stoker dep) COMP_CWORD=1; _stoker_completion stoker; echo "${COMPREPLY[@]}"'
        output = subprocess.run(["bash", "-c", f"{script}\n{words}"], capture_output=True, text=True, env=environment)
        assert output.stdout.strip() == "deploy", output.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_shows_whole_descriptions_and_folders_with_a_slash(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    script = subprocess.run([BIN / "stoker", "completion", "fish"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "web.yaml").write_text("")

    def offered(line: str) -> list[str]:
        commands = f"{script}\ncomplete --do-complete '{line}'"
        words = ["fish", "--no-config", "-c", commands]
        found = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True)
        return found.stdout.splitlines()

    assert offered("stoker guest") == [f"guests\t{COMMANDS['guests'].summary}"]
    assert ", " in COMMANDS["guests"].summary
    assert offered("stoker lint temp") == ["templates/"]
    assert offered("stoker plan web -t templates/w") == ["templates/web.yaml"]
    assert offered("stoker up --data-dir temp")[0].partition("\t")[0] == "templates/"
