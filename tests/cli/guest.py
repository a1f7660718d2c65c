"""Plays a server's operating system: it runs OpenStack's own agents, as published, in a directory of its own.

os-collect-config fetches the metadata, heat-agents apply the configurations and signal the results. A guest knows
what its server was booted with, and nothing else.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NO_METADATA_SERVICE = "http://127.0.0.1:9/"
"""Nobody listens there: the machine of the tests is no server of the emulated cloud."""

_APPLY = """
import json, os, subprocess, sys
deployments = []
for path in os.environ["OS_CONFIG_FILES"].split(":"):
    with open(path) as file:
        deployments = json.load(file).get("deployments") or deployments
with open(os.environ["HEAT_SHELL_CONFIG"], "w") as file:
    json.dump(deployments, file)
sys.exit(subprocess.run([sys.executable, os.environ["GUEST_CONFIGURE"]]).returncode)
"""
"""What os-refresh-config has the images do: hand the deployments to heat-config."""


@dataclass(frozen=True)
class Programs:
    """`bin` has the programs of the packages, `agents` the scripts of heat-agents."""

    bin: Path
    agents: Path


class Guest:
    """`metadata` are those that the server was booted with."""

    def __init__(self, root: Path, programs: Programs, metadata: Mapping[str, Any]) -> None:
        self._root, self._programs = root, programs
        self._hooks, self._command = root / "hooks", root / "refresh"
        for directory in (root, self._hooks, root / "cache", root / "backup"):
            directory.mkdir(exist_ok=True)
        hook = self._hooks / "script"
        hook.write_bytes((programs.agents / "heat-config-script/install.d/hook-script.py").read_bytes())
        notify = root / "heat-config-notify"
        notify.write_bytes((programs.agents / "heat-config/bin/heat-config-notify").read_bytes())
        self._command.write_text(f"#!{programs.bin / 'python'}\n{_APPLY}")
        for program in (hook, notify, self._command):
            program.chmod(0o755)
        self._configure(metadata["os-collect-config"])

    def _configure(self, agent: Mapping[str, Any]) -> None:
        """Write os-collect-config's own configuration, from the part of the metadata that is meant for that."""
        sections: dict[str, Mapping[str, Any]] = {
            "DEFAULT": {
                "command": self._command,
                "cachedir": self._root / "cache",
                "backup_cachedir": self._root / "backup",
            },
            "ec2": {"metadata_url": _NO_METADATA_SERVICE, "timeout": 1},
            "local": {"path": self._root / "local"},
        }
        for collector in agent["collectors"]:
            if isinstance(agent.get(collector), Mapping):
                sections[collector] = agent[collector]
        lines = [f"collectors = {collector}" for collector in agent["collectors"]]
        for name, section in sections.items():
            start = [] if name == "DEFAULT" else [f"[{name}]"]
            lines += [*start, *(f"{key} = {value}" for key, value in section.items() if value is not None)]
        (self._root / "os-collect-config.conf").write_text("\n".join(["[DEFAULT]", *lines, ""]))

    def collect(self) -> str:
        """Fetch the metadata once, apply what is new, and signal; answers the log."""
        variables = {
            "PATH": f"{self._programs.bin}:{os.environ['PATH']}",
            "HOME": str(self._root),
            "LC_ALL": "C",
            "GUEST_CONFIGURE": str(self._programs.agents / "heat-config/os-refresh-config/configure.d/55-heat-config"),
            "HEAT_CONFIG_HOOKS": str(self._hooks),
            "HEAT_SHELL_CONFIG": str(self._root / "heat-config"),
            "HEAT_CONFIG_DEPLOYED": str(self._root / "deployed"),
            "HEAT_CONFIG_NOTIFY": str(self._root / "heat-config-notify"),
            "HEAT_SCRIPT_WORKING": str(self._root / "working"),
            "HEAT_SCRIPT_OUTPUTS": str(self._root / "outputs"),
        }
        program, configuration = self._programs.bin / "os-collect-config", self._root / "os-collect-config.conf"
        done = subprocess.run(
            [program, "--one-time", "--force", "--config-file", configuration],
            env=variables,
            cwd=self._root,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stdout + done.stderr
