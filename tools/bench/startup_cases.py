"""What starting costs: commands that work without a server, and an embedded Stoker until its first answer.

Processor time is the measure, the least of several runs. The byte code of all modules is there, as pip leaves it: it is
kept in a directory of the benchmark's own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

RUNS = 5
_STOKER = str(Path(sys.executable).with_name("stoker"))
_TEMPLATE = """\
heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net}
  server:
    type: OS::Nova::Server
    properties: {flavor: m1.small, image: cirros, networks: [{network: {get_resource: net}}]}
"""


def measure(runs: int = RUNS) -> list[dict[str, Any]]:
    """Return the records of all cases."""
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as name:
        folder = Path(name)
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        return [*_commands(folder, environment, runs), *_up(folder, environment, runs)]


def _commands(folder: Path, environment: Mapping[str, str], runs: int) -> Iterator[dict[str, Any]]:
    for name in ("one.yaml", "two.yaml"):
        (folder / name).write_text(_TEMPLATE)
    words = {"COMP_WORDS": "stoker deploy --", "COMP_CWORD": "2", "_STOKER_COMPLETE": "bash_complete"}
    cases: dict[str, tuple[list[str], Mapping[str, str]]] = {
        "--help": (["--help"], {}),
        "--version": (["--version"], {}),
        "completion": ([], words),
        "lint of two files": (["lint", "one.yaml", "two.yaml"], {}),
    }
    for phase, (arguments, more) in cases.items():
        seconds = [_run(arguments, {**environment, **more}, folder) for _ in range(runs + 1)][1:]
        yield _record(phase, min(seconds))


def _up(folder: Path, environment: Mapping[str, str], runs: int) -> Iterator[dict[str, Any]]:
    """Yield the records of `stoker up` on a new directory, and on one with a database."""
    new, again = [], []
    for number in range(runs):
        data = str(folder / f"data-{number}")
        ports = ["--api-port", "0", "--cfn-port", "0", "--cloud-port", "0"]
        new.append(_start(["up", "--detach", "--data-dir", data, *ports], data, environment))
        again.append(_start(["up", "--detach", "--data-dir", data], data, environment))
    for phase, found in (("up, new directory", new[1:]), ("up", again[1:])):
        best = min(found, key=lambda one: float(one["seconds"]))
        memory = {program: int(best[program]) for program in ("engine", "cloud")}
        record = _record(phase, best["seconds"])
        yield {**record, "rss_max_mb": memory, "note": f"emulated cloud: {memory['cloud']} MB"}


def _start(arguments: list[str], data: str, environment: Mapping[str, str]) -> dict[str, float]:
    """Start a Stoker, send the first request, and return the processor time and the memory of its processes."""
    seconds = _run(arguments, environment)
    try:
        set_up = json.loads((Path(data) / "endpoints.json").read_text())
        with urllib.request.urlopen(set_up["rest"].removesuffix("/v1") + "/healthcheck") as answer:
            assert answer.status == 200
        found = {program: _memory(pid) for program, pid in set_up["pids"].items()}
        return {"seconds": seconds + sum(map(_processor_time, set_up["pids"].values())), **found}
    finally:
        _run(["down", "--data-dir", data], environment)


def _run(arguments: list[str], environment: Mapping[str, str], folder: Path | None = None) -> float:
    """Run a command, and return its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([_STOKER, *arguments], env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _processor_time(pid: int) -> float:
    """Return the seconds of user and system time of a process (proc(5), fields 14 and 15 of `stat`)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))


def _memory(pid: int) -> int:
    """Return the resident memory of a process in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS"))


def _record(phase: str, seconds: float) -> dict[str, Any]:
    return {"case": "startup", "phase": phase, "n": 1, "wall_s": round(seconds, 2), "cpu_total_s": round(seconds, 2)}
