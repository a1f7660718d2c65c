"""The `openstack` commands for stacks, as a user types them: `commands.yaml` has them in their order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.realcloud.lab import Account
from tools.realcloud.operators.installation import PROGRAMS
from tools.realcloud.operators.place import Place
from tools.realcloud.operators.rows import FAILED, PASSED, Row

COMMANDS = Path(__file__).with_name("commands.yaml")


def rows(place: Place) -> Iterator[Row]:
    """Run each command, and compare its output with what is expected."""
    home = place.home / "commands"
    home.mkdir(exist_ok=True)
    document = yaml.safe_load(COMMANDS.read_text(encoding="utf-8"))
    for name, text in document["files"].items():
        (home / name).write_text(text, encoding="utf-8")
    for step in document["commands"]:
        yield _row(place.lab.accounts[step.get("account", "operator")], home, step)


def environment(account: Account) -> dict[str, str]:
    """Return the variables of an openrc file, and no others that name a cloud."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    variables = {f"OS_{name.upper()}": value for name, value in account.auth.items()}
    version = {"OS_IDENTITY_API_VERSION": "3", "OS_REGION_NAME": account.region}
    return {**kept, **variables, **version, "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}


def _row(account: Account, home: Path, step: Mapping[str, Any]) -> Row:
    command = step["run"]
    done = subprocess.run(
        shlex.split(command),
        check=False,
        cwd=home,
        env=environment(account),
        capture_output=True,
        text=True,
        timeout=300,
    )
    output = done.stdout + done.stderr
    if (done.returncode == 0) is not step.get("succeeds", True):
        return Row(command, FAILED, f"status {done.returncode}: {output[-600:]}")
    missing = [pattern for pattern in step.get("shows", []) if not re.search(pattern, output)]
    if missing:
        return Row(command, FAILED, f"does not show {', '.join(missing)}: {output[-600:]}")
    return Row(command, PASSED)
