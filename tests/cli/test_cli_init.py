"""`stoker init`: what it writes is sound, deploys on the emulated cloud, and matches it afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stoker.cli.commands.init import STARTERS
from stoker.cli.main import cli
from tests.cli.cli_shell import Shell


def run(*words: str) -> Result:
    return CliRunner(env={"OS_CLOUD": "", "OS_AUTH_URL": ""}).invoke(cli, words, prog_name="stoker")


@pytest.mark.parametrize("kind", STARTERS)
def test_generated_template_passes_lint_and_format(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("init", kind)
    assert done.exit_code == 0, done.output
    assert (tmp_path / kind / STARTERS[kind].main).is_file()
    assert f"stoker deploy {kind} -t {kind}/{STARTERS[kind].main}" in done.output
    assert run("lint", kind).output.startswith("no problems in")
    assert run("fmt", "--check", kind).exit_code == 0


def test_files_are_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    assert run("init", "network", str(target)).exit_code == 0
    (target / "network.yaml").write_text("mine")
    refused = run("init", "network", str(target))
    assert (refused.exit_code, "exists already; --force overwrites." in refused.output) == (1, True)
    assert (target / "network.yaml").read_text() == "mine"
    assert run("init", "network", str(target), "--force").exit_code == 0
    assert (target / "network.yaml").read_text() != "mine"


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside, link = tmp_path / "outside", tmp_path / "target" / "network.yaml"
    link.parent.mkdir()
    link.symlink_to(outside)
    refused = run("init", "network", str(link.parent))
    assert (refused.exit_code, outside.exists()) == (1, False), refused.output
    outside.write_text("mine")
    assert run("init", "network", str(link.parent), "--force").exit_code == 0
    assert outside.read_text() == "mine" and link.is_file() and not link.is_symlink()


def test_kinds_are_listed_and_misspelt_ones_refused() -> None:
    listed = run("init").output
    assert all(kind in listed and starter.meaning in listed for kind, starter in STARTERS.items())
    assert run("init", "web-teir").exit_code == 2


@pytest.mark.slow
@pytest.mark.xdist_group(__name__)
def test_generated_template_deploys(embedded: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STOKER_DATA_DIR", str(embedded.directory))
    for kind, starter in STARTERS.items():
        run("init", kind)
        for words in (
            ("deploy", f"of-{kind}", "-t", f"{kind}/{starter.main}", "--yes"),
            ("drift", f"of-{kind}"),
            ("delete", f"of-{kind}", "--yes"),
        ):
            done = run(*words)
            assert done.exit_code == 0, done.output
