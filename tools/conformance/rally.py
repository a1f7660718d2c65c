"""Run Rally's scenarios for stacks against an embedded Stoker, and say how each of them ended.

    python -m tools.conformance.rally

Rally is installed into `.venv-conformance/rally`; everything else happens in a temporary directory. The exit status is
0 when every scenario has passed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tools.conformance.installed import HERE, installed
from tools.conformance.place import Place, embedded
from tools.conformance.report import Result, show, show_passed

_TASK = HERE / "rally" / "task.yaml"
_POLLED = ("create", "update", "delete", "check", "suspend", "resume", "snapshot", "restore", "scale")
_SOME_FAILED = 2
"""Rally's exit status for a task that has run to its end, with failures."""


def main() -> int:
    programs = installed("rally")
    with tempfile.TemporaryDirectory(prefix="stoker-conformance-") as directory:
        home = Path(directory).resolve()
        with embedded(home) as place:
            print("Rally runs its scenarios; that takes about two minutes …", file=sys.stderr)
            report = run(programs, place, home)
    found = list(results(report))
    show_passed(found)
    return show(found)


def run(programs: Path, place: Place, home: Path) -> dict[str, Any]:
    """Run the task, and answer Rally's report of it. Raises subprocess.CalledProcessError when there is none."""
    settings, cloud, report = home / "rally.conf", home / "cloud.json", home / "report.json"
    settings.write_text(_configuration(home))
    cloud.write_text(json.dumps(_specification(place)))
    command = [str(programs / "rally"), "--config-file", str(settings)]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8"}

    def rally(*arguments: str, accepted: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run([*command, *arguments], check=False, capture_output=True, text=True, env=environment)
        if done.returncode not in accepted:
            print(done.stdout, done.stderr, file=sys.stderr)
            done.check_returncode()
        return done.stdout

    rally("db", "create")
    rally("env", "create", "--name", "stoker", "--spec", str(cloud))
    here = json.dumps({"here": str(_TASK.parent)})
    rally("task", "start", "--env", "stoker", "--task-args", here, str(_TASK), accepted=(0, _SOME_FAILED))
    [task] = rally("task", "list", "--env", "stoker", "--uuids-only").split()
    rally("task", "report", task, "--json", "--out", str(report))
    read: dict[str, Any] = json.loads(report.read_text())
    return read


def results(report: dict[str, Any]) -> Iterator[Result]:
    """How each scenario ended, from Rally's JSON report."""
    for task in report["tasks"]:
        for subtask in task["subtasks"]:
            for workload in subtask["workloads"]:
                [scenario] = workload["scenario"]
                reason = "\n".join(_failures(workload))
                yield Result(scenario, "fail" if reason else "success", reason)


def _failures(workload: dict[str, Any]) -> Iterator[str]:
    for criterion in workload["sla_results"]["sla"]:
        if not criterion["success"]:
            yield criterion["detail"]
    for context in workload["contexts_results"]:
        for part in ("setup", "cleanup"):
            if error := context[part]["error"]:
                yield f"{context['plugin_name']}, {part}: {error}"
    for iteration in workload["data"]:
        if error := iteration["error"]:
            yield f"{error[0]}: {error[1]}"


def _configuration(home: Path) -> str:
    """Rally's settings: a database of its own, and a look at each stack five times a second."""
    polls = "".join(f"heat_stack_{action}_poll_interval = 0.2\n" for action in _POLLED)
    delays = "".join(f"heat_stack_{action}_prepoll_delay = 0\n" for action in ("create", "update"))
    return f"[database]\nconnection = sqlite:///{home / 'rally.sqlite'}\n[openstack]\n{polls}{delays}"


def _specification(place: Place) -> dict[str, Any]:
    """The cloud as Rally wants it described, from the administrator's entry in `clouds.yaml`."""
    cloud = yaml.safe_load(place.clouds.read_text())["clouds"]["stoker-admin"]
    administrator = {name: value for name, value in cloud["auth"].items() if name != "auth_url"}
    platform = {"auth_url": cloud["auth"]["auth_url"], "region_name": cloud["region_name"], "admin": administrator}
    return {"existing@openstack": platform}


if __name__ == "__main__":
    sys.exit(main())
