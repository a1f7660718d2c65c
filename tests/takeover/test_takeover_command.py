"""`stoker takeover` as operators run it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import create_engine, text

from stoker.cli.main import cli
from stoker.store.database import Database
from tests.takeover import heat_database

_SETTINGS = """
[DEFAULT]
auth_encryption_key = {key}
[database]
connection = {url}
[keystone_authtoken]
auth_type = password
auth_url = http://127.0.0.1:9/v3
username = heat
password = secret
"""
_MANUAL = Path(__file__).parents[2] / "docs/how-to"
Command = Callable[..., Result]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs the command; no service can be reached."""
    monkeypatch.delenv("HEAT_ENCRYPTION_KEY", raising=False)
    url = f"sqlite:///{tmp_path / 'stoker.db'}"
    database = Database(url)
    database.migrate()
    database.close()
    config = tmp_path / "stoker.conf"
    config.write_text(_SETTINGS.format(key="k" * 32, url=url))

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["takeover", "--config-file", str(config), *arguments])

    return run


def _of_the_manual(options: Mapping[str, str]) -> list[list[str]]:
    """Return the words of the manual's `stoker takeover` commands, with other values of these options."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (_MANUAL / "replace-heat.md").read_text(), re.M | re.S)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    found = [shlex.split(line)[2:] for line in lines if line.startswith("stoker takeover ")]
    for words in found:
        for option, value in options.items():
            if option in words:
                words[words.index(option) + 1] = value
    return found


def test_takeover_commands_work_offline(command: Command, tmp_path: Path) -> None:
    source = heat_database.make(tmp_path / "heat.db", "project")
    key = tmp_path / "their.conf"
    key.write_text(f"[DEFAULT]\nauth_encryption_key = {heat_database.ENCRYPTION_KEY}\n")
    given = ("--from", source, "--encryption-key-file", str(key))
    config, out = str(tmp_path / "stoker.conf"), str(tmp_path / "out")
    changes = {"--config-file": config, "--from": source, "--encryption-key-file": str(key), "--export": out}
    plan, copy, export = _of_the_manual(changes)
    assert "--plan" in plan

    planned = command(*plan)
    assert planned.exit_code == 0, planned.output
    assert "46 trees of stacks (68 stacks, 145 resources): can be copied" in planned.output
    assert "OS::Heat::AutoScalingGroup" in planned.output
    assert "a hidden word" not in planned.output

    copied = command(*copy, "--json")
    assert copied.exit_code == 0, copied.output
    found = json.loads(copied.stdout)
    assert {tree["fate"] for tree in found["trees"]} == {"copy"}
    assert found["software_configs"] == 12

    with create_engine(source).begin() as heat:
        heat.execute(text("UPDATE resource_properties_data SET data = replace(data, 'gAAA', 'gBBB')"))
    other = command(*given, "--project", "another")
    assert (other.exit_code, "46 trees" in other.output) == (0, False)
    assert "46 trees of stacks (68 stacks, 145 resources): already here before" in command(*given).output

    exported = command(*export)
    assert exported.exit_code == 3, exported.output
    assert "asg (OS::Heat::AutoScalingGroup): Heat adopts no resources of this type" in exported.output
    assert "cannot be adopted: never: it was not created" in exported.output
    written = {path.name: json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()}
    environments = [found for name, found in written.items() if name.endswith(".environment.json")]
    assert len(written) == 46 + len(environments)
    assert {"resource_registry": {"My::Value": "OS::Heat::Value", "My::Chain": "My::Value"}} in environments
    groups = [each["resources"]["asg"] for each in written.values() if "asg" in each.get("resources", {})]
    assert len(groups) == 3
    assert all(entry["resource_id"] for group in groups for entry in group["resources"].values())


def test_unreadable_lists_are_reported(command: Command, tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    create_engine(f"sqlite:///{empty}").connect().close()
    for arguments, words in {
        ("--from", "nonsense"): "this is not the URL of a database",
        ("--from", f"sqlite:///{empty}"): "this is not the database of a Heat",
        (): "Give either --from or --export",
        ("--export", "x", "--plan"): "--export can be combined with",
    }.items():
        refused = command(*arguments)
        assert refused.exit_code != 0
        assert words in refused.output

    wrong = command("--from", heat_database.make(tmp_path / "heat.db", "project"), "--plan")
    assert wrong.exit_code == 3
    assert "a value is encrypted with another key than the given ones" in wrong.output


@pytest.mark.parametrize("url", ["db", "nosql://db/heat"])
def test_an_invalid_database_url_is_refused_with_an_example(url: str, command: Command) -> None:
    refused = command("--from", url, "--plan")
    assert refused.exit_code == 1
    assert "--from: this is not the URL of a database, such as mysql+pymysql://" in refused.output


def test_a_file_that_does_not_exist_is_not_created(command: Command, tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    refused = command("--from", f"sqlite:///{missing}", "--plan")
    assert refused.exit_code == 1
    assert f"--from: the database sqlite:///{missing} cannot be read: unable to open database file" in refused.output
    assert not missing.exists()
