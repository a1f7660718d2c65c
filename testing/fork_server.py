"""`python -m testing.fork_server DESCRIPTOR LISTENING`: forks a program for each order that comes over a Unix socket.

What a program would import first is here already, which is most of what its start takes. Modules and plug-ins are found
in the server's PYTHONPATH, which is that of all programs which are forked from it. An order is a message with a
JSON object and four file descriptors: the program's standard input, output and error stream, and a pipe. The object has
`program`, a function as `module:name`, or a module that runs as with `python -m`; `imports`, modules to import before
the fork, and to keep; `arguments`, those of the command line, its name first; `environment`; and `directory`. Two lines
come back over the pipe: the ID of the process, and, when it has ended, its status as `Popen` has it.

Orders come over the socket DESCRIPTOR, until its other end is closed, and one over each connection to the socket
LISTENING, which is for `testing/forked_commands.py`.

More of an order is for programs that a forked program starts (`testing/forked_children.py`): `descriptors`, numbers in
the new program for the files that follow the first four; `umask`; and `session`, whether it leads a session of its own.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from runpy import run_module
from typing import Any

from testing.forked_children import Popen
from testing.forked_program import LONGEST_ORDER

MOST_FILES = 16
"""Files of an order."""

_ABOVE = 400
"""Numbers of open files from here on are none that a program has chosen for files of its children."""


def become(order: dict[str, Any], files: Sequence[int]) -> None:
    """Make this process what a shell, or the program that starts it, would have started."""
    if order["session"]:
        os.setsid()
    if order["umask"] >= 0:
        os.umask(order["umask"])
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may run under nohup
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["directory"])
    for number, file in zip((0, 1, 2, *order["descriptors"]), [_moved(file) for file in files], strict=True):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = order["arguments"]
    if os.path.isabs(sys.argv[0]):  # noqa: PTH117  a script, not a module
        sys.path[0] = os.path.dirname(sys.argv[0])  # noqa: PTH120


def _moved(file: int) -> int:
    """The same open file under a high number, so that no other one is replaced when it gets its own."""
    high = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    os.close(file)
    return high


def execute(program: str) -> None:
    """Run a function `module:name` as scripts of packages do, or a module, imported or not, as with `python -m`."""
    module, _, name = program.partition(":")
    if name:
        sys.exit(getattr(import_module(module), name)())
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


def run(order: dict[str, Any], files: Sequence[int]) -> None:
    """Run the program in this process; does not return."""
    status = 1
    try:
        become(order, files)
        status = status_of(order["program"])
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the end of an interpreter does
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def keep(order: dict[str, Any], files: Sequence[int], report: int) -> None:
    """Fork the program, and report it and its end; nothing else holds its files. Does not return."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    program = os.fork()
    if program == 0:
        os.close(report)
        run(order, files)
    for file in (0, 1, 2, *files):
        os.close(file)
    with suppress(BrokenPipeError):  # nobody waits for what outlives the program that started it
        os.write(report, b"%d\n" % program)
        os.write(report, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(program, 0)[1]))
    os._exit(0)


def _received(ready: socket.socket, listening: socket.socket) -> tuple[bytes, list[int]]:
    """An order with its files; an empty one if the other end has been closed."""
    if ready is listening:
        with ready.accept()[0] as connection:
            return _received(connection, listening)
    message, files, _, _ = socket.recv_fds(ready, LONGEST_ORDER, MOST_FILES)
    return message, files


def serve(orders: socket.socket, listening: socket.socket) -> None:
    """Fork programs until the other end of the socket is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    Popen.orders = socket.socket(fileno=_moved(theirs.detach()))
    Popen.path = os.environ.get("PYTHONPATH", "")
    subprocess.Popen = Popen  # type: ignore[misc]
    while True:
        for ready in select.select([orders, ours, listening], [], [])[0]:
            message, files = _received(ready, listening)
            if not message and ready is listening:
                continue
            if not message:
                return
            order = json.loads(message)
            _import(order["imports"])
            if os.fork() == 0:
                orders.close()
                ours.close()
                listening.close()
                keep(order, [*files[:3], *files[4:]], files[3])
            for file in files:
                os.close(file)


def _import(names: Sequence[str]) -> None:
    if new := [name for name in names if name not in sys.modules]:
        for name in new:
            with suppress(Exception):  # the program reports it
                import_module(name)
        gc.collect()
        gc.freeze()


if __name__ == "__main__":
    serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:]))
