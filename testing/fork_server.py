"""`python -m testing.fork_server DESCRIPTOR`: forks a program for each order that comes over a Unix socket.

What a program would import first is here already, which is most of what its start takes. An order is a message with a
JSON object and four file descriptors: the program's standard input, output and error stream, and a pipe. The object has
`program`, a function as `module:name`, or a module that runs as with `python -m`; `imports`, modules to import before
the fork, and to keep; `arguments`, those of the command line, its name first; `environment`; and `directory`. Two lines
come back over the pipe: the ID of the process, and, when it has ended, its status as `Popen` has it.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from importlib import import_module
from runpy import run_module
from typing import Any

LONGEST_ORDER = 200_000
"""Bytes of a message; what a Unix socket takes at once is a little more."""


def become(order: dict[str, Any], streams: Sequence[int]) -> None:
    """Make this process what a shell would have started."""
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["directory"])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = order["arguments"]
    if os.path.isabs(sys.argv[0]):  # noqa: PTH117  a script, not a module
        sys.path[0] = os.path.dirname(sys.argv[0])  # noqa: PTH120
    sys.path[1:1] = filter(None, order["environment"].get("PYTHONPATH", "").split(os.pathsep))


def execute(program: str) -> None:
    """Run a function `module:name`, or a module as with `python -m`, though it has been imported by its name."""
    module, _, name = program.partition(":")
    if name:
        getattr(import_module(module), name)()
    else:
        sys.modules.pop(module, None)
        run_module(module, run_name="__main__", alter_sys=True)


def status_of(program: str) -> int:
    """Run the program, and return what the interpreter would exit with."""
    try:
        execute(program)
    except SystemExit as ending:
        if ending.code is None or isinstance(ending.code, int):
            return ending.code or 0
        print(ending.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run(order: dict[str, Any], streams: Sequence[int]) -> None:
    """Run the program in this process; does not return."""
    status = 1
    try:
        become(order, streams)
        status = status_of(order["program"])
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the end of an interpreter does
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def keep(order: dict[str, Any], streams: Sequence[int], report: int) -> None:
    """Fork the program, and report it and its end; nothing else holds its streams. Does not return."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    program = os.fork()
    if program == 0:
        os.close(report)
        run(order, streams)
    for stream in (0, 1, 2, *streams):
        os.close(stream)
    os.write(report, b"%d\n" % program)
    os.write(report, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(program, 0)[1]))
    os._exit(0)


def serve(orders: socket.socket) -> None:
    """Fork programs until the other end of the socket is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(orders, LONGEST_ORDER, 4)
        if not message:
            return
        order = json.loads(message)
        if new := [name for name in order["imports"] if name not in sys.modules]:
            for name in new:
                import_module(name)
            gc.collect()
            gc.freeze()
        if os.fork() == 0:
            orders.close()
            keep(order, descriptors[:3], descriptors[3])
        for descriptor in descriptors:
            os.close(descriptor)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
