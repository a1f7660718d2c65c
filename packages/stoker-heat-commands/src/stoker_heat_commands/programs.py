"""`heat-engine`, `heat-api`, `heat-api-cfn` and `heat-all`, with oslo.config's options (`--config-file` …).

`heat-all` only watches the others. What it does not need is imported by the programs that do.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from stoker_foundation.interpreter import python_command, python_environment
from stoker_foundation.program import importing
from stoker_heat_commands.environment import require_no_heat

if TYPE_CHECKING:
    from oslo_config import cfg

Serve = Callable[["cfg.ConfigOpts"], Coroutine[Any, Any, None]]

_POLL_SECONDS = 0.2
_STOP_SECONDS = 60


def engine() -> None:
    """Run an engine until SIGTERM."""
    with importing():
        from stoker.processes.engine import serve

    _run("heat-engine", serve)


def api() -> None:
    """Serve the Orchestration API until SIGTERM."""
    with importing():
        from stoker.processes.api_processes import serve

    _run("heat-api", serve)


def api_cfn() -> None:
    """Serve the CloudFormation interface until SIGTERM."""
    with importing():
        from stoker.processes.api_processes import serve_cfn

    _run("heat-api-cfn", serve_cfn)


PROGRAMS: Mapping[str, Callable[[], None]] = {"heat-engine": engine, "heat-api": api, "heat-api-cfn": api_cfn}


def everything() -> None:
    """Run all of these programs as processes of their own, until SIGTERM or until one of them ends.

    The options are passed on to each. The exit status is that of the first program that failed, or 0.
    """
    require_no_heat()
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    arguments = sys.argv[1:]
    children = [
        subprocess.Popen(  # noqa: S603  this interpreter and Stoker's modules
            python_command("-m", "stoker_heat_commands.programs", name, *arguments), env=python_environment()
        )
        for name in PROGRAMS
    ]
    while not stopped.wait(_POLL_SECONDS) and all(child.poll() is None for child in children):
        pass
    statuses = _ended(children)
    sys.exit(next((status for status in statuses if status), 0))


def _ended(children: Sequence[subprocess.Popen[bytes]]) -> list[int]:
    """Terminate the processes, and return their exit statuses, those that had ended by themselves first.

    The status of a process that SIGTERM ends before it handles the signal is 0.
    """
    children = sorted(children, key=lambda child: child.poll() is None)
    for child in children:
        child.terminate()
    for child in children:
        try:
            child.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
    return [0 if child.wait() == -signal.SIGTERM else child.returncode for child in children]


def _run(name: str, serve: Serve) -> None:
    from stoker.processes.lifetime import cluster_config, run

    require_no_heat()
    run(partial(cluster_config, (), sys.argv[1:], name), serve)


def main() -> None:
    """Run the program that the first argument names (`python -m stoker_heat_commands.programs heat-engine …`)."""
    name = sys.argv.pop(1)
    sys.argv[0] = name
    PROGRAMS[name]()


if __name__ == "__main__":
    main()
