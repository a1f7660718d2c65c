"""A user at a desk with template files and the `stoker` command, and no server anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

from click.testing import CliRunner, Result

from stoker.cli.main import cli


class WorkingDirectory:
    """Files below one folder, which is the working directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> str:
        """Put a file there; answers its name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"))
        return name

    def read(self, name: str) -> str:
        """A file's text."""
        return (self.folder / name).read_text()

    def stoker(self, *words: str, given: str | None = None, environment: Mapping[str, str] | None = None) -> Result:
        """Run the command with these words; only SystemExit may come out of it."""
        result = CliRunner(env=dict(environment or {})).invoke(cli, words, input=given, prog_name="stoker")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def problems(self, *words: str) -> list[tuple[str, str, int | None]]:
        """What `stoker lint` says: rule, source and line of each problem."""
        answer = json.loads(self.stoker("lint", "--format", "json", *words).stdout)
        return [
            (item["rule"], item["source"], item["position"]["line"] if item["position"] else None)
            for item in answer["diagnostics"]
        ]


def diagnostics(result: Result) -> list[dict[str, Any]]:
    """The problems of a `stoker lint --format json`."""
    found: list[dict[str, Any]] = json.loads(result.stdout)["diagnostics"]
    return found
